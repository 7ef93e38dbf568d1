/**
 * Opening a copy of a data directory. Whoever copies a directory from under a running server gets a database
 * and a log of different moments, but whole snapshots of the database, and contents, which never change and stay in the
 * store for longer than any snapshot that names them. So a copy begins from the newest snapshot that is all there, with
 * all contents that it names: one that was taken before the copying began is. What could not be trusted is kept aside.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { type Digest, digestFromBytes, digestToBytes, toChecksum } from "../../blobs/digest.ts";
import { Layout } from "../../blobs/layout.ts";
import { StartupError } from "../../config/startup-error.ts";
import { digestOf, isWhole, listSnapshots, type Snapshot } from "../../db/snapshot.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { type DataPaths, syncDirectory } from "./data-directory.ts";
import type { Left } from "./run-mark.ts";

/** A content that a database names and that is not in the store. */
export interface MissingContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Names of files that are or were it, some of them. */
  readonly names: readonly string[];
}

/** The snapshot from which a directory begins. */
export interface Chosen {
  readonly snapshot: Snapshot;
  /** What it names and the store has not; at most {@link MISSING_MAX} of them. */
  readonly missing: readonly MissingContent[];
}

/** How many missing contents are told by name. */
export const MISSING_MAX = 1_000;
/** How far behind the newest snapshot an older one may lie that is taken because it misses nothing. */
const LOOK_BACK_MS = 48 * 60 * 60 * 1000;
const NAMES_MAX = 5;
/** What SQLite keeps beside a database and would carry over into another one of its name. */
const LOG_SUFFIXES = ["-wal", "-journal", "-shm"];

/**
 * The newest whole snapshot of which every content is there. Where the newest ones name contents that the copying missed
 * (they came while it ran), an older one is taken that misses the fewest, of two days before at most. What all of them
 * miss is told: old losses must not throw everything else back.
 * @returns undefined where no snapshot is whole
 */
export function chooseSnapshot(paths: Pick<DataPaths, "root" | "snapshots">): Chosen | undefined {
  let best: Chosen | undefined;
  let newestMs = Number.POSITIVE_INFINITY;
  for (const snapshot of listSnapshots(paths.snapshots)) {
    if (best !== undefined && snapshot.takenAtMs < newestMs - LOOK_BACK_MS) break;
    if (best !== undefined && countNamed(snapshot.path, best.missing) >= best.missing.length) continue;
    if (!isWhole(snapshot.path)) continue;
    const missing = findMissing(snapshot.path, paths.root);
    if (missing.length === 0) return { snapshot, missing };
    if (best === undefined) newestMs = snapshot.takenAtMs;
    if (best === undefined || missing.length < best.missing.length) best = { snapshot, missing };
  }
  return best;
}

