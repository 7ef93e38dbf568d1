/**
 * Updates a restored database, on a disk without blobs, to the state of its bucket. The database may be some seconds
 * older than the bucket, and the bucket may have lost objects.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestToBytes, isDigest } from "../../../blobs/digest.ts";
import type { S3Client, S3Object } from "../../../blobs/s3/client.ts";

/** Dependencies of {@link adoptBucket}. */
interface AdoptOptions {
  readonly sqlite: Database;
  readonly client: Pick<S3Client, "list">;
  /** The prefix of the keys of all blobs. */
  readonly folder: string;
  readonly nowMs: number;
  /** Called after each page with the number of objects listed so far. */
  readonly onProgress: (objects: number) => void;
}

/**
 * Lists the bucket and updates the database's rows. Listed blobs are only in the bucket; blobs that are not listed, or
 * with another length, count as missing. Must run before a server uses the database.
 * @throws S3Error
 */
export async function adoptBucket({ sqlite, client, folder, nowMs, onProgress }: AdoptOptions): Promise<void> {
  sqlite.run("CREATE TEMP TABLE listed (digest BLOB PRIMARY KEY) WITHOUT ROWID");
  const isNamed = sqlite.query<{ one: 1 }, [Uint8Array, number]>(
    "SELECT 1 AS one FROM blobs WHERE digest = ?1 AND size_bytes = ?2",
  );
  const list = sqlite.query<void, [Uint8Array]>("INSERT OR IGNORE INTO listed (digest) VALUES (?1)");
  const add = sqlite.query<void, [Uint8Array, number, number]>(
    `INSERT INTO remote_blobs (digest, size_bytes, stored_at) VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET leaving_at = NULL`,
  );
  const take = sqlite.transaction((objects: readonly S3Object[]) => {
    for (const { key, sizeBytes } of objects) {
      const digest = digestFromKey(key);
      if (digest === undefined || isNamed.get(digestToBytes(digest), sizeBytes) === null) continue;
      list.run(digestToBytes(digest));
      add.run(digestToBytes(digest), sizeBytes, nowMs);
    }
  });
  let count = 0;
  for (let after = ""; ; ) {
    const objects = await client.list(folder, after);
    after = objects.at(-1)?.key ?? "";
    if (after === "") break;
    take.immediate(objects);
    count += objects.length;
    onProgress(count);
  }
  sqlite
    .transaction(() => {
      sqlite.run("UPDATE remote_blobs SET used_at = NULL WHERE used_at IS NOT NULL");
      // The rows of deleted blobs stay, so that their objects are deleted.
      sqlite.run(
        `DELETE FROM remote_blobs WHERE digest NOT IN (SELECT digest FROM listed)
           AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = remote_blobs.digest)`,
      );
    })
    .immediate();
  sqlite.run("DROP TABLE listed");
}

/** The digest in the key of a blob's object; undefined for any other key. */
export function digestFromKey(key: string): Digest | undefined {
  const name = key.slice(key.lastIndexOf("/") + 1);
  return isDigest(name) ? name : undefined;
}
