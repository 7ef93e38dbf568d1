import type { LocalChange } from "./types.ts";

/**
 * What makes a change this very one: 32 bytes, the same for the same change of the same local file, whenever it is
 * sent. Where the device stood in the journal is no part of it: a repetition may come with a later token. What a backup
 * offers is another wish than what a person does, and is decided by other rules.
 */
export function fingerprintOf(change: LocalChange): Uint8Array {
  const { action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified } = change;
  const parts = [action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified];
  return digestOf(change.isAutomatic === true ? [...parts, "automatic"] : parts);
}

/**
 * What makes a deletion or replacement the one that a person was asked about: the file, what it was and what it would
 * be. Whatever the device calls it and however it asks, the decision is the same.
 */
export function subjectOf({ action, localId, fileId, digest, baseDigest }: LocalChange): Uint8Array {
  const kind = action === "delete" ? "delete" : "replace";
  return digestOf([kind, fileId ?? localId, digest, baseDigest]);
}

function digestOf(parts: readonly unknown[]): Uint8Array {
  // `undefined` becomes null within an array: an absent field has its place too.
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest();
}
