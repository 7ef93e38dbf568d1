/**
 * Snapshots: copies of the database that are taken while the server runs. They make a copy of the data directory a
 * backup. A snapshot is taken some time after a change, and old ones are thinned out. Garbage collection retains blobs
 * that a stored snapshot names.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { digestToBytes } from "../../../blobs/digest.ts";
import { openReadOnly } from "../../../db/open.ts";
import { listSnapshots, removeSnapshot, type Snapshot, sweepPartials } from "../../../db/snapshot.ts";
import { takeSnapshotAside } from "../../../db/snapshot-thread.ts";
import { isDamage, type Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import { restMs, urgentRestMs } from "./pace.ts";
import { chooseSuperfluous } from "./thinning.ts";

/** Dependencies of {@link Snapshots}. */
interface SnapshotsOptions {
  readonly sqlite: Database;
  readonly databasePath: string;
  readonly folder: string;
  readonly writer: Pick<Writer, "changes" | "isDamaged" | "noteDamage">;
  readonly clock: Clock;
  readonly log: Log;
  /** Longest time between a change and a snapshot. */
  readonly everyMs: number;
  /** Older snapshots are deleted. */
  readonly keepMs: number;
  /** Free disk space in bytes. */
  readonly availableBytes: () => number;
  /** Changes with each change that needs a snapshot soon: of accounts and passwords. */
  readonly urgentMark: () => string;
}

/** Page cache of one snapshot during garbage collection; a few megabytes for all snapshots. */
const CACHE_KIB = 256;
/** More snapshots than this are thinned out together, so that few vanish while a tool copies the folder. */
const THIN_ABOVE = 60;
const SNAPSHOTS_AFTER_THINNING = 40;
/** Limit for all snapshots together, as a multiple of the database, but at least the minimum. */
const TOTAL_TIMES = 12;
const SNAPSHOT_BYTES_MIN = 512 * 1024 * 1024;
/** Pause after a failure, because of a full disk or a damaged database: retries each second would fill the log. */
const FAILURE_REST_MS = 15_000;
/** Free space that a snapshot needs, as a multiple of the database. */
const ROOM_TIMES = 2;

/** The state of the database, as far as snapshots compare it. */
interface DatabaseState {
  readonly changes: number;
  readonly version: number;
  readonly urgent: string;
}

