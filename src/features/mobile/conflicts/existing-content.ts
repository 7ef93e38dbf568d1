/** Contents that an account holds already: a file can be made of them without a byte being sent. */
import type { BlobRef } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";

/** A content that can be named anew. */
export interface ExistingContent {
  /** Public id of a file that has it. */
  readonly fileId: string;
  readonly blob: BlobRef;
  readonly mediaType: string;
}

/**
 * The content with this digest, if a file of this very account has it and it is believed to be whole. What others hold
 * is never told, and a damaged content is better sent again.
 * @param sizeBytes where given, the content must have this size
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

/** Whether the server read this content again and found other bytes, or none. */
export function isDamaged(tree: Pick<TreeReader, "findBlob">, digest: Digest): boolean {
  return (tree.findBlob(digest)?.damagedAtMs ?? null) !== null;
}

/** Says in a refusal for the quota which plan it comes from; any other error is given back as it is. */
export function withPlan(error: AppError, plan: string): AppError {
  if (error.reason !== "quota_exceeded") return error;
  return new AppError(error.reason, error.message, { ...error.details, plan });
}
