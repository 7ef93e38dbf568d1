import { S3Error } from "../../../blobs/s3/error.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { AppError } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { say } from "../../../translations/say.ts";
import type { ImmediateSender } from "./immediate-sender.ts";
import type { BlobMover, MoveResult } from "./mover.ts";
import { CACHED, type RemoteRows, TOTALS } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import type { ObjectChecker } from "./object-checker.ts";
import type { Outage, OutageWatch } from "./outage-watch.ts";
import type { ObjectReading, ObjectReadRequest, ObjectsRead } from "./read-objects.ts";
import type { BucketReconciliation } from "./reconcile.ts";
import type { BlobSender } from "./sender.ts";
import type { SendQueue } from "./send-queue.ts";
import type { SizedBlob, TierCounts } from "./types.ts";

/** Dependencies of {@link RemoteStoreService}. */
interface RemoteStoreOptions {
  readonly mover: BlobMover;
  readonly reconciliation: BucketReconciliation;
  readonly checker: ObjectChecker;
  readonly queue: SendQueue;
  /** Sends blobs before their rows are written; undefined if they are sent in the background. */
  readonly immediate: ImmediateSender | undefined;
  readonly sender: Pick<BlobSender, "record">;
  readonly watch: OutageWatch;
  readonly reading: ObjectReading;
  readonly remote: RemoteContents;
  readonly reader: Reader;
  readonly rows: RemoteRows;
  readonly log: Log;
  /** Whether new blobs go to the bucket (`blobs.store = s3`); otherwise it is only read. */
  readonly isStore: boolean;
}

/** Name of the job that moves blobs. */
export const REMOTE_STORE_JOB = "blob-places";

/** Name of the job that compares the bucket with the database. */
export const RECONCILE_JOB = "bucket-stock";

/** How long the start of the server waits for the service. */
const START_MS_MAX = 5_000;

/** Options of a run that a command requests. */
export interface MoveRequest {
  /** The tier to which all blobs are moved. */
  readonly to?: "s3" | "disk";
  /** Whether the bucket is emptied afterwards. */
  readonly empty?: boolean;
  /** Whether this database becomes the bucket's owner. */
  readonly claim?: boolean;
}

/** The state of the bucket. */
interface BucketHealth {
  readonly outage: Outage | undefined;
  /** Blobs that are still to be sent, counted up to a hundred thousand. */
  readonly waiting: number;
}

/** Counts of blobs by where they are stored. */
interface RemoteStoreStatus {
  /** All blobs that files and versions name. */
  readonly all: TierCounts;
  /** Those in the bucket. */
  readonly remote: TierCounts;
  /** Those without a copy on this disk. */
  readonly away: TierCounts;
  /** Copies on this disk in the cache. */
  readonly cached: TierCounts;
  /** Why the service could not be used when it was last tried; null if it could. */
  readonly problem: string | null;
}

/** Runs the jobs and commands that concern the bucket. */
export class RemoteStoreService {
  readonly #options: RemoteStoreOptions;

  constructor(options: RemoteStoreOptions) {
    this.#options = options;
  }

  /** Why the service could not be used when it was last tried, and since when; undefined if it could. */
  get outage(): Outage | undefined {
    return this.#options.remote.outage;
  }

  /** The state of the bucket, for administrators. */
  async health(): Promise<BucketHealth> {
    return { outage: this.outage, waiting: await this.countWaiting() };
  }

  /**
   * Checks the service at start, so that wrong settings are reported before the first file is sent. If the bucket
   * has blobs already, the server starts all the same, with the files that are on this disk.
   * @throws StartupError if the service rejects the request and the bucket has no blobs yet
   */
  async checkAtStart(): Promise<void> {
    const { mover, rows, log } = this.#options;
    const checked = mover.checkBucket();
    try {
      // The first run of the job detects a silent service.
      await Promise.race([checked, Bun.sleep(START_MS_MAX)]);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (error.problem === "refused" && !rows.hasAny()) {
        throw new StartupError(`${error.message} Check the s3.* settings: larder config`, error);
      }
      log.error("Cannot use the bucket (s3); uploads stay on this disk until it responds.", { error });
    }
  }

  /**
   * Sends blobs of this disk before rows name them, if uploads wait for the bucket, except blobs that it has.
   * @returns records the objects; call it once the rows are committed
   * @throws AppError provider_unavailable | storage_error
   */
  async sendNow(blobs: Iterable<SizedBlob>): Promise<() => Promise<void>> {
    const { immediate, sender } = this.#options;
    const sent = await Promise.all([...blobs].flatMap((blob) => immediate?.sendUnrecorded(blob) ?? []));
    return async () => (sent.length === 0 ? undefined : sender.record(sent));
  }

  /** Queues an object to be read in some seconds, because it may be damaged, or whole again. Never throws. */
  suspect(digest: Digest): void {
    this.#options.checker.suspect(digest);
  }

