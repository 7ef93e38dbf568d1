/** Opens the replica from the settings. */
import { statSync } from "node:fs";
import { type S3Client, toBody } from "../../../../blobs/s3/client.ts";
import type { Config } from "../../../../config/settings.ts";
import type { Log } from "../../../../lib/log.ts";
import { GENERATION_MARKER } from "../generations.ts";
import { withinLifetime } from "./binary.ts";
import { configurationPath, INTERVAL_MS, type LitestreamTarget, writeConfiguration } from "./configuration.ts";
import { killLeftover } from "./process.ts";
import { LitestreamReplica } from "./replica.ts";
import { writeReplicaStatus } from "./status.ts";
import { ShadowWal } from "./shadow-wal.ts";
import { WalIndex } from "./wal-index.ts";

/** Dependencies of {@link openReplica}. */
export interface OpenReplicaOptions extends LitestreamTarget {
  /** The path of Litestream, as `findLitestream` returns it. */
  readonly program: string;
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Other variables of Litestream. */
  readonly environment: Readonly<Record<string, string>>;
  /** The bucket of the replica. */
  readonly client: Pick<S3Client, "put">;
  /** The prefix of the replica's keys. */
  readonly prefix: string;
  readonly commitMark: () => Promise<void>;
  readonly log: Log;
}

/** When the replica counts as late, by `blobs.acknowledge`. */
const LATE_MS: Readonly<Record<Config["blobs"]["acknowledge"], number>> = { bucket: 5_000, disk: 30_000 };

/**
 * Starts Litestream on an open database. Call it only while this server holds the lease: an earlier Litestream of the
 * directory is killed.
 */
export async function openReplica(options: OpenReplicaOptions): Promise<LitestreamReplica> {
  const { config, root, database, program, keys, environment, client, prefix, path, log } = options;
  await killLeftover(configurationPath(root), log);
  const replica = new LitestreamReplica({
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    command: withinLifetime(program),
    environment,
    configuration: writeConfiguration(options),
    walIndex: new WalIndex(database),
    shadow: new ShadowWal(database),
    commitMark: options.commitMark,
    markGeneration: async (generation) => {
      await client.put(`${prefix}${path}/${GENERATION_MARKER}`, toBody(new TextEncoder().encode(`${generation}\n`)));
    },
    onStatus: (status) => writeReplicaStatus(root, { ...status, atMs: Date.now() }),
    databaseBytes: () => statSync(database).size,
    lateMs: LATE_MS[config.blobs.acknowledge],
    nudgeMs: 3 * INTERVAL_MS[config.blobs.acknowledge],
    log,
  });
  await replica.start();
  return replica;
}
