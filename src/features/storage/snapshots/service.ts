/**
 * Copies of the database, taken while the server runs: what makes a copy of the data directory a backup (contract §9).
 * One is taken some time after a change, never where nothing changed, and old ones are thinned out. Contents that a kept
 * one names stay in the store: the collector asks here.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { digestToBytes } from "../../../blobs/digest.ts";
import { openReadOnly } from "../../../db/open.ts";
import { listSnapshots, removeSnapshot, type Snapshot, sweepPartials } from "../../../db/snapshot.ts";
import { takeSnapshotAside } from "../../../db/snapshot-taker.ts";
import { isDamage, type Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import { restMs, urgentRestMs } from "./pace.ts";
import { chooseSuperfluous } from "./thinning.ts";

/** What {@link Snapshots} works with. */
export interface SnapshotsOptions {
  readonly sqlite: Database;
  readonly databasePath: string;
  readonly folder: string;
  readonly writer: Pick<Writer, "changes" | "isDamaged" | "noteDamage">;
  readonly clock: Clock;
  readonly log: Log;
  /** How long after a change one is taken at the latest. */
  readonly everyMs: number;
  /** Older ones are removed. */
  readonly keepMs: number;
  /** Room that other users of the disk still have, in bytes. */
  readonly availableBytes: () => number;
  /** Another text each time that something changed which a copy must have at once: accounts and passwords. */
  readonly urgentMark: () => string;
}

/** Of the pages of one kept snapshot, in memory while the collector asks: all together a few megabytes. */
const CACHE_KIB = 256;
const SNAPSHOTS_MAX = 40;
/** Thinned out in one go, so that few vanish under a tool that copies the folder. */
const PRE_MIGRATION_SNAPSHOTS_MAX = 60;
/** All snapshots together may take so many times the database, and this much in any case. */
const KEPT_TIMES = 12;
const SNAPSHOT_BYTES_MIN = 512 * 1024 * 1024;
/** Free room is not used up by snapshots: so many times the database must be left after one. */
const ROOM_TIMES = 2;

/** What the writer and the database say. */
interface Seen {
  readonly changes: number;
  readonly version: number;
  readonly urgent: string;
}

/** See the head of this file. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #dataVersion;
  /** What the writer and the database said when the newest snapshot was begun; undefined before the first of this run. */
  #seen: Seen | undefined;
  /** What the clock said then. */
  #begunAtMs = Number.POSITIVE_INFINITY;
  #taking: Promise<Snapshot> | undefined;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#dataVersion = options.sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  }

  /** The snapshots that are kept, newest first. */
  list(): Snapshot[] {
    return listSnapshots(this.#options.folder);
  }

  /**
   * Takes one where something has changed since the last and it is time for another, then thins out. A large database is
   * copied less often than a small one.
   * @returns the new one; undefined where none was due
   * @throws Error where it could not be taken; those before stay
   */
  takeWhenDue(): Promise<Snapshot | undefined> {
    return this.#alone(async () => (this.isDue() ? this.#take("scheduled") : undefined));
  }

  /** Whether something has changed since the newest and it is time for another, or there is none; none is being taken. */
  isDue(): boolean {
    if (this.#taking !== undefined) return false;
    const [newest] = this.list();
    return newest === undefined || (this.#hasChanged() && this.#isTime(newest));
  }

  /** At a clean stop: takes one where something has changed. A failure is logged alone: the database itself is whole. */
  async takeAtStop(): Promise<void> {
    const { writer, log } = this.#options;
    try {
      await this.#alone(async () => (!writer.isDamaged && this.#hasChanged() ? this.#take("stop") : undefined));
    } catch (error) {
      log.warn("Could not take a snapshot of the database at shutdown; earlier snapshots are unchanged.", { error });
    }
  }

  /** Takes one now, whether or not anything changed. @param label why: small letters and hyphens */
  take(label: string): Promise<Snapshot> {
    return this.#alone(() => this.#take(label));
  }

  /** Does `work` while no snapshot is taken or removed. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work);
  }

  /** Removes all but the newest, for an operator who needs the room that they hold. Within {@link whileStill}. */
  removeOlder(): number {
    const [, ...older] = this.list();
    for (const snapshot of older) removeSnapshot(snapshot);
    return older.length;
  }

  /** As {@link openSnapshotReferences}, with the one that is being taken now, if any: it names what is let go meanwhile. */
  async openSnapshotReferencesSoon(): Promise<SnapshotReferences> {
    // Whether it fails is told to whoever takes it.
    await Promise.allSettled([this.#taking]);
    return this.openSnapshotReferences();
  }

  /** Opens the kept snapshots for the collector. One that can't be read counts as naming everything. */
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
    // A clock that was set back must neither put it off until it gets there again, nor have one taken each time.
    const sinceMs = nowMs - (takenAtMs <= nowMs ? takenAtMs : this.#begunAtMs);
    return sinceMs < 0 || sinceMs >= waitMs;
  }

  async #take(label: string): Promise<Snapshot> {
    const { databasePath, folder, clock, log, writer } = this.#options;
    if (writer.isDamaged)
      throw new Error("The database is damaged, so no snapshot was taken. Earlier snapshots are kept.");
    sweepPartials(folder);
    this.#thin();
    this.#requireRoom();
    const seen = { ...this.#now(), urgent: this.#options.urgentMark() };
    // Their order is that of their names, whatever the clock does: the newest is what a copy begins from.
    const begunAtMs = clock.nowMs();
    const nowMs = Math.max(begunAtMs, (this.list()[0]?.takenAtMs ?? 0) + 1);
    this.#taking = takeSnapshotAside({ database: databasePath, folder, label, nowMs });
    const snapshot = await this.#taking
      .catch((error: unknown) => {
        // Every table is read for it, so it is here that damage may show first.
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

  /** A snapshot must never be what fills the disk. */
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
      maxBytes: Math.max(SNAPSHOT_BYTES_MIN, statSync(databasePath).size * KEPT_TIMES),
      maxCount: this.list().length > PRE_MIGRATION_SNAPSHOTS_MAX ? SNAPSHOTS_MAX : PRE_MIGRATION_SNAPSHOTS_MAX,
    };
    for (const snapshot of chooseSuperfluous(this.list(), clock.nowMs(), keeping)) removeSnapshot(snapshot);
  }

  #now(): Omit<Seen, "urgent"> {
    return { changes: this.#options.writer.changes, version: this.#dataVersion.get()?.data_version ?? 0 };
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#working.then(work);
    this.#working = result.catch(() => undefined);
    return result;
  }
}

/** Which contents one snapshot names. One that can't be read, from the start or at a page, names everything. */
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