/** Takes and deletes snapshots. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #dataVersion;
  /** The state when the newest snapshot was begun; undefined before the first one of this process. */
  #seen: DatabaseState | undefined;
  /** The time of that state. */
  #begunAtMs = Number.POSITIVE_INFINITY;
  /** When the last attempt failed; undefined if it succeeded. */
  #failedAtMs: number | undefined;
  #taking: Promise<Snapshot> | undefined;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#dataVersion = options.sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  }

  /** The stored snapshots, newest first. */
  list(): Snapshot[] {
    return listSnapshots(this.#options.folder);
  }

  /**
   * Takes a snapshot if one is due, then thins out. A large database is copied less often than a small one.
   * @returns the new snapshot; undefined if none was due
   * @throws Error if it could not be taken; earlier snapshots stay
   */
  takeWhenDue(): Promise<Snapshot | undefined> {
    return this.#alone(async () => (this.#isNeeded() ? this.#take("scheduled") : undefined));
  }

  /**
   * Whether the database has changed and the interval has passed, or there is no snapshot. False while one is taken, and
   * shortly after a failure.
   */
  isDue(): boolean {
    const sinceFailureMs = this.#options.clock.nowMs() - (this.#failedAtMs ?? Number.NEGATIVE_INFINITY);
    // After the clock was set back, the next attempt is made at once.
    const isResting = sinceFailureMs >= 0 && sinceFailureMs < FAILURE_REST_MS;
    return !isResting && this.#isNeeded();
  }

  #isNeeded(): boolean {
    if (this.#taking !== undefined) return false;
    const [newest] = this.list();
    return newest === undefined || (this.#hasChanged() && this.#isTime(newest));
  }

  /** Takes a snapshot at a clean stop, if the database has changed. A failure is only logged: the database is whole. */
  async takeAtStop(): Promise<void> {
    const { writer, log } = this.#options;
    try {
      await this.#alone(async () => (!writer.isDamaged && this.#hasChanged() ? this.#take("stop") : undefined));
    } catch (error) {
      log.warn("Could not take a snapshot of the database at shutdown; earlier snapshots are unchanged.", { error });
    }
  }

  /** Takes a snapshot now. @param label its reason: lowercase letters and hyphens */
  take(label: string): Promise<Snapshot> {
    return this.#alone(() => this.#take(label));
  }

  /** Runs `work` while no snapshot is taken or deleted. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work);
  }

  /** Deletes all snapshots but the newest, to free disk space. Call within {@link whileStill}. */
  removeOlder(): number {
    const [, ...older] = this.list();
    for (const snapshot of older) removeSnapshot(snapshot);
    return older.length;
  }

  /**
   * Like {@link openSnapshotReferences}, but waits for a snapshot in progress, which may name blobs that are deleted
   * now.
   */
  async openSnapshotReferencesSoon(): Promise<SnapshotReferences> {
    // Its caller handles an error.
    await Promise.allSettled([this.#taking]);
    return this.openSnapshotReferences();
  }

  /** Opens the references of stored snapshots. An unreadable snapshot counts as naming every blob. */
  openSnapshotReferences(): SnapshotReferences {
    const opened = this.list().map((snapshot) => openNamed(snapshot, this.#options.log));
    return {
      has: (digest) => opened.some((snapshot) => snapshot.has(digest)),
      close: () => {
        for (const snapshot of opened) snapshot.close();
      },
    };
  }

  #hasChanged(): boolean {
    const { changes, version } = this.#now();
    return this.#seen === undefined || this.#seen.changes !== changes || this.#seen.version !== version;
  }

  #isTime({ takenAtMs, sizeBytes }: Snapshot): boolean {
    const { clock, everyMs } = this.#options;
    const nowMs = clock.nowMs();
    const isUrgent = this.#seen !== undefined && this.#seen.urgent !== this.#options.urgentMark();
    const waitMs = isUrgent ? urgentRestMs(sizeBytes, everyMs) : restMs(sizeBytes, everyMs);
    // A clock that was set back must neither delay the next snapshot until it catches up, nor cause one each time.
    const sinceMs = nowMs - (takenAtMs <= nowMs ? takenAtMs : this.#begunAtMs);
    return sinceMs < 0 || sinceMs >= waitMs;
  }

  async #take(label: string): Promise<Snapshot> {
    try {
      const snapshot = await this.#attempt(label);
      this.#failedAtMs = undefined;
      return snapshot;
    } catch (error) {
      this.#failedAtMs = this.#options.clock.nowMs();
      throw error;
    }
  }

  async #attempt(label: string): Promise<Snapshot> {
    const { databasePath, folder, clock, log, writer } = this.#options;
    if (writer.isDamaged)
      throw new Error("The database is damaged, so no snapshot was taken. Earlier snapshots are kept.");
    sweepPartials(folder);
    this.#thin();
    this.#requireRoom();
    const seen = { ...this.#now(), urgent: this.#options.urgentMark() };
    // Names must ascend even if the clock goes back: a copy begins with the newest snapshot.
    const begunAtMs = clock.nowMs();
    const nowMs = Math.max(begunAtMs, (this.list()[0]?.takenAtMs ?? 0) + 1);
    this.#taking = takeSnapshotAside({ database: databasePath, folder, label, nowMs });
    const snapshot = await this.#taking
      .catch((error: unknown) => {
        // A snapshot reads every table, so it may be the first to find damage.
        if (isDamage(error)) writer.noteDamage(String(error));
        throw error;
      })
      .finally(() => (this.#taking = undefined));
    this.#seen = seen;
    this.#begunAtMs = begunAtMs;
    this.#thin();
    log.debug("Took a snapshot of the database.", { path: snapshot.path, bytes: snapshot.sizeBytes });
    return snapshot;
  }

  /** A snapshot must never fill the disk. */
  #requireRoom(): void {
    const { databasePath, availableBytes } = this.#options;
    const sizeBytes = statSync(databasePath).size;
    if (availableBytes() < sizeBytes * ROOM_TIMES) {
      throw new Error("Not enough disk space for a snapshot of the database. Free some space.");
    }
  }

  #thin(): void {
    const { clock, keepMs, databasePath } = this.#options;
    const keeping = {
      maxAgeMs: keepMs,
      maxBytes: Math.max(SNAPSHOT_BYTES_MIN, statSync(databasePath).size * TOTAL_TIMES),
      maxCount: this.list().length > THIN_ABOVE ? SNAPSHOTS_AFTER_THINNING : THIN_ABOVE,
    };
    for (const snapshot of chooseSuperfluous(this.list(), clock.nowMs(), keeping)) removeSnapshot(snapshot);
  }

  #now(): Omit<DatabaseState, "urgent"> {
    return { changes: this.#options.writer.changes, version: this.#dataVersion.get()?.data_version ?? 0 };
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#working.then(work);
    this.#working = result.catch(() => undefined);
    return result;
  }
}

/** The references of one snapshot. A snapshot that can't be read, as a whole or at a page, names every blob. */
function openNamed({ path }: Snapshot, log: Log): SnapshotReferences {
  let isReadable = true;
  const giveUp = (error: unknown) => {
    isReadable = false;
    log.error("Cannot read a snapshot; garbage collection is paused. Move the file out of snapshots/.", {
      path,
      error,
    });
  };
  try {
    const db = openReadOnly(path);
    db.sqlite.run(`PRAGMA cache_size=-${CACHE_KIB}`);
    const find = db.sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1 AND refs > 0");
    return {
      has(digest) {
        try {
          return !isReadable || find.get(digestToBytes(digest)) !== null;
        } catch (error) {
          giveUp(error);
          return true;
        }
      },
      close: () => void db.close(),
    };
  } catch (error) {
    giveUp(error);
    return { has: () => true, close: () => {} };
  }
}
