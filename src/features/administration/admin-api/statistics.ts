import { type Read, type Reader, rows } from "../../../db/reader.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Clock } from "../../../lib/clock.ts";
import { periodOf } from "../../accounts/plans/transfers.ts";
import { accountCounts, blobSums, requestSums, storageSums, transferSums, uploadsUnderWay } from "./queries.ts";
import type { Counted } from "./types.ts";

/** Dependencies of {@link Statistics}. */
export interface StatisticsOptions {
  readonly reader: Reader;
  readonly clock: Clock;
  /** Statements that count queued messages, each in a column `waiting`, by the name under which they are shown. */
  readonly queues: Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;
const ACTIVE_MS = 30 * 24 * HOUR_MS;
/** Sums that took longer than this are cached, */
const QUICK_MS = 20;
/** for so many times as long as they took, */
const CACHE_FACTOR = 50;
/** but never longer than this. */
const CACHE_MS_MAX = 60_000;

interface CachedCounts {
  readonly counted: Counted;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/**
 * The numbers of GET /api/admin/stats that must be summed up. The reader thread does that, so that nobody waits. Slow
 * sums are cached, so that repeated requests use at most a fiftieth of its time.
 */
export class Statistics {
  readonly #options: StatisticsOptions;
  #cached: CachedCounts | undefined;
  #counting: Promise<Counted> | undefined;

  constructor(options: StatisticsOptions) {
    this.#options = options;
  }

  /** Current on a small server; up to a minute old on one with millions of files. */
  async count(): Promise<Counted> {
    if (this.#cached !== undefined && performance.now() < this.#cached.untilMs) return this.#cached.counted;
    this.#counting ??= this.#countNow().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countNow(): Promise<Counted> {
    const { reader, clock, queues } = this.#options;
    const nowMs = clock.nowMs();
    const period = periodOf(nowMs);
    const waits = Object.entries(queues).map(([name, sql]) => [name, rows<{ waiting: number }>(sql)] as const);
    // The time to start the thread does not count.
    await reader.read([uploadsUnderWay()]);
    const startedMs = performance.now();
    const [users, storage, blobs, transfers, requests, uploads] = await reader.read([
      accountCounts(nowMs - ACTIVE_MS),
      storageSums(),
      blobSums(),
      transferSums(period),
      requestSums(nowMs - HOUR_MS),
      uploadsUnderWay(),
    ]);
    const waiting: readonly (readonly { waiting: number }[])[] = await reader.read<
      Read<readonly { waiting: number }[]>[]
    >(waits.map(([, read]) => read));
    const tookMs = performance.now() - startedMs;
    const of = only(users);
    const counted: Counted = {
      users: {
        total: of["total"] ?? 0,
        active: of["active"] ?? 0,
        disabled: of["disabled"] ?? 0,
        byPlan: { free: of["free"] ?? 0, pro: of["pro"] ?? 0, enterprise: of["enterprise"] ?? 0 },
        byRole: { admin: of["role_admin"] ?? 0, user: of["role_user"] ?? 0, viewer: of["role_viewer"] ?? 0 },
      },
      storage: { ...only(storage), ...only(blobs) },
      transfers: { period, ...only(transfers) },
      uploadsUnderWay: only(uploads).waiting,
      queues: Object.fromEntries(waits.map(([name], index) => [name, waiting[index]?.[0]?.waiting ?? 0])),
      requests: only(requests),
    };
    const cacheMs = tookMs < QUICK_MS ? 0 : Math.min(tookMs * CACHE_FACTOR, CACHE_MS_MAX);
    this.#cached = { counted, untilMs: performance.now() + cacheMs };
    return counted;
  }
}

function only<Row>([row]: readonly Row[]): Row {
  invariant(row !== undefined, "a sum is one row");
  return row;
}
