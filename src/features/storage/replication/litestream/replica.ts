/** The continuous copy of the database in the bucket, made by a supervised Litestream. */
import { backoffMs } from "../../../../lib/backoff.ts";
import type { AppError } from "../../../../errors.ts";
import type { Log } from "../../../../lib/log.ts";
import { notConfirmed } from "../fence.ts";
import type { Replica } from "../types.ts";
import { Coverage, type CoverageResult, type WrittenSegment } from "./coverage.ts";
import { LitestreamProcess, type LitestreamProcessOptions, type LogLine } from "./process.ts";
import type { ReplicaStatus } from "./status.ts";
import type { ShadowWal } from "./shadow-wal.ts";
import type { WalIndex, WalPosition } from "./wal-index.ts";

/** Dependencies of {@link LitestreamReplica}. */
export interface ReplicaOptions extends Omit<LitestreamProcessOptions, "onLine" | "beforeStart"> {
  readonly walIndex: WalIndex;
  readonly shadow: ShadowWal;
  /** Commits a small change, so that Litestream has something to send. */
  readonly commitMark: () => Promise<void>;
  /**
   * Names the generation in the bucket, as the one to restore. Restores would otherwise have to compare times, which
   * object stores give in whole seconds.
   */
  readonly markGeneration: (generation: string) => Promise<void>;
  /** The size of the database, which Litestream sends as a whole when a generation begins. */
  readonly databaseBytes: () => number;
  /** Publishes the state, every few seconds. */
  readonly onStatus: (status: Omit<ReplicaStatus, "atMs">) => void;
  /** With a lag of more than this, the replica has a problem. */
  readonly lateMs: number;
  /** How long Litestream may leave a commit unnoticed. */
  readonly nudgeMs: number;
  readonly log: Log;
}

/** How long one `sync` waits. */
const SYNC_MS_MAX = 10_000;
const MARK_BACKOFF = { firstMs: 200, maxMs: 5_000 };
/** The longest time between two nudges. */
const NUDGE_MS_MAX = 2_000;
const WATCH_MS = 1_000;
/** One of this many checks publishes the state. */
const CHECKS_PER_STATUS = 5;
/** A Litestream that says nothing for this long, while something waits to be sent, hangs. */
const SILENCE_MS_MAX = 15_000;
/** The slowest line to the bucket. While Litestream sends an object, it says nothing. */
const SLOWEST_BYTES_PER_MS = 64;
/**
 * After so many crashes in a row, the whole database is sent again. Litestream 0.3.13 reads the last segment of a
 * generation when it continues, and does not survive a response without a Content-Length.
 */
const CRASHES_MAX = 3;
/** How long Litestream may take to end. */
const CLOSE_MS_MAX = 5_000;
const POSITION = /^([0-9a-f]{16})\/([0-9a-f]{8}):(\d+)$/;

