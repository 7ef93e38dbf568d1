// Settings of a server whose changes are acknowledged once they are in a bucket.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestS3 } from "./s3-server.ts";
import { repositoryRoot } from "./server.ts";

/** Litestream, from the package that the tests install. */
export const litestreamPath = join(repositoryRoot, "node_modules/@flydotio/litestream-linux-x64/litestream");

/** The settings of a server with a replica, as environment variables. @param folder gets the key file */
export async function replicatedSettings(
  s3: Pick<TestS3, "settings">,
  folder: string,
): Promise<Record<string, string>> {
  const keyFile = join(folder, "replica.key");
  await writeFile(keyFile, `${Buffer.alloc(32, 7).toString("base64")}\n`, { mode: 0o600 });
  return {
    ...s3.settings,
    LARDER_REPLICA: `s3://${s3.settings["LARDER_S3_BUCKET"]}/replica`,
    LARDER_REPLICA_KEY_FILE: keyFile,
    LARDER_REPLICA_LITESTREAM: litestreamPath,
    LARDER_REPLICA_LEASE: "10s",
  };
}