/** How many of these contents a snapshot names, which it can't miss fewer than; all where it can't be read. Quick. */
function countNamed(snapshotPath: string, contents: readonly MissingContent[]): number {
  try {
    const sqlite = new Database(snapshotPath, { readonly: true, strict: true });
    try {
      const find = sqlite.query<{ one: 1 }, [Uint8Array]>(
        `SELECT 1 AS one FROM blobs b WHERE digest = ?1 AND refs > 0${notInBucket(sqlite)}`,
      );
      return contents.filter(({ digest }) => find.get(digestToBytes(digest)) !== null).length;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    if (error instanceof SQLiteError) return contents.length;
    throw error;
  }
}

/**
 * What a database names and the store below `root` has not, or has in another length. What the collector had set aside is
 * there: {@link openFromSnapshot} brings it back. The database is opened for reading only, and nothing is changed.
 * @returns at most {@link MISSING_MAX}
 */
export function findMissing(databasePath: string, root: string): MissingContent[] {
  const sqlite = new Database(databasePath, { readonly: true, strict: true });
  try {
    const layout = new Layout(root);
    const missing: MissingContent[] = [];
    const rows = sqlite.query<{ id: number; digest: Uint8Array; sizeBytes: number }, []>(
      `SELECT id, digest, size_bytes AS sizeBytes FROM blobs b WHERE refs > 0${notInBucket(sqlite)}`,
    );
    const names = sqlite.query<{ name: string }, [number, number]>(
      `SELECT name FROM nodes WHERE blob_id = ?1 UNION
       SELECT n.name FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.blob_id = ?1 LIMIT ?2`,
    );
    for (const row of rows.iterate()) {
      const digest = digestFromBytes(row.digest);
      const { id, sizeBytes } = row;
      if (isFile(layout.blob(digest), sizeBytes) || isFile(layout.quarantined(digest), sizeBytes)) continue;
      missing.push({ digest, sizeBytes, names: names.all(id, NAMES_MAX).map(({ name }) => name) });
      if (missing.length === MISSING_MAX) break;
    }
    return missing;
  } finally {
    sqlite.close();
  }
}

/**
 * Brings contents back into the store that the present database names and that the collector had set aside: in a copy
 * whose snapshots were copied before its contents, and of which the original has let go meanwhile. Each is read first.
 * @returns how many
 */
export function bringBack(paths: Pick<DataPaths, "root" | "database">): number {
  const layout = new Layout(paths.root);
  const aside = fs.existsSync(layout.quarantine) ? fs.readdirSync(layout.quarantine) : [];
  const sqlite = new Database(paths.database, { readonly: true, strict: true });
  try {
    const find = sqlite.query<{ sizeBytes: number }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes FROM blobs WHERE digest = ?1 AND refs > 0",
    );
    let count = 0;
    for (const name of aside) {
      const digest = Layout.digestOf(name);
      const named = digest && find.get(digestToBytes(digest));
      if (!digest || !named) continue;
      const [from, to] = [layout.quarantined(digest), layout.blob(digest)];
      if (isFile(to, named.sizeBytes) || digestOf(from) !== digest) continue;
      const [folder, ...above] = layout.foldersOf(digest);
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.renameSync(from, to);
      for (const place of [folder, ...above]) syncDirectory(place);
      count++;
    }
    return count;
  } finally {
    sqlite.close();
  }
}

function isFile(path: string, sizeBytes: number): boolean {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === sizeBytes;
}

/** What lies in a bucket as well is missed by nobody. A database of an earlier version knows none. */
function notInBucket(sqlite: Database): string {
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'remote_blobs'").get();
  if (known === null) return "";
  return " AND NOT EXISTS (SELECT 1 FROM remote_blobs r WHERE r.digest = b.digest AND r.leaving_at IS NULL)";
}

/**
 * Puts a snapshot in the place of the database. What was there is kept in `set-aside/`, its log with it. To be called by
 * the one process that holds the directory's lock; may be ended at any point and done again.
 * @returns where the former database lies now; undefined where there was none
 */
export function installSnapshot(paths: DataPaths, snapshotPath: string): string | undefined {
  const incoming = `${paths.database}.incoming`;
  fs.rmSync(incoming, { force: true });
  fs.copyFileSync(snapshotPath, incoming, fs.constants.COPYFILE_FICLONE);
  fs.chmodSync(incoming, 0o600);
  syncFile(incoming);
  const aside = setAside(paths);
  fs.renameSync(incoming, paths.database);
  syncDirectory(paths.root);
  return aside;
}

/** Keys of `meta`: changed whenever a database goes on from a snapshot; and from which. */
const EPOCH_KEY = "epoch";
const OPENED_KEY = "opened_from";

/** What tells a database that went on from a snapshot from itself before; empty for one that never did. */
export function readEpoch(sqlite: Database): string {
  return sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(EPOCH_KEY)?.value ?? "";
}

/** When a database last went on from a snapshot; undefined for one that never did. */
export function readPutBackAt(sqlite: Database): number | undefined {
  const row = sqlite
    .query<{ at: number | null }, [string]>("SELECT value ->> '$.at' AS at FROM meta WHERE key = ?1")
    .get(OPENED_KEY);
  return row?.at ?? undefined;
}

