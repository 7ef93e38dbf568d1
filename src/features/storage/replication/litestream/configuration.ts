/** The configuration file of Litestream, made from Larder's settings. It contains no keys. */
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseReplicaUrl } from "../../../../config/settings/replication.ts";
import type { Config } from "../../../../config/settings.ts";

/** What the configuration depends on. */
export interface LitestreamTarget {
  readonly config: Pick<Config, "blobs" | "s3" | "replica">;
  /** The data directory. */
  readonly root: string;
  /** The path of the database. */
  readonly database: string;
  /** The path of the lease below the prefix of the replica: `db/00000001`. */
  readonly path: string;
}

/**
 * How often Litestream looks for commits, by `blobs.acknowledge`. Measured with `bucket`, against a service on this
 * machine: 10 ms confirm a commit after 11 ms and take 5 % of a core while nothing changes; 20 ms: 18 ms and 3 %;
 * 50 ms: 47 ms and 1 %; 100 ms: 97 ms and 0.6 %.
 */
export const INTERVAL_MS = { bucket: 20, disk: 1_000 };
/**
 * The log is restarted at this number of pages, and at no other time. Litestream may lose what is committed while it
 * restarts the log, if the new log overwrites it before it is copied. With this many pages (8 MB) it has a second for
 * that; `coverage.ts` notices it nevertheless.
 */
const CHECKPOINT_PAGES = 2_000;
const MINUTE_MS = 60_000;
/** A copy of the whole database is sent at most this often, and a large one less often: at most 0.1 MB/s on average. */
const SNAPSHOT_MS_MIN = 10 * MINUTE_MS;
const SNAPSHOT_MS_MAX = 360 * MINUTE_MS;
const SNAPSHOT_BYTES_PER_MS = 100;

/** The path of the configuration file. */
export function configurationPath(root: string): string {
  return join(root, "litestream.yml");
}

/** Writes the configuration file. @returns its path */
export function writeConfiguration(target: LitestreamTarget): string {
  const path = configurationPath(target.root);
  const temporary = `${path}.tmp`;
  // JSON is also YAML.
  writeFileSync(temporary, `${JSON.stringify(describe(target), undefined, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
  return path;
}

function describe({ config, database, path }: LitestreamTarget) {
  const { bucket, prefix } = parseReplicaUrl(config.replica.url ?? "");
  const interval = `${INTERVAL_MS[config.blobs.acknowledge]}ms`;
  const databaseBytes = statSync(database, { throwIfNoEntry: false })?.size ?? 0;
  const snapshotMs = Math.min(SNAPSHOT_MS_MAX, Math.max(SNAPSHOT_MS_MIN, databaseBytes / SNAPSHOT_BYTES_PER_MS));
  const replica = {
    type: "s3",
    bucket,
    path: prefix + path,
    region: config.s3.region,
    endpoint: config.s3.endpoint,
    "force-path-style": config.s3.pathStyle,
    "sync-interval": interval,
    "snapshot-interval": `${Math.round(snapshotMs)}ms`,
    // At least one complete snapshot with everything after it stays.
    retention: `${Math.round(2 * snapshotMs)}ms`,
    "retention-check-interval": `${Math.round(snapshotMs)}ms`,
  };
  return {
    logging: { type: "json", level: "info" },
    dbs: [
      {
        path: database,
        "monitor-interval": interval,
        "checkpoint-interval": "0s",
        "min-checkpoint-page-count": CHECKPOINT_PAGES,
        replicas: [replica],
      },
    ],
  };
}
