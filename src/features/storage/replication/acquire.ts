/** Takes the lease: at every start of a server, and when another machine takes over. */
import { hostname } from "node:os";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { holderOf, identifyDirectory, readBootId } from "./directory-identity.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Log } from "../../../lib/log.ts";
import { type LeaseClock, machineClock } from "./lease-clock.ts";
import { readMark, writeMark } from "./lease-mark.ts";
import type { LeaseRecord } from "./lease-record.ts";
import {
  type Acquisition,
  afterHeartbeat,
  afterRead,
  afterMissedHeartbeat,
  type Claimant,
  mayCreate,
  type Moment,
  recordOf,
  type SeenLease,
  silenceMs,
  type Watch,
} from "./lease-rules.ts";
import { LeaseStore } from "./lease-store.ts";
import { OwnedLease } from "./lease.ts";
import { rejection } from "./owner-text.ts";
import type { ReplicaBucket } from "./replica-bucket.ts";

/** Dependencies of {@link acquireForServe} and {@link takeOver}. The caller has the lock of the directory. */
export interface AcquireOptions {
  readonly bucket: Pick<ReplicaBucket, "objects" | "prefix"> & { readonly client: Pick<S3Client, "list"> };
  /** The data directory, which exists. */
  readonly root: string;
  /** The file of the lease in it. */
  readonly markPath: string;
  readonly ttlMs: number;
  /** Address of the server, for people. */
  readonly url: string | null;
  readonly log: Log;
  readonly clock?: LeaseClock;
  readonly signal?: AbortSignal;
  /** Called while the owner is watched. */
  readonly onProgress?: (progress: WatchProgress) => void;
}

/** The wait for a silent owner. */
export interface WatchProgress {
  readonly owner: LeaseRecord;
  readonly silentMs: number;
  readonly neededMs: number;
}

/** A lease that was taken, and the one before it. */
export interface Takeover {
  readonly lease: OwnedLease;
  readonly previous: LeaseRecord;
}

/** How often a watched heartbeat is requested within the lease time. */
const POLLS_PER_TTL = 8;

/**
 * Takes the lease for a server on its own directory.
 * @param own the identity of the store, and the epoch of its database
 * @throws StartupError if another server owns the store, or this directory is older than the replica
 */
export async function acquireForServe(
  options: AcquireOptions,
  own: { readonly store: string; readonly databaseEpoch: string },
): Promise<OwnedLease> {
  const { lease } = await new Acquiring(options, "start", own).run();
  return lease;
}

/**
 * Takes the lease from another server that is silent or has released it. The caller then restores the database, and calls
 * {@link OwnedLease.setDatabaseEpoch}.
 * @param known an earlier watch of the owner, which counts; and the identity of the store in the directory, if there is one
 * @throws StartupError if the owner is alive, there is nothing to take over, or the directory has another store
 */
export async function takeOver(
  options: AcquireOptions,
  known: { readonly watch?: Watch; readonly store?: string } = {},
): Promise<Takeover> {
  const { lease, previous } = await new Acquiring(options, "takeover", known).run();
  invariant(previous !== undefined, "a takeover has a previous owner");
  return { lease, previous: previous.lease };
}

/** The newest owner and its last heartbeat; undefined if no server has ever owned a store here. @throws S3Error */
export function readOwner(bucket: AcquireOptions["bucket"]): Promise<SeenLease | undefined> {
  return new LeaseStore(bucket).readNewest();
}

/** What the caller knows. */
interface KnownState {
  readonly store?: string;
  readonly databaseEpoch?: string;
  readonly watch?: Watch;
}

/** One attempt to take the lease: makes the requests that the rules demand. */
class Acquiring {
  readonly #options: AcquireOptions;
  readonly #store: LeaseStore;
  readonly #clock: LeaseClock;
  readonly #intent: Claimant["intent"];
  readonly #known: KnownState;
  readonly #run = crypto.randomUUID();
  readonly #bootId = readBootId();
  readonly #directory: string;
  /** The record that is being created, and when that was first attempted. */
  #attempt: { readonly record: LeaseRecord; readonly started: Moment } | undefined;

