// Helpers for servers that keep their blobs in a bucket.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Account, digestOf } from "./client.ts";
import { runJob } from "./jobs.ts";
import type { TestServer } from "./server.ts";

/** A server with a bucket, and its administrator. */
export interface BucketServer {
  readonly server: TestServer;
  readonly admin: Account;
}

/** The path of a blob on the server's disk. */
export function blobPath(server: TestServer, content: Uint8Array): string {
  const digest = digestOf(content);
  return join(server.dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** Settings that {@link evict} needs: every local copy that was not used for ten minutes is evicted. */
export const withoutCache = { LARDER_S3_CACHE: "0", LARDER_SEARCH_CONTENT: "off" };

/** Changes rows of the running server's database in ways that no client can. */
export function changeRows({ server }: BucketServer, sql: string): void {
  const db = new Database(join(server.dataDir, "larder.db"));
  db.run("PRAGMA busy_timeout = 10000");
  db.run(sql);
  db.close();
}

/**
 * Evicts all local copies of blobs that are in the bucket, except those that the eviction itself sends again because the
 * bucket lost them. The server must have the settings of {@link withoutCache}. It is restarted if it remembers that
 * copies were used: background work, such as thumbnails, may read a blob at any time. The text index would read each
 * file that looks like text, soon after its upload.
 */
export async function evict(bucket: BucketServer): Promise<void> {
  const { server, admin } = bucket;
  await runJob(admin.client, "blob-places");
  const copies = `used_at IS NOT NULL AND leaving_at IS NULL AND stored_at <= ${Date.now()}`;
  // A blob is evicted only after a database snapshot records that it is in the bucket.
  await runJob(admin.client, "snapshot");
  const evictCopies = async () => {
    changeRows(bucket, `UPDATE remote_blobs SET used_at = 1 WHERE ${copies}`);
    await runJob(admin.client, "blob-places");
  };
  await evictCopies();
  for (let tries = 0; tries < 3 && hasRow(server, copies); tries++) {
    await server.restart();
    await evictCopies();
  }
}

function hasRow({ dataDir }: TestServer, condition: string): boolean {
  const db = new Database(join(dataDir, "larder.db"), { readonly: true });
  try {
    return db.query(`SELECT 1 FROM remote_blobs WHERE ${condition}`).get() !== null;
  } finally {
    db.close();
  }
}
