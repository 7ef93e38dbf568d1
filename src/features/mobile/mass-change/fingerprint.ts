import type { LocalChange } from "./types.ts";

/**
 * Identifies a change, in 32 bytes: a repeated change of the same local file has the same fingerprint. The device's
 * position in the journal is left out, because a repetition may have a later sync token. A change of an automatic
 * backup differs from the same change by a person, because other rules apply to it.
 */
export function fingerprintOf(change: LocalChange): Uint8Array {
  const { action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified } = change;
  const parts = [action, localId, fileId, name, folder, sizeBytes, digest, baseDigest, lastModified];
  return digestOf(change.isAutomatic === true ? [...parts, "automatic"] : parts);
}

/**
 * Identifies what a person decides about a deletion or replacement: the file, its content, and its new content. The
 * decision applies to any later change with the same subject, even if the device uses another local id or action.
 */
export function subjectOf({ action, localId, fileId, digest, baseDigest }: LocalChange): Uint8Array {
  const kind = action === "delete" ? "delete" : "replace";
  return digestOf([kind, fileId ?? localId, digest, baseDigest]);
}

function digestOf(parts: readonly unknown[]): Uint8Array {
  // In an array, `undefined` becomes null: the position of each field stays fixed.
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest();
}
