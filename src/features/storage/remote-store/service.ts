import { S3Error } from "../../../blobs/s3/error.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { AppError } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { BlobMover, Moved } from "./mover.ts";
import { CACHED, type RemoteRows, TOTALS } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import type { ObjectChecker } from "./object-checker.ts";
import type { Outage, OutageWatch } from "./outage-watch.ts";
import type { ObjectReading, ObjectReadRequest, ObjectsRead } from "./read-objects.ts";
import type { BucketReconciliation } from "./reconcile.ts";
import type { SendQueue } from "./send-queue.ts";
import type { TierCounts } from "./types.ts";

/** What {@link RemoteStoreService} works with. */
export interface RemoteStoreOptions {
  readonly mover: BlobMover;
  readonly stock: BucketReconciliation;
  readonly checker: ObjectChecker;
  readonly queue: SendQueue;
  readonly watch: OutageWatch;
  readonly reading: ObjectReading;
  readonly remote: RemoteContents;
  readonly reader: Reader;
  readonly rows: RemoteRows;
  readonly log: Log;
  /** Whether contents end in the bucket (`blobs.store = s3`), rather than being read there only. */
  readonly isStore: boolean;
}

/** Name of the job that moves contents. */
export const REMOTE_STORE_JOB = "blob-places";

/** Name of the job that compares the bucket with what is known of it. */
export const RECONCILE_JOB = "bucket-stock";

/** How long a start waits for the service. */
const START_MS_MAX = 5_000;

/** What a command may ask of a run besides the usual. */
export interface MoveRequest {
  /** Where all contents are to go. */
  readonly to?: "s3" | "disk";
  /** And then remove from the bucket what is here. */
  readonly empty?: boolean;
  /** Make this database the bucket's owner. */
  readonly claim?: boolean;
}

/** How the bucket stands. */
export interface BucketHealth {
  readonly outage: Outage | undefined;
  /** Contents that lie on this disk alone, and are to go to the bucket; counted to a hundred thousand. */
  readonly waiting: number;
}

/** How contents are spread. */
export interface RemoteStoreStatus {
  /** All that files and versions name. */
  readonly all: TierCounts;
  /** Of them, what the bucket has. */
  readonly remote: TierCounts;
  /** Of those, what has no copy on this disk. */
  readonly away: TierCounts;
  /** Copies on this disk that the cache holds. */
  readonly cached: TierCounts;
  /** Why the service could not be used when it was last tried; null where it could. */
  readonly problem: string | null;
}

/** Contents on this disk and in a bucket: the work of the timetable and of `larder blobs`. */
export class RemoteStoreService {
  readonly #options: RemoteStoreOptions;

  constructor(options: RemoteStoreOptions) {
    this.#options = options;
  }

  /** Why the service could not be used when it was last tried, and since when; undefined where it could. */
  get outage(): Outage | undefined {
    return this.#options.remote.outage;
  }

  /** How the bucket stands, for administrators. */
  async health(): Promise<BucketHealth> {
    return { outage: this.outage, waiting: await this.countWaiting() };
  }

  /**
   * Tries the service before the first file goes there: what is wrong with the settings is told at once. Where contents lie
   * there already the server starts all the same, for everything that is on this disk.
   * @throws StartupError where the service refuses, and nothing is there yet
   */
  async checkAtStart(): Promise<void> {
    const { mover, rows, log } = this.#options;
    const checked = mover.checkBucket();
    try {
      // One that says nothing is found out by the first run of the job.
      await Promise.race([checked, Bun.sleep(START_MS_MAX)]);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (error.problem === "refused" && !rows.hasAny()) {
        throw new StartupError(`${error.message} Check the s3.* settings: larder config`, error);
      }
      log.error("Cannot use the bucket (s3); uploads stay on this disk until it responds.", { error });
    }
  }

  /** An object may be damaged, or good again: it is read in some seconds. Never throws. */
  suspect(digest: Digest): void {
    this.#options.checker.suspect(digest);
  }

