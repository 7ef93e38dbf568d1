/**
 * Encrypts the secrets of authenticator apps for the database: AES-256-GCM with a key that the server stores outside
 * the database. The account is bound in, so that a row moved to another account can't be decrypted.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @returns nonce, tag and ciphertext */
export function sealSecret(key: Uint8Array, userId: number, secret: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(bindTo(userId));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** The secret; undefined if it was encrypted with another key or for another account, or is damaged. */
export function openSecret(key: Uint8Array, userId: number, sealed: Uint8Array): Uint8Array | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  if (tag.length < TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(bindTo(userId)).setAuthTag(tag);
    const opened = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]);
  } catch {
    return undefined; // a tag that does not match means undefined
  }
}

function bindTo(userId: number): Buffer {
  return Buffer.from(`two-factor:${userId}`);
}
