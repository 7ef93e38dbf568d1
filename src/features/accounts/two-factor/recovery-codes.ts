/** Codes for the day when the authenticator app is gone: 80 random bits each, kept as sha256, good once. */
import { timingSafeEqual } from "node:crypto";
import { hashToken } from "../auth/token-hash.ts";

/** An account gets this many at once. */
export const RECOVERY_CODES = 10;

/** Crockford's: no letters that are taken for digits, or for each other. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CHARACTERS = 16;

/** A new code, in groups of four as people write them down. */
export function newRecoveryCode(): string {
  const characters = Array.from(crypto.getRandomValues(new Uint8Array(CHARACTERS)), (byte) =>
    ALPHABET.charAt(byte & 31),
  );
  return characters.join("").replace(/(.{4})(?!$)/g, "$1-");
}

/** What is stored of a code. However it was typed: case, spaces and dashes don't count. */
export function hashRecoveryCode(code: string): Buffer {
  return hashToken(code.toLowerCase().replaceAll(/[\s-]/g, ""));
}

/** The one of the stored hashes that belongs to a code. All are compared, in constant time. */
export function findRecoveryCode(code: string, hashes: readonly Uint8Array[]): Uint8Array | undefined {
  const givenHash = hashRecoveryCode(code);
  let found: Uint8Array | undefined;
  for (const hash of hashes) {
    if (timingSafeEqual(hash, givenHash)) found = hash;
  }
  return found;
}