  /** From now on new contents go to the bucket soon after their commit, where contents end there. */
  start(): void {
    const { queue, checker, watch, remote, isStore } = this.#options;
    watch.start();
    remote.onDoubt = (digest) => checker.suspect(digest);
    if (!isStore) return;
    queue.start();
    remote.onStored = (digest, isNew) => queue.add(digest, isNew && this.#options.rows.find(digest) !== undefined);
    remote.onRecovered = () => queue.retryNow();
  }

  /** Ends what is sent and read, and writes what waits in memory. */
  async close(): Promise<void> {
    this.#options.watch.stop();
    await this.#options.queue.close();
    await this.#options.checker.close();
    await this.#options.remote.flush();
  }

  /**
   * A run of the timetable: sends what the bucket has not, removes what the collector let go, and trims the cache.
   * @param request what a command asks for; undefined by schedule: an outage is no failure of the job then
   * @returns in words what was done; JSON where a command asked
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

  /** Compares the bucket with what is known of it, and sends again what it lost. @returns in words what was found @throws S3Error */
  async reconcileBucket(signal: AbortSignal): Promise<string> {
    const { mover, stock, watch, isStore } = this.#options;
    await watch.check();
    const { unknown, faulty } = await stock.take(signal);
    if (faulty > 0 && isStore) {
      mover.lookAtAll();
      await mover.moveToBucket(signal);
    }
    return `${unknown} objects registered, ${faulty} missing or of a different size`;
  }

  /** What lies in the bucket alone, in contents and bytes. */
  countAlone(): Promise<TierCounts> {
    return this.#options.reading.countAlone();
  }

  /** Reads what lies in the bucket alone, and records what is wrong. @throws S3Error */
  async readObjects(request: ObjectReadRequest, signal: AbortSignal): Promise<ObjectsRead> {
    await this.#options.watch.check();
    return this.#options.reading.run(request, signal);
  }

  /** How contents are spread. Reads all rows, off the event loop. */
  async status(): Promise<RemoteStoreStatus> {
    const { reader, remote } = this.#options;
    await remote.flush();
    return { ...(await readStatus(reader)), problem: remote.outage?.problem ?? null };
  }

  /** How many contents wait for the bucket; counted to a hundred thousand. */
  async countWaiting(): Promise<number> {
    return this.#options.isStore ? this.#options.mover.countWaiting() : 0;
  }

  async #toDisk(signal: AbortSignal, isEmptied: boolean): Promise<Moved & { removed: number }> {
    const { mover, isStore } = this.#options;
    if (isStore) throw contradiction("disk");
    const moved = await mover.moveToDisk(signal);
    const removed = isEmptied && moved.failed === 0 && !signal.aborted ? await mover.emptyBucket(signal) : 0;
    return { ...moved, removed };
  }
}

/** How contents are spread, by their rows alone. */
export async function readStatus(reader: Reader): Promise<Omit<RemoteStoreStatus, "problem">> {
  interface Totals extends TierCounts {
    readonly remoteContents: number;
    readonly remoteBytes: number;
    readonly awayContents: number;
    readonly awayBytes: number;
  }
  const [[totals], [cached]] = await reader.read([rowsOf<Totals>(TOTALS), rowsOf<TierCounts>(CACHED)]);
  const none = { contents: 0, bytes: 0 };
  if (totals === undefined) return { all: none, remote: none, away: none, cached: none };
  return {
    all: { contents: totals.contents, bytes: totals.bytes },
    remote: { contents: totals.remoteContents, bytes: totals.remoteBytes },
    away: { contents: totals.awayContents, bytes: totals.awayBytes },
    cached: cached ?? none,
  };
}

/** What a command gave along with its request for a run; undefined where it was none. */
export function readMoveRequest(given: unknown): MoveRequest | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const to = "to" in given && (given.to === "s3" || given.to === "disk") ? given.to : undefined;
  return {
    ...(to !== undefined && { to }),
    empty: "empty" in given && given.empty === true,
    claim: "claim" in given && given.claim === true,
  };
}

function contradiction(wanted: "s3" | "disk"): AppError {
  const now = wanted === "s3" ? "disk" : "s3";
  return new AppError(
    "invalid_request",
    `The setting blobs.store is ${now}, so blobs would be moved back. Set it to ${wanted} first.`,
  );
}
