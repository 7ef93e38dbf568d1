import { type Read, type Reader, rows } from "../../../db/reader.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Clock } from "../../../lib/clock.ts";
import { periodOf } from "../../accounts/plans/transfers.ts";
import { accountCounts, blobTotals, requestTotals, storageTotals, transferTotals, uploadsUnderWay } from "./queries.ts";
import type { ServerCounts } from "./types.ts";

/** Dependencies of {@link Statistics}. */
interface StatisticsOptions {
  readonly reader: Reader;
  readonly clock: Clock;
  /** Statements that count queued messages, each in a column `waiting`, by the name under which they are shown. */
  readonly queues: Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;
const ACTIVE_MS = 30 * 24 * HOUR_MS;
/** Counts that took longer than this are cached. */
const QUICK_MS = 20;
/** Slow counts are cached for this many times their duration. */
const CACHE_FACTOR = 50;
/** The longest time for which they are cached. */
const CACHE_MS_MAX = 60_000;

interface CachedCounts {
  readonly counted: ServerCounts;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

/**
 * The numbers of GET /api/admin/stats that must be summed up. The reader thread does that, so that nobody waits. Slow
 * counts are cached, so that repeated requests use at most a fiftieth of its time.
 */
export class Statistics {
  readonly #options: StatisticsOptions;
  #cached: CachedCounts | undefined;
  #counting: Promise<ServerCounts> | undefined;

  constructor(options: StatisticsOptions) {
    this.#options = options;
  }

  /** Current on a small server; up to a minute old on one with millions of files. */
  async count(): Promise<ServerCounts> {
    if (this.#cached !== undefined && performance.now() < this.#cached.untilMs) return this.#cached.counted;
    this.#counting ??= this.#countNow().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #countNow(): Promise<ServerCounts> {
    const { reader, clock, queues } = this.#options;
    const nowMs = clock.nowMs();
    const period = periodOf(nowMs);
    const waits = Object.entries(queues).map(([name, sql]) => [name, rows<{ waiting: number }>(sql)] as const);
    // The time to start the thread does not count.
    await reader.read([uploadsUnderWay()]);
    const startedMs = performance.now();
    const [users, storage, blobs, transfers, requests, uploads] = await reader.read([
      accountCounts(nowMs - ACTIVE_MS),
      storageTotals(),
      blobTotals(),
      transferTotals(period),
      requestTotals(nowMs - HOUR_MS),
      uploadsUnderWay(),
    ]);
    const waiting: readonly (readonly { waiting: number }[])[] = await reader.read<
      Read<readonly { waiting: number }[]>[]
    >(waits.map(([, read]) => read));
    const tookMs = performance.now() - startedMs;
    const of = only(users);
    const counted: ServerCounts = {
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
