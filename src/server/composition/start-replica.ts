/** Starts the replication of the database. */
import { S3Error } from "../../blobs/s3/error.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { findLitestream } from "../../features/storage/replication/litestream/binary.ts";
import { openReplica } from "../../features/storage/replication/litestream/open.ts";
import type { LitestreamReplica } from "../../features/storage/replication/litestream/replica.ts";
import { openReplicaBucket, type ReplicaBucket } from "../../features/storage/replication/replica-bucket.ts";
import { readSealingKey, sealSecrets, type SealingKey } from "../../features/storage/replication/sealed-secrets.ts";
import type { Lease } from "../../features/storage/replication/types.ts";
import type { DataPaths } from "../data/data-directory.ts";
import type { Storage } from "./open-storage.ts";

/** What the settings of a replica name. */
interface ReplicaParts {
  readonly bucket: ReplicaBucket;
  /** The path of Litestream. */
  readonly program: string;
  readonly key: SealingKey;
}

/** The row of `meta` that is changed so that the replica has something to send. */
const MARK_KEY = "replica_started";
/** Variables that reach Litestream: how to reach the bucket, and which certificates to trust. */
const PASSED_VARIABLES = /^(?:HTTPS?_PROXY|NO_PROXY|SSL_CERT_(?:FILE|DIR))$/i;

/**
 * Checks what the settings of a replica name; returns undefined if there is none. Changes nothing, so it comes before the
 * lease: a server that cannot start must not take it.
 * @throws StartupError
 */
export async function findReplicaParts(config: Config): Promise<ReplicaParts | undefined> {
  const bucket = openReplicaBucket(config);
  if (bucket === undefined) return undefined;
  const { keyFile, litestream } = config.replica;
  if (keyFile === null) throw new StartupError("replica requires replica.keyFile.");
  return { bucket, program: await findLitestream(litestream), key: readSealingKey(keyFile) };
}

/**
 * Sends the sealed secrets to the replica, and starts the replication of an open database to the path of the lease.
 * @throws StartupError
 */
export async function startReplica(storage: Storage, lease: Pick<Lease, "path">): Promise<LitestreamReplica> {
  const { config, paths, sqlite, writer, clock, log } = storage;
  const parts = await findReplicaParts(config);
  if (parts === undefined) throw new StartupError("No replica is configured.");
  await sealTo(parts, paths);
  const mark = sqlite.prepare<void, [string, string]>(
    "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const { client, prefix, options } = parts.bucket;
  return openReplica({
    config,
    root: paths.root,
    database: paths.database,
    path: lease.path,
    prefix,
    program: parts.program,
    keys: options,
    environment: Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value = ""]) => (PASSED_VARIABLES.test(name) ? [[name, value]] : [])),
    ),
    client,
    commitMark: () => writer.run(() => void mark.run(MARK_KEY, String(clock.nowMs())), { isQuiet: true }),
    log,
  });
}

/** Sends the secrets of a directory to the replica. @throws StartupError */
export async function sealTo({ bucket, key }: ReplicaParts, { secrets }: Pick<DataPaths, "secrets">): Promise<void> {
  try {
    await sealSecrets(bucket, key, secrets);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(`Cannot send the sealed secrets to the replica. ${error.message}`, error);
  }
}