/**
 * Makes a database that was just taken from a snapshot fit to go on, after it was brought up to date: sync tokens that
 * were given out since the snapshot mean nothing here, and what arrived of unfinished uploads must be sent again, because
 * their files are of another moment.
 */
export function settleRestored(sqlite: Database, snapshotName: string, nowMs: number): void {
  sqlite
    .transaction(() => {
      const note = sqlite.query<void, [string, string]>(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
      );
      note.run(EPOCH_KEY, randomUUID());
      note.run(OPENED_KEY, JSON.stringify({ snapshot: snapshotName, at: nowMs }));
      sqlite.run("DELETE FROM upload_chunks");
      sqlite.run(
        "UPDATE tus_uploads SET offset_bytes = 0 WHERE upload_id IN (SELECT id FROM uploads WHERE ended_at IS NULL)",
      );
    })
    .immediate();
}

/**
 * Makes a copy or a backup openable: chooses a snapshot and puts it in place. Nothing is done in a directory whose own
 * database can be opened.
 * @returns what it begins from, for {@link settleRestored}; undefined where nothing was to be done
 * @throws StartupError where no snapshot is whole
 */
export function openFromSnapshot(paths: DataPaths, left: Left, log: Log): Chosen | undefined {
  if (left === "whole" || left === "absent") return undefined;
  const what = left === "backup" ? "a backup" : "a copy taken while a server was running";
  log.info(`This directory is ${what}. Looking for the newest intact snapshot whose blobs are all present.`);
  const chosen = chooseSnapshot(paths);
  if (chosen === undefined) throw withoutSnapshot(paths, left);
  const aside = installSnapshot(paths, chosen.snapshot.path);
  const broughtBack = bringBack(paths);
  log.warn("Starting from a snapshot of the database.", {
    snapshot: chosen.snapshot.name,
    takenAt: toTimestamp(chosen.snapshot.takenAtMs),
    ...(aside !== undefined && { formerDatabase: aside }),
    ...(broughtBack > 0 && { broughtBack }),
  });
  logMissing(chosen.missing, log);
  return chosen;
}

/** Says in the log what is not there, by name. */
export function logMissing(missing: readonly MissingContent[], log: Log): void {
  if (missing.length === 0) return;
  const count = missing.length === MISSING_MAX ? `${MISSING_MAX} or more` : String(missing.length);
  log.error(
    `Blobs are missing: ${count}. Their files are listed but cannot be read. To restore the blobs: ` +
      "larder heal --from COPY",
  );
  for (const { digest, sizeBytes, names } of missing)
    log.error("A blob is missing.", { names, sizeBytes, checksum: toChecksum(digest) });
}

/** Moves database and log out of the way; the log first, because it must never meet another database. */
function setAside(paths: DataPaths): string | undefined {
  const logs = LOG_SUFFIXES.filter((suffix) => fs.existsSync(paths.database + suffix));
  const hasDatabase = fs.existsSync(paths.database);
  if (!hasDatabase && logs.length === 0) return undefined;
  const folder = join(paths.setAside, new Date().toISOString().replaceAll(/[:.]/g, "-"));
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = join(folder, "larder.db");
  if (hasDatabase) linkOrCopy(paths.database, kept);
  for (const suffix of logs) fs.renameSync(paths.database + suffix, kept + suffix);
  for (const place of [folder, paths.setAside, paths.root]) syncDirectory(place);
  return hasDatabase ? kept : undefined;
}

function linkOrCopy(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    // A file system without second names.
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
    syncFile(to);
  }
}

function withoutSnapshot(paths: DataPaths, left: Left): StartupError {
  const what =
    left === "backup"
      ? `${paths.root} is a backup without an intact snapshot.`
      : `${paths.root} is a copy taken while a server was running, and it has no intact snapshot.`;
  return new StartupError(
    `${what} Nothing was changed. Do one of the following:\n` +
      "  Copy it again from the original, for example with: larder backup DIR\n" +
      "  If no server was running during the copy, for example after a crash, use its database:\n" +
      `    larder restore --database ${paths.database} --data ${paths.root}`,
  );
}

function syncFile(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
