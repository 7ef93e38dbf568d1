import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import type { Digest } from "../../../blobs/digest.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { countNamed, FIRST_BYTES, isInBucket, listNamed, listStored, namesOf } from "./contents.ts";
import { isShared } from "./plan.ts";
import { BlobCopier } from "./blob-copier.ts";
import type { Content, Progress, CopyTotals } from "./types.ts";

/** What {@link copyBlobs} works with. */
export interface CopyBlobsOptions {
  /** Names the contents. */
  readonly sqlite: Database;
  readonly source: Layout;
  readonly target: Layout;
  /** Whether a second name for the same bytes will do where both lie on one file system. */
  readonly mayLink: boolean;
  /** Brings a content to the source's disk that lies elsewhere (a bucket). @returns whether it is there now */
  readonly fetchContent?: ((digest: Digest) => Promise<boolean>) | undefined;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * Brings everything that a database names and the target has not from the source. What the target has is left as it is,
 * and found by name and length: nothing gets its name there before it is whole and on the disk. What its disk has cut
 * short since is set aside and copied again; what it shares with the source is replaced by a copy where links are not wanted.
 * Durable on return.
 * @throws the system's error where the target fails; what was brought until then stays
 */
export async function copyBlobs(options: CopyBlobsOptions): Promise<CopyTotals> {
  const { sqlite, source, target, mayLink, onProgress } = options;
  const { contents: ofContents, bytes: ofBytes } = countNamed(sqlite);
  const totals: CopyTotals = { contents: ofContents, bytes: ofBytes, ...NOTHING, lost: [] };
  const at = { contents: 0, bytes: 0 };
  const tell = () => onProgress({ ...at, ofContents, ofBytes, newBytes: totals.newBytes });
  const onBytes = (bytes: number) => {
    at.bytes += bytes;
    totals.newBytes += bytes;
    tell();
  };
  const blobCopier = new BlobCopier({ source, target, mayLink, onBytes });
  try {
    for (const firstByte of FIRST_BYTES) {
      const named = listNamed(sqlite, firstByte);
      if (named.length === 0) continue;
      const stored = listStored(target, firstByte);
      for (const content of named) {
        if (stored.has(content.digest) && hasLength(content, target)) {
          if (!mayLink && isShared(content, source, target)) {
            if (await copyBlob(content, blobCopier, options, totals)) totals.unshared++;
          } else {
            totals.already++;
            at.bytes += content.sizeBytes;
          }
        } else await copyBlob(content, blobCopier, options, totals);
        at.contents++;
      }
      tell();
    }
    blobCopier.finish();
    return totals;
  } catch (error) {
    blobCopier.abandon();
    throw error;
  }
}

/** Whether a content that lies in a store has all its bytes. One that has not is set aside. */
function hasLength({ digest, sizeBytes }: Content, store: Layout): boolean {
  const path = store.blob(digest);
  const found = fs.lstatSync(path);
  if (found.isFile() && found.size === sizeBytes) return true;
  fs.renameSync(path, store.damaged(digest));
  return false;
}

const NOTHING = { elsewhere: 0, already: 0, linked: 0, cloned: 0, copied: 0, unshared: 0, newBytes: 0 };

/** @returns whether the target has it now */
async function copyBlob(
  content: Content,
  blobCopier: BlobCopier,
  { sqlite, fetchContent }: CopyBlobsOptions,
  totals: CopyTotals,
): Promise<boolean> {
  let placed = blobCopier.place(content);
  if (placed === "missing" && (await fetchContent?.(content.digest)) === true) placed = blobCopier.place(content);
  if (placed === "linked" || placed === "cloned" || placed === "copied") {
    totals[placed]++;
    return true;
  }
  const { digest, sizeBytes } = content;
  if (placed === "missing" && isInBucket(sqlite, digest)) totals.elsewhere++;
  else totals.lost.push({ digest, sizeBytes, why: placed, names: namesOf(sqlite, digest) });
  return false;
}
