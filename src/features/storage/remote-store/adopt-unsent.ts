/**
 * Updates a database from a replica to the state of its bucket, before a server uses it. Its rows of the bucket are
 * complete up to the last transactions: only blobs without a row are requested. The comparison with the whole bucket
 * follows in the background, because a listing of millions of objects takes minutes.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { UNSENT } from "./queries.ts";
import { objectKey } from "./remote-contents.ts";

/** Dependencies of {@link adoptUnsent}. */
interface AdoptUnsentOptions {
  readonly sqlite: Database;
  readonly client: Pick<S3Client, "head">;
  /** The prefix of the keys of all blobs. */
  readonly folder: string;
  readonly nowMs: number;
  /** Called for each blob with the number of blobs requested so far. */
  readonly onProgress: (blobs: number) => void;
}

interface UnsentBlob {
  readonly id: number;
  readonly digest: Uint8Array;
  readonly sizeBytes: number;
}

/** The latency of the service decides, so many requests run at a time. */
const REQUESTS = 32;
const BATCH = 1_000;

/**
 * Requests the blobs that have no row, and adds rows for those that the bucket has. No blob counts as stored on this disk
 * any more.
 * @returns the blobs that the bucket does not have @throws S3Error
 */
export async function adoptUnsent(options: AdoptUnsentOptions): Promise<Digest[]> {
  const { sqlite } = options;
  sqlite.run("UPDATE remote_blobs SET used_at = NULL WHERE used_at IS NOT NULL");
  const absent: Digest[] = [];
  const next = sqlite.query<UnsentBlob, [number, number]>(UNSENT);
  let requested = 0;
  for (let after = 0; ; ) {
    const batch = next.all(after, BATCH);
    const last = batch.at(-1);
    if (last === undefined) return absent;
    after = last.id;
    absent.push(...(await adoptBatch(batch, options, () => options.onProgress(++requested))));
  }
}

async function adoptBatch(
  batch: readonly UnsentBlob[],
  { sqlite, client, folder, nowMs }: AdoptUnsentOptions,
  onRequested: () => void,
): Promise<Digest[]> {
  const found: UnsentBlob[] = [];
  const absent: Digest[] = [];
  const queue = batch.values();
  const request = async () => {
    for (const blob of queue) {
      const digest = digestFromBytes(blob.digest);
      const object = await client.head(objectKey(folder, digest));
      if (object?.sizeBytes === blob.sizeBytes) found.push(blob);
      else absent.push(digest);
      onRequested();
    }
  };
  await Promise.all(Array.from({ length: REQUESTS }, request));
  const add = sqlite.query<void, [Uint8Array, number, number]>(
    `INSERT INTO remote_blobs (digest, size_bytes, stored_at) VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET stored_at = ?3, etag = NULL, leaving_at = NULL, damaged_at = NULL`,
  );
  sqlite
    .transaction(() => {
      for (const { digest, sizeBytes } of found) add.run(digest, sizeBytes, nowMs);
    })
    .immediate();
  return absent;
}
