/** Content that an account already has: a file with this content can be created without an upload. */
import type { BlobRef } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { TreeReader } from "../../../tree/reader.ts";

/** Content that can be used for another file. */
export interface ExistingContent {
  /** The public id of a file with this content. */
  readonly fileId: string;
  readonly blob: BlobRef;
  readonly mediaType: string;
}

/**
 * The content with this digest, if a file of the account has it and it is not known to be damaged. Other accounts are
 * not searched, so that a digest does not reveal their files.
 * @param sizeBytes if given, the content must have this size
 */
export function findExistingContent(
  tree: Pick<TreeReader, "findFileWithContent" | "findBlob">,
  accountId: number,
  digest: Digest,
  sizeBytes?: number,
): ExistingContent | undefined {
  const file = tree.findFileWithContent(accountId, digest);
  const blob = file && tree.findBlob(digest);
  if (file === undefined || blob === undefined || blob.damagedAtMs !== null) return undefined;
  if (sizeBytes !== undefined && sizeBytes !== blob.sizeBytes) return undefined;
  return {
    fileId: file.publicId,
    blob: { digest, sizeBytes: blob.sizeBytes, crc32: blob.crc32 },
    mediaType: file.mediaType,
  };
}

/** Whether the server has found this blob damaged or missing. */
export function isDamaged(tree: Pick<TreeReader, "findBlob">, digest: Digest): boolean {
  return (tree.findBlob(digest)?.damagedAtMs ?? null) !== null;
}
