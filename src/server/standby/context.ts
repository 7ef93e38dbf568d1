/** What a machine needs to follow the owner of a store, and to take over from it. */
import * as fs from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../../config/load.ts";
import { StartupError } from "../../config/startup-error.ts";
import { findReplicaParts } from "../composition/start-replica.ts";
import { type Bucket, openClient } from "../../features/storage/remote-store/open.ts";
import { DATABASES, type LeaseRecord } from "../../features/storage/replication/lease-record.ts";
import { LeaseStore } from "../../features/storage/replication/lease-store.ts";
import { ReplicaMirror } from "../../features/storage/replication/mirror.ts";
import type { ReplicaBucket } from "../../features/storage/replication/replica-bucket.ts";
import type { SealingKey } from "../../features/storage/replication/sealed-secrets.ts";
import type { Log } from "../../lib/log.ts";
import { type DataPaths, openDataDirectory } from "../data/data-directory.ts";

/** The parts that {@link openStandbyContext} opens. */
export interface StandbyContext {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly paths: DataPaths;
  /** The bucket of the replica. */
  readonly replica: ReplicaBucket;
  readonly leases: LeaseStore;
  /** The bucket with the blobs. */
  readonly blobs: Pick<Bucket, "client" | "name" | "prefix">;
  /** The path of Litestream. */
  readonly litestream: string;
  /** The key that sealed the secrets. */
  readonly key: SealingKey;
  readonly mirrors: Mirrors;
}

/** Opens the data directory and the buckets. @throws StartupError if settings are missing or wrong */
export async function openStandbyContext(loaded: LoadedConfig, log: Log): Promise<StandbyContext> {
  const { config } = loaded;
  const parts = await findReplicaParts(config);
  const blobs = openClient(config.s3);
  if (parts === undefined || blobs === undefined) {
    throw new StartupError(
      "There is no replica to follow. Set replica, replica.keyFile, and s3.*, as on the other machine.",
    );
  }
  const { bucket: replica, program: litestream, key } = parts;
  const paths = openDataDirectory(config.data);
  return {
    loaded,
    log,
    paths,
    replica,
    leases: new LeaseStore(replica),
    blobs,
    litestream,
    key,
    mirrors: new Mirrors(paths, replica),
  };
}

/** The copies of paths of the replica in the data directory. */
export class Mirrors {
  readonly #folder: string;
  readonly #replica: Pick<ReplicaBucket, "client" | "prefix">;
  readonly #opened = new Map<string, ReplicaMirror>();

  constructor({ standby }: Pick<DataPaths, "standby">, replica: Pick<ReplicaBucket, "client" | "prefix">) {
    this.#folder = standby;
    this.#replica = replica;
  }

  /** The copy of a path, such as `db/00000001`. */
  open(path: string): ReplicaMirror {
    const opened = this.#opened.get(path);
    if (opened !== undefined) return opened;
    const { client, prefix } = this.#replica;
    const mirror = new ReplicaMirror({ client, prefix: `${prefix}${path}/`, folder: join(this.#folder, path) });
    this.#opened.set(path, mirror);
    return mirror;
  }

  /**
   * The path that has the newest state: that of this owner, or of one before it if this one ended before its first copy
   * of the database was complete.
   * @returns undefined if no path has anything to restore @throws S3Error
   */
  async findNewest(leases: Pick<LeaseStore, "read">, newest: LeaseRecord): Promise<ReplicaMirror | undefined> {
    const tried = new Set<string>();
    for (let lease: LeaseRecord | undefined = newest; lease !== undefined; ) {
      const mirror = this.open(lease.path);
      if (!tried.has(lease.path) && (await mirror.hasData())) return mirror;
      tried.add(lease.path);
      lease = lease.epoch > 1 ? await leases.read(lease.epoch - 1) : undefined;
    }
    return undefined;
  }

  /** Removes the copies of all paths but one, also those of an earlier process. */
  removeOthers(mirror: ReplicaMirror): void {
    for (const [path, other] of this.#opened) if (other !== mirror) this.#opened.delete(path);
    const folder = join(this.#folder, DATABASES);
    if (!fs.existsSync(folder)) return;
    for (const name of fs.readdirSync(folder)) {
      const path = join(folder, name);
      if (path !== mirror.folder) fs.rmSync(path, { recursive: true, force: true });
    }
  }

  /** Removes everything. */
  clear(): void {
    this.#opened.clear();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}