  /** Starts to send new blobs soon after their commit, if the bucket is the store. */
  start(): void {
    const { queue, checker, watch, remote, isStore } = this.#options;
    watch.start();
    remote.onDoubt = (digest) => checker.suspect(digest);
    if (!isStore) return;
    queue.start();
    remote.onStored = (digest, isNew) => queue.add(digest, isNew && this.#options.rows.find(digest) !== undefined);
    remote.onRecovered = () => queue.retryNow();
  }

  /** Ends transfers and writes rows that are still in memory. */
  async close(): Promise<void> {
    this.#options.watch.stop();
    this.#options.immediate?.close();
    await this.#options.queue.close();
    await this.#options.checker.close();
    await this.#options.remote.flush();
  }

  /**
   * Runs the job: sends blobs that the bucket does not have, deletes objects of deleted blobs, and trims the cache.
   * @param request options of a command; undefined for a scheduled run, which an outage does not fail
   * @returns a summary; JSON for a command
   * @throws S3Error; AppError provider_unavailable | disk_full | invalid_request
   */
  async run(signal: AbortSignal, request?: MoveRequest): Promise<string> {
    try {
      return await this.#run(signal, request ?? {});
    } catch (error) {
      if (request !== undefined || !(error instanceof S3Error) || error.problem !== "unreachable") throw error;
      return `waits: ${error.message}`;
    }
  }

  async #run(signal: AbortSignal, request: MoveRequest): Promise<string> {
    const { mover, watch, isStore } = this.#options;
    if (request.claim === true) {
      await mover.claim();
      return "claimed";
    }
    await watch.check();
    const repaired = await mover.repair(signal);
    if (request.to === "disk") return JSON.stringify(await this.#toDisk(signal, request.empty === true));
    if (!isStore) {
      if (request.to === "s3") throw contradiction("s3");
      return `${await mover.collect(signal)} removed, ${repaired} repaired`;
    }
    const removed = await mover.collect(signal);
    const moved = await mover.moveToBucket(signal);
    const letGo = await mover.trimCache(signal);
    const done = { ...moved, removed, letGo: letGo.contents };
    if (request.to !== undefined) return JSON.stringify(done);
    return `${moved.moved} moved, ${moved.failed} failed, ${removed} removed, ${letGo.contents} local copies evicted, ${repaired} repaired`;
  }

  /** Compares the bucket with the database, and sends lost objects again. @returns a summary @throws S3Error */
  async reconcileBucket(signal: AbortSignal): Promise<string> {
    const { mover, reconciliation, watch, isStore } = this.#options;
    await watch.check();
    const { unknown, faulty } = await reconciliation.run(signal);
    if (faulty > 0 && isStore) {
      mover.listAll();
      await mover.moveToBucket(signal);
    }
    return `${unknown} objects registered, ${faulty} missing or of a different size`;
  }

  /** Blobs and bytes that only the bucket has. */
  countRemoteOnly(): Promise<TierCounts> {
    return this.#options.reading.countRemoteOnly();
  }

  /** Reads the blobs that only the bucket has, and records their faults. @throws S3Error */
  async readObjects(request: ObjectReadRequest, signal: AbortSignal): Promise<ObjectsRead> {
    await this.#options.watch.check();
    return this.#options.reading.run(request, signal);
  }

  /** Counts blobs by where they are stored. Reads all rows, off the event loop. */
  async status(): Promise<RemoteStoreStatus> {
    const { reader, remote } = this.#options;
    await remote.flush();
    return { ...(await readStatus(reader)), problem: remote.outage?.problem ?? null };
  }

  /** Counts blobs that are still to be sent, up to a hundred thousand. */
  async countWaiting(): Promise<number> {
    return this.#options.isStore ? this.#options.mover.countWaiting() : 0;
  }

  async #toDisk(signal: AbortSignal, isEmptied: boolean): Promise<MoveResult & { removed: number }> {
    const { mover, isStore } = this.#options;
    if (isStore) throw contradiction("disk");
    const moved = await mover.moveToDisk(signal);
    const removed = isEmptied && moved.failed === 0 && !signal.aborted ? await mover.emptyBucket(signal) : 0;
    return { ...moved, removed };
  }
}

/** Counts blobs by where they are stored, from their rows. */
export async function readStatus(reader: Reader): Promise<Omit<RemoteStoreStatus, "problem">> {
  interface Totals extends TierCounts {
    readonly remoteContents: number;
    readonly remoteBytes: number;
    readonly remoteOnlyContents: number;
    readonly remoteOnlyBytes: number;
  }
  const [[totals], [cached]] = await reader.read([rowsOf<Totals>(TOTALS), rowsOf<TierCounts>(CACHED)]);
  const none = { contents: 0, bytes: 0 };
  if (totals === undefined) return { all: none, remote: none, away: none, cached: none };
  return {
    all: { contents: totals.contents, bytes: totals.bytes },
    remote: { contents: totals.remoteContents, bytes: totals.remoteBytes },
    away: { contents: totals.remoteOnlyContents, bytes: totals.remoteOnlyBytes },
    cached: cached ?? none,
  };
}

/** Parses the options of a command; undefined if there are none. */
export function readMoveRequest(options: unknown): MoveRequest | undefined {
  if (typeof options !== "object" || options === null) return undefined;
  const to = "to" in options && (options.to === "s3" || options.to === "disk") ? options.to : undefined;
  return {
    ...(to !== undefined && { to }),
    empty: "empty" in options && options.empty === true,
    claim: "claim" in options && options.claim === true,
  };
}

function contradiction(target: "s3" | "disk"): AppError {
  const current = target === "s3" ? "disk" : "s3";
  return new AppError(
    "invalid_request",
    say`The setting blobs.store is ${current}, so blobs would be moved back. Set it to ${target} first.`,
  );
}
