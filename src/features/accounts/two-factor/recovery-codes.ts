/** Recovery codes replace the authenticator app when it is lost: 80 random bits each, stored as sha256, valid once. */
import { timingSafeEqual } from "node:crypto";
import { hashToken } from "../auth/token-hash.ts";

/** How many codes an account gets at a time. */
export const RECOVERY_CODES = 10;

/** Crockford's alphabet: no letters that look like digits or like each other. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CHARACTERS = 16;

/** A new code, in groups of four characters. */
export function newRecoveryCode(): string {
  const characters = Array.from(crypto.getRandomValues(new Uint8Array(CHARACTERS)), (byte) =>
    ALPHABET.charAt(byte & 31),
  );
  return characters.join("").replace(/(.{4})(?!$)/g, "$1-");
}

/** The stored hash of a code. Case, spaces and dashes are ignored. */
export function hashRecoveryCode(code: string): Buffer {
  return hashToken(code.toLowerCase().replaceAll(/[\s-]/g, ""));
}

/** The stored hash that matches a code. All are compared, in constant time. */
export function findRecoveryCode(code: string, hashes: readonly Uint8Array[]): Uint8Array | undefined {
  const givenHash = hashRecoveryCode(code);
  let found: Uint8Array | undefined;
  for (const hash of hashes) {
    if (timingSafeEqual(hash, givenHash)) found = hash;
  }
  return found;
}
