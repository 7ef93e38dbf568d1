import type { LocalChange } from "./types.ts";

/**
 * What makes a change this very one: 32 bytes, the same for the same change of the same local file, whenever it is sent.
 * Where the device stood in the journal is no part of it: a repetition may come with a later token.
 */
export function fingerprintOf(change: LocalChange): Uint8Array {
  const { action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified } = change;
  const parts = [action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified];
  // `undefined` becomes null within an array: an absent field has its place too.
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest();
}