  constructor(options: AcquireOptions, intent: Claimant["intent"], known: KnownState) {
    this.#options = options;
    this.#store = new LeaseStore(options.bucket);
    this.#clock = options.clock ?? machineClock;
    this.#intent = intent;
    this.#known = known;
    this.#directory = identifyDirectory(options.root);
  }

  /** @throws StartupError */
  async run(): Promise<{ lease: OwnedLease; previous: SeenLease | undefined }> {
    try {
      return await this.#acquire();
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      throw new StartupError(`Cannot use the bucket of the replica. ${error.message} Check: larder config`, error);
    }
  }

  async #acquire(): Promise<{ lease: OwnedLease; previous: SeenLease | undefined }> {
    let state: Acquisition = { step: "read" };
    for (;;) {
      this.#options.signal?.throwIfAborted();
      if (state.step === "rejected") throw rejection(state);
      if (state.step === "create") {
        const lease = await this.#create(state);
        if (lease !== undefined) return { lease, previous: state.previous };
      }
      state = state.step === "watch" ? await this.#watch(state) : await this.#readNewest();
    }
  }

  async #readNewest(): Promise<Acquisition> {
    const seen = await this.#store.readNewest();
    return afterRead(await this.#claimant(seen), seen, this.#clock.now().monotonicMs, this.#known.watch);
  }

  async #watch(state: Extract<Acquisition, { step: "watch" }>): Promise<Acquisition> {
    const { seen, watch } = state;
    const { ttlMs, signal, onProgress } = this.#options;
    const neededMs = silenceMs(ttlMs, seen.lease);
    onProgress?.({ owner: seen.lease, silentMs: watch.readMs - watch.sinceMs, neededMs });
    await this.#clock.sleep(ttlMs / POLLS_PER_TTL, signal);
    const startedMs = this.#clock.now().monotonicMs;
    let heartbeat: string | undefined;
    try {
      heartbeat = await this.#store.readHeartbeat(seen.lease.epoch);
    } catch (error) {
      if (!(error instanceof S3Error) || error.problem !== "unreachable") throw error;
      // The owner can't be heard: its silence does not count.
      return afterMissedHeartbeat(state, this.#clock.now().monotonicMs);
    }
    return afterHeartbeat(await this.#claimant(seen), state, heartbeat, startedMs);
  }

  /** Creates the record. @returns undefined if another server was faster, or too much time has passed */
  async #create(state: Extract<Acquisition, { step: "create" }>): Promise<OwnedLease | undefined> {
    const { markPath, url, log } = this.#options;
    const store = state.previous?.lease.store ?? this.#known.store;
    invariant(store !== undefined, "the first lease names the store");
    const self = await this.#claimant(state.previous);
    if (this.#attempt?.record.epoch !== state.epoch) {
      const record = recordOf(state, self, { store, host: hostname(), url, run: this.#run });
      this.#attempt = { record, started: this.#clock.now() };
    }
    const { record, started } = this.#attempt;
    await writeMark(markPath, { epoch: record.epoch, counter: 0 });
    if (!mayCreate(state, this.#clock.now().monotonicMs)) return undefined;
    const created = await this.#store.create(record);
    if (!created.isOurs) return undefined;
    return new OwnedLease({ store: this.#store, record, acquired: started, markPath, clock: this.#clock, log });
  }

  async #claimant(seen: SeenLease | undefined): Promise<Claimant> {
    const { store, databaseEpoch } = this.#known;
    const owned = store ?? seen?.lease.store ?? "";
    return {
      holder: holderOf(owned, this.#directory),
      bootId: this.#bootId,
      store: store ?? null,
      databaseEpoch: databaseEpoch ?? null,
      ttlMs: this.#options.ttlMs,
      intent: this.#intent,
      mark: await readMark(this.#options.markPath),
    };
  }
}
