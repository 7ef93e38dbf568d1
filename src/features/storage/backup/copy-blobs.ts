import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import type { Digest } from "../../../blobs/digest.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { FIRST_BYTES, isInBucket, listNamed, listStored, namesOf, newTotals } from "./contents.ts";
import { isShared } from "./plan.ts";
import { BlobCopier } from "./blob-copier.ts";
import type { BackupBlob, CopyProgress, CopyTotals } from "./types.ts";

/** Dependencies of {@link copyBlobs}. */
interface CopyBlobsOptions {
  /** The database whose blobs are copied. */
  readonly sqlite: Database;
  readonly source: Layout;
  readonly target: Layout;
  /** Whether hard links replace copies if both stores are on one file system. */
  readonly mayLink: boolean;
  /** Fetches a blob from the bucket to the source's disk. @returns whether it is on this disk now */
  readonly fetchContent?: ((digest: Digest) => Promise<boolean>) | undefined;
  readonly onProgress: (progress: CopyProgress) => void;
}

/**
 * Copies all blobs that a database names and the target does not have. Existing blobs are found by name and size,
 * because a blob gets its name only when it is whole and durable. A truncated one is moved to quarantine and copied
 * again. A hard link to the source's file is replaced by a copy, unless links are allowed. Durable on return.
 * @throws the system's error if the target fails; copied blobs stay
 */
export async function copyBlobs(options: CopyBlobsOptions): Promise<CopyTotals> {
  const { sqlite, source, target, mayLink, onProgress } = options;
  const totals = newTotals(sqlite);
  const { contents: ofContents, bytes: ofBytes } = totals;
  const at = { contents: 0, bytes: 0 };
  const report = () => onProgress({ ...at, ofContents, ofBytes, newBytes: totals.newBytes });
  const onBytes = (bytes: number) => {
    at.bytes += bytes;
    totals.newBytes += bytes;
    report();
  };
  const blobCopier = new BlobCopier({ source, target, mayLink, onBytes });
  const update = async (content: BackupBlob, isStored: boolean): Promise<void> => {
    if (!isStored || !hasLength(content, target)) await copyBlob(content, blobCopier, options, totals);
    else if (mayLink || !isShared(content, source, target)) {
      totals.already++;
      at.bytes += content.sizeBytes;
    } else if (await copyBlob(content, blobCopier, options, totals)) totals.unshared++;
    at.contents++;
  };
  try {
    for (const firstByte of FIRST_BYTES) {
      const named = listNamed(sqlite, firstByte);
      if (named.length === 0) continue;
      const stored = listStored(target, firstByte);
      for (const content of named) await update(content, stored.has(content.digest));
      report();
    }
    blobCopier.finish();
    return totals;
  } catch (error) {
    blobCopier.abandon();
    throw error;
  }
}

/** Whether a stored blob has all its bytes. Moves a truncated one to quarantine. */
function hasLength({ digest, sizeBytes }: BackupBlob, store: Layout): boolean {
  const path = store.blob(digest);
  const found = fs.lstatSync(path);
  if (found.isFile() && found.size === sizeBytes) return true;
  fs.renameSync(path, store.damaged(digest));
  return false;
}

/** @returns whether the target has it now */
async function copyBlob(
  content: BackupBlob,
  blobCopier: BlobCopier,
  { sqlite, fetchContent }: CopyBlobsOptions,
  totals: CopyTotals,
): Promise<boolean> {
  let result = blobCopier.copy(content);
  if (result === "missing" && (await fetchContent?.(content.digest)) === true) result = blobCopier.copy(content);
  if (result === "linked" || result === "cloned" || result === "copied") {
    totals[result]++;
    return true;
  }
  const { digest, sizeBytes } = content;
  if (result === "missing" && isInBucket(sqlite, digest)) totals.elsewhere++;
  else totals.lost.push({ digest, sizeBytes, why: result, names: namesOf(sqlite, digest) });
  return false;
}
