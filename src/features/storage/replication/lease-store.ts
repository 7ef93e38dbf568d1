import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import {
  type Heartbeat,
  HEARTBEATS,
  epochName,
  epochOf,
  LEASES,
  type LeaseRecord,
  parseLease,
} from "./lease-record.ts";
import { heartbeatText, type SeenLease } from "./lease-rules.ts";

/** Dependencies of {@link LeaseStore}. */
interface LeaseStoreOptions {
  readonly objects: Pick<SmallObjects, "read" | "exists" | "write" | "createOnce">;
  readonly client: Pick<S3Client, "list">;
  /** Of all keys of the replica: empty, or with a slash at its end. */
  readonly prefix: string;
}

/** The result of {@link LeaseStore.create}: the record of another process if that owns the epoch. */
export type Creation = { readonly isOurs: true } | { readonly isOurs: false; readonly owner: LeaseRecord };

/** The objects of the lease in the bucket. Every call throws {@link S3Error}. */
export class LeaseStore {
  readonly #options: LeaseStoreOptions;

  constructor(options: LeaseStoreOptions) {
    this.#options = options;
  }

  /** The newest lease and its last heartbeat; undefined if no server has ever owned a store here. */
  async readNewest(): Promise<SeenLease | undefined> {
    const newest = await this.#newestEpoch(LEASES);
    if (newest === 0) {
      if ((await this.#newestEpoch(HEARTBEATS)) > 0) throw missingRecords();
      return undefined;
    }
    let lease = await this.mustRead(newest);
    // It was created since the list was requested, or the service's lists are late.
    for (let next = await this.read(newest + 1); next !== undefined; next = await this.read(next.epoch + 1))
      lease = next;
    return { lease, heartbeat: await this.readHeartbeat(lease.epoch) };
  }

  /** The record of an epoch; undefined if nobody has created it. */
  async read(epoch: number): Promise<LeaseRecord | undefined> {
    const text = await this.#options.objects.read(this.#leaseKey(epoch));
    if (text === undefined) return undefined;
    const lease = parseLease(text);
    if (lease?.epoch === epoch) return lease;
    throw new S3Error("damaged", `The object ${this.#leaseKey(epoch)} is not a lease.`);
  }

  /** Whether the record of an epoch exists: a fast question, for a bucket that was just used. */
  exists(epoch: number): Promise<boolean> {
    return this.#options.objects.exists(this.#leaseKey(epoch));
  }

  /** The record of an epoch that exists. */
  async mustRead(epoch: number): Promise<LeaseRecord> {
    const lease = await this.read(epoch);
    if (lease === undefined) throw new S3Error("absent", `The object ${this.#leaseKey(epoch)} is missing.`);
    return lease;
  }

  /**
   * Creates the record of an epoch, which only one server can do. After an error it may have been created, or may still
   * be: call it again with the same record.
   */
  async create(record: LeaseRecord): Promise<Creation> {
    const result = await this.#options.objects.createOnce(this.#leaseKey(record.epoch), `${JSON.stringify(record)}\n`);
    if (result === "created") return { isOurs: true };
    const owner = await this.mustRead(record.epoch);
    return owner.run === record.run ? { isOurs: true } : { isOurs: false, owner };
  }

  /** The last heartbeat of an epoch. */
  readHeartbeat(epoch: number): Promise<string | undefined> {
    return this.#options.objects.read(this.#heartbeatKey(epoch));
  }

  async writeHeartbeat(epoch: number, heartbeat: Heartbeat): Promise<void> {
    await this.#options.objects.write(this.#heartbeatKey(epoch), heartbeatText(heartbeat));
  }

  async #newestEpoch(folder: string): Promise<number> {
    const prefix = this.#options.prefix + folder;
    let newest = 0;
    for (let after = ""; ; ) {
      const page = await this.#options.client.list(prefix, after);
      let last = after;
      for (const { key } of page) {
        newest = Math.max(newest, epochOf(key) ?? 0);
        if (key > last) last = key;
      }
      if (last === after) return newest;
      after = last;
    }
  }

  #leaseKey(epoch: number): string {
    return this.#options.prefix + LEASES + epochName(epoch);
  }

  #heartbeatKey(epoch: number): string {
    return this.#options.prefix + HEARTBEATS + epochName(epoch);
  }
}

function missingRecords(): S3Error {
  return new S3Error(
    "damaged",
    "The replica has heartbeats but no leases: objects in lease/ were removed. Without them two servers could write " +
      "at once. Restore them, or set another path for the replica; and exempt it from rules that remove old objects.",
  );
}
