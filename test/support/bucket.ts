// A server with a bucket, as tests of several files need it.
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

/** Where a content lies on the server's disk. */
export function pathOf(server: TestServer, content: Uint8Array): string {
  const digest = digestOf(content);
  return join(server.dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** Trims the cache to nothing, as if nobody had used any copy for long. The server is restarted twice. */
export async function evict({ server, admin }: BucketServer, env: Record<string, string> = {}): Promise<void> {
  await runJob(admin.client, "blob-places");
  // Nothing is let go that no copy of the database knows to be in the bucket.
  await runJob(admin.client, "snapshot");
  await server.stop();
  const db = new Database(join(server.dataDir, "larder.db"));
  db.run("UPDATE remote_blobs SET used_at = 1 WHERE used_at IS NOT NULL");
  db.close();
  await server.restart({ env: { ...env, LARDER_S3_CACHE: "0" } });
  await runJob(admin.client, "blob-places");
  await server.restart({ env: { LARDER_S3_CACHE: "10GB" } });
}
