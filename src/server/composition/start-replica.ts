/** Starts the replication of the database. */
import { readPasswordFile } from "../../config/secrets.ts";
import { parseReplicaUrl } from "../../config/settings/replication.ts";
import { StartupError } from "../../config/startup-error.ts";
import { findLitestream } from "../../features/storage/replication/litestream/binary.ts";
import { openReplica } from "../../features/storage/replication/litestream/open.ts";
import type { LitestreamReplica } from "../../features/storage/replication/litestream/replica.ts";
import { openClient } from "../../features/storage/remote-store/open.ts";
import type { Lease } from "../../features/storage/replication/types.ts";
import type { Storage } from "./open-storage.ts";

/** The row of `meta` that is changed so that the replica has something to send. */
const MARK_KEY = "replica_started";

/** Variables that reach Litestream: how to reach the bucket, and which certificates to trust. */
const PASSED_VARIABLES = /^(?:HTTPS?_PROXY|NO_PROXY|SSL_CERT_(?:FILE|DIR))$/i;

/** Starts the replication of an open database to the path of the lease. @throws StartupError */
export async function startReplica(storage: Storage, lease: Pick<Lease, "path">): Promise<LitestreamReplica> {
  const { config, paths, sqlite, writer, clock, log } = storage;
  const { s3, replica } = config;
  const { bucket: name, prefix } = parseReplicaUrl(replica.url ?? "");
  const bucket = openClient({ ...s3, bucket: name });
  if (bucket === undefined || s3.accessKeyId === null) throw new StartupError("replica requires s3.*. Set them.");
  const secretAccessKey =
    s3.secretAccessKeyFile === null ? (s3.secretAccessKey ?? "") : readPasswordFile(s3.secretAccessKeyFile);
  const mark = sqlite.prepare<void, [string, string]>(
    "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  return openReplica({
    config,
    root: paths.root,
    database: paths.database,
    path: lease.path,
    prefix,
    program: await findLitestream(replica.litestream),
    keys: { accessKeyId: s3.accessKeyId, secretAccessKey },
    environment: Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value = ""]) => (PASSED_VARIABLES.test(name) ? [[name, value]] : [])),
    ),
    client: bucket.client,
    commitMark: () => writer.run(() => void mark.run(MARK_KEY, String(clock.nowMs())), { isQuiet: true }),
    log,
  });
}