interface Waiter {
  target: WalPosition;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * A replica by Litestream. `coverage.ts` proves when a commit is in the bucket. Nothing is polled for that: the lines of
 * Litestream arrive as soon as they are written. A start commits a change, because Litestream writes no line if
 * everything is in the bucket already.
 */
export class LitestreamReplica implements Replica {
  readonly #options: ReplicaOptions;
  readonly #process: LitestreamProcess;
  readonly #coverage: Coverage;
  #waiters: Waiter[] = [];
  /** The oldest position that is not known to be in the bucket, and since when. */
  #oldest: { target: WalPosition; readonly sinceMs: number } | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  #lineAtMs = performance.now();
  #sending: "nothing" | "segment" | "snapshot" = "nothing";
  #nudge: ReturnType<typeof setTimeout> | undefined;
  #nudgeMs: number;
  #checks = 0;
  /** The generation that the bucket names as the one to restore; nothing of another one counts as replicated. */
  #marked: string | undefined;
  #marking: string | undefined;
  #isClosed = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#coverage = new Coverage(options.shadow);
    this.#nudgeMs = options.nudgeMs;
    this.#process = new LitestreamProcess({
      ...options,
      beforeStart: async () => {
        // The service may still carry out the request of the process that ended, after this one sent the same segment
        // with more in it. A segment of another generation can't be replaced.
        if (this.#sending === "segment" || this.#process.crashes >= CRASHES_MAX) this.#forgetGeneration();
        await options.commitMark();
        this.#lineAtMs = performance.now();
        this.#sending = "nothing";
      },
      onLine: (line) => this.#noteLine(line),
    });
  }

  /** Starts Litestream. */
  async start(): Promise<void> {
    await this.#process.start();
    this.#watch = setInterval(() => this.#checkProgress(), WATCH_MS);
    this.#watch.unref();
    this.#checkProgress();
  }

  get lagMs(): number {
    return this.#oldest === undefined ? 0 : performance.now() - this.#oldest.sinceMs;
  }

  get problem(): string | undefined {
    if (this.#isClosed) return "The replica is closed.";
    const { lagMs } = this;
    if (lagMs <= this.#options.lateMs) return undefined;
    const seconds = Math.round(lagMs / 1000);
    const { lastError } = this.#process;
    return `The replica is ${seconds} seconds late.${lastError === undefined ? "" : ` Litestream reported: ${lastError}`}`;
  }

  /** The process, while it runs. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** What is in the bucket, for people; undefined if that is not known yet. */
  get position(): string | undefined {
    return this.#coverage.position;
  }

  async sync(): Promise<void> {
    const target = this.#options.walIndex.read();
    const result = this.#check(target);
    if (result === "covered") return;
    if (result === "gap") this.#renew();
    const { problem } = this;
    if (problem !== undefined) throw unavailable(problem);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#waiters = this.#waiters.filter((waiter) => waiter.timer !== timer);
      reject(unavailable(this.problem ?? "The replica did not receive the change in time."));
    }, SYNC_MS_MAX);
    this.#waiters.push({ target, resolve, reject, timer });
    this.#notePending(target);
    return promise;
  }

  /**
   * Call it after the database was closed: Litestream then was the last to hold the log open, and leaves it in place. If
   * the database removed the log, Litestream would have to send the whole database again after the next start.
   */
  async close(): Promise<boolean> {
    clearInterval(this.#watch);
    clearTimeout(this.#nudge);
    this.#isClosed = true;
    // At its end, Litestream sends what is left.
    await this.#process.stop(CLOSE_MS_MAX);
    for (const { reject, timer } of this.#waiters.splice(0)) {
      clearTimeout(timer);
      reject(unavailable("The server is stopping."));
    }
    return this.#check(this.#options.walIndex.read()) === "covered";
  }

  #noteLine(line: LogLine): void {
    this.#lineAtMs = performance.now();
    const message = line["msg"];
    if (message === "write snapshot") this.#sending = "snapshot";
    else if (message === "write wal segment") this.#sending = "segment";
    else this.#sending = "nothing";
    if (message !== "wal segment written") return;
    this.#nudgeMs = this.#options.nudgeMs;
    const segment = parseSegment(line);
    const now = this.#options.walIndex.read();
    if (segment === undefined || this.#coverage.note(segment, now.pageBytes) === "gap") {
      this.#renew();
      return;
    }
    this.#process.noteSuccess();
    if (segment.generation === this.#marked) this.#settle(now);
    else void this.#markGeneration(segment.generation);
  }

  /** Names the generation in the bucket; tries until it succeeds or another one begins. */
  async #markGeneration(generation: string): Promise<void> {
    if (this.#marking === generation) return;
    this.#marking = generation;
    for (let failures = 1; this.#marking === generation && !this.#isClosed; failures++) {
      try {
        await this.#options.markGeneration(generation);
        if (this.#marking !== generation) return;
        this.#marked = generation;
        this.#settle(this.#options.walIndex.read());
        return;
      } catch (error) {
        this.#options.log.warn("Could not name the current generation in the bucket; will retry.", { error });
        await Bun.sleep(backoffMs(failures, MARK_BACKOFF));
      }
    }
  }

  #check(target: WalPosition): CoverageResult {
    const result = this.#coverage.check(target);
    return result === "covered" && this.#coverage.generation !== this.#marked ? "pending" : result;
  }

  /** Confirms what is in the bucket now. */
  #settle(now: WalPosition): void {
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      const result = this.#checkOrMove(waiter, now);
      if (result === "gap") return this.#renew();
      if (result !== "covered") waiting.push(waiter);
      else {
        clearTimeout(waiter.timer);
        waiter.resolve();
      }
    }
    this.#waiters = waiting;
    if (this.#oldest !== undefined && this.#checkOrMove(this.#oldest, now) === "covered") this.#noteCovered(now);
  }

  /** Checks a position. One in a log that is not known any more is replaced by the present one, which includes it. */
  #checkOrMove(waiting: { target: WalPosition }, now: WalPosition) {
    const result = this.#check(waiting.target);
    if (result !== "unknown") return result;
    waiting.target = now;
    return this.#check(now);
  }

  #noteCovered(now: WalPosition): void {
    this.#oldest = undefined;
    if (this.#check(now) !== "covered") this.#notePending(now);
  }

  #notePending(target: WalPosition): void {
    this.#oldest ??= { target, sinceMs: performance.now() };
    if (!this.#isClosed) this.#nudge ??= setTimeout(() => void this.#nudgeNow(), this.#nudgeMs);
  }

  /**
   * Commits something if Litestream does not send what waits. It overlooks a commit that is made while it looks for
   * changes, and does not repeat what failed, until there is another change.
   */
  async #nudgeNow(): Promise<void> {
    if (this.#oldest !== undefined && this.#sending === "nothing" && this.#process.isRunning) {
      this.#nudgeMs = Math.min(NUDGE_MS_MAX, 2 * this.#nudgeMs);
      await this.#options.commitMark().catch((error: unknown) => {
        this.#options.log.debug("Could not commit a change for the replica.", { error });
      });
    }
    this.#nudge = undefined;
    if (this.#oldest !== undefined) this.#notePending(this.#oldest.target);
  }

  /** Checks each second whether anything waits to be sent, also of other processes, and whether Litestream hangs. */
  #checkProgress(): void {
    const now = this.#options.walIndex.read();
    const result = this.#check(now);
    if (result === "gap") return this.#renew();
    if (result === "covered") this.#oldest = undefined;
    else this.#notePending(now);
    if (this.#checks++ % CHECKS_PER_STATUS === 0) this.#publish();
    const isSnapshot = this.#sending === "snapshot";
    const bytes = isSnapshot ? this.#options.databaseBytes() : this.#coverage.pendingBytes(now);
    const isSilent = performance.now() - this.#lineAtMs > SILENCE_MS_MAX + bytes / SLOWEST_BYTES_PER_MS;
    if (this.#oldest === undefined || !isSilent || !this.#process.isRunning) return;
    this.#options.log.warn("Litestream hangs; restarting it.");
    this.#lineAtMs = performance.now();
    this.#process.kill();
  }

  #publish(): void {
    const { position = null, lagMs, problem = null } = this;
    try {
      this.#options.onStatus({ position, lagMs: Math.round(lagMs), problem });
    } catch (error) {
      this.#options.log.debug("Could not publish the state of the replica.", { error });
    }
  }

  /** Begins a new generation with a copy of the whole database, because this one lacks a commit. */
  #renew(): void {
    this.#options.log.error("The replica lacks changes; sending the whole database again.", {
      position: this.position,
    });
    this.#process.kill();
    this.#forgetGeneration();
  }

  #forgetGeneration(): void {
    this.#coverage.reset();
    this.#marking = undefined;
    this.#options.shadow.forgetGeneration();
  }
}

/** @param message what is wrong, for the operator: clients must not see the text of Litestream */
function unavailable(message: string): AppError {
  return notConfirmed(new Error(message));
}

function parseSegment({ position, sz }: LogLine): WrittenSegment | undefined {
  const [, generation, index, offset] = POSITION.exec(typeof position === "string" ? position : "") ?? [];
  if (generation === undefined || index === undefined || typeof sz !== "number") return undefined;
  return { generation, index: Number.parseInt(index, 16), offset: Number(offset), bytes: sz };
}
