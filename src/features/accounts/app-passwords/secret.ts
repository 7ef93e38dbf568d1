/**
 * The passwords themselves: 150 random bits, in groups that a person can type on a phone. The server stores only their
 * digest: see {@link hashToken}.
 */
import { hashToken } from "../auth/token-hash.ts";

/** Five bits each; without characters that look alike. */
const ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";
const GROUPS = 6;
const GROUP_CHARACTERS = 5;
const CHARACTERS = GROUPS * GROUP_CHARACTERS;
/** Characters that are read: no spelling of a password is longer. */
const SPELLING_MAX = 200;

/** A new password, such as `abcde-fghij-kmnpq-rstuv-wxyz2-34567`. */
export function newAppPassword(): string {
  const characters = Array.from(crypto.getRandomValues(new Uint8Array(CHARACTERS)), (byte) =>
    ALPHABET.charAt(byte & 31),
  );
  const groups = Array.from({ length: GROUPS }, (_, group) => {
    return characters.slice(group * GROUP_CHARACTERS, (group + 1) * GROUP_CHARACTERS).join("");
  });
  return groups.join("-");
}

/**
 * The stored form of a password. Spaces, dashes and case do not matter.
 * @returns undefined for text that can't be an app password
 */
export function hashAppPassword(given: string): Buffer | undefined {
  if (given.length > SPELLING_MAX) return undefined;
  const characters = given.replace(/[\s-]/g, "").toLowerCase();
  const isWhole =
    characters.length === CHARACTERS && [...characters].every((character) => ALPHABET.includes(character));
  return isWhole ? hashToken(`app:${characters}`) : undefined;
}
