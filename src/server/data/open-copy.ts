/**
 * Opens a copy of a data directory. In a copy that was made while a server ran, the database and its log are from
 * different moments. But its snapshots are intact, and so are its blobs: they never change, and are stored for longer
 * than any snapshot that refers to them. So a copy starts from the newest intact snapshot whose blobs are all present,
 * such as one that was taken before the copying began. The copied database is moved to `set-aside/`.
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
import { syncPath } from "../../lib/sync-path.ts";
import { beginNodeEpoch } from "../../tree/tables/node-epochs.ts";
import type { DataPaths } from "./data-directory.ts";
import type { CloseState } from "./run-mark.ts";

/** A blob that a database refers to and that is missing in the store. */
interface MissingBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Names of some files with this content, now or earlier. */
  readonly names: readonly string[];
}

/** The snapshot from which a directory starts. */
interface ChosenSnapshot {
  readonly snapshot: Snapshot;
  /** Missing blobs that it refers to, at most {@link MISSING_MAX}. */
  readonly missing: readonly MissingBlob[];
}

/** How many missing blobs are listed. */
export const MISSING_MAX = 1_000;
/** How much older than the newest snapshot the chosen one may be. */
const LOOK_BACK_MS = 48 * 60 * 60 * 1000;
const NAMES_MAX = 5;
/** Files that SQLite writes next to a database, and would apply to another database of the same name. */
const LOG_SUFFIXES = ["-wal", "-journal", "-shm"];

/**
 * The newest intact snapshot whose blobs are all present. The newest snapshots may refer to blobs that were stored
 * during the copying and are missing in the copy. Then an older one is chosen: the one with the fewest missing blobs,
 * at most two days older. Blobs that all snapshots miss were lost earlier; they are no reason to choose an older
 * snapshot.
 * @returns undefined if no snapshot is intact
 */
export function chooseSnapshot(paths: Pick<DataPaths, "root" | "snapshots">): ChosenSnapshot | undefined {
  let best: ChosenSnapshot | undefined;
  let newestMs = Number.POSITIVE_INFINITY;
  for (const snapshot of listSnapshots(paths.snapshots)) {
    if (best !== undefined && snapshot.takenAtMs < newestMs - LOOK_BACK_MS) break;
    if (best !== undefined && countReferenced(snapshot.path, best.missing) >= best.missing.length) continue;
    if (!isWhole(snapshot.path)) continue;
    const missing = findMissing(snapshot.path, paths.root);
    if (missing.length === 0) return { snapshot, missing };
    if (best === undefined) newestMs = snapshot.takenAtMs;
    if (best === undefined || missing.length < best.missing.length) best = { snapshot, missing };
  }
  return best;
}

/** How many of these blobs a snapshot refers to: it misses at least as many. All of them if it can't be read. Fast. */
function countReferenced(snapshotPath: string, blobs: readonly MissingBlob[]): number {
  try {
    const sqlite = new Database(snapshotPath, { readonly: true, strict: true });
    try {
      const find = sqlite.query<{ one: 1 }, [Uint8Array]>(
        `SELECT 1 AS one FROM blobs b WHERE digest = ?1 AND refs > 0${notInBucket(sqlite)}`,
      );
      return blobs.filter(({ digest }) => find.get(digestToBytes(digest)) !== null).length;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    if (error instanceof SQLiteError) return blobs.length;
    throw error;
  }
}

/**
 * The blobs that a database refers to and that are missing in the store below `root`, or have another length. Blobs in
 * quarantine are not missing: {@link openFromSnapshot} restores them. Changes nothing.
 * @returns at most {@link MISSING_MAX}
 */
export function findMissing(databasePath: string, root: string): MissingBlob[] {
  const sqlite = new Database(databasePath, { readonly: true, strict: true });
  try {
    const layout = new Layout(root);
    const missing: MissingBlob[] = [];
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
 * Restores quarantined blobs that the current database refers to. In a copy whose snapshots were copied before its
 * blobs, the original may have quarantined them in between. Reads each blob first, to check its digest.
 * @returns how many
 */
export function restoreQuarantined(paths: Pick<DataPaths, "root" | "database">): number {
  const layout = new Layout(paths.root);
  const quarantined = fs.existsSync(layout.quarantine) ? fs.readdirSync(layout.quarantine) : [];
  const sqlite = new Database(paths.database, { readonly: true, strict: true });
  try {
    const find = sqlite.query<{ sizeBytes: number }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes FROM blobs WHERE digest = ?1 AND refs > 0",
    );
    let count = 0;
    for (const name of quarantined) {
      const digest = Layout.digestOf(name);
      const referenced = digest && find.get(digestToBytes(digest));
      if (!digest || !referenced) continue;
      const [from, to] = [layout.quarantined(digest), layout.blob(digest)];
      if (isFile(to, referenced.sizeBytes) || digestOf(from) !== digest) continue;
      const [folder, ...above] = layout.foldersOf(digest);
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.renameSync(from, to);
      for (const path of [folder, ...above]) syncPath(path);
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

/** SQL that excludes blobs in a bucket; they are not missing. A database of an earlier version has no such table. */
function notInBucket(sqlite: Database): string {
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'remote_blobs'").get();
  if (known === null) return "";
  return " AND NOT EXISTS (SELECT 1 FROM remote_blobs r WHERE r.digest = b.digest AND r.leaving_at IS NULL)";
}

/**
 * Replaces the database with a snapshot. Moves the former database and its log to `set-aside/`. Only for the process
 * that holds the directory's lock. After a crash at any point it can be repeated.
 * @returns the new path of the former database; undefined if there was none
 */
export function installSnapshot(paths: DataPaths, snapshotPath: string): string | undefined {
  const incoming = `${paths.database}.incoming`;
  fs.rmSync(incoming, { force: true });
  fs.copyFileSync(snapshotPath, incoming, fs.constants.COPYFILE_FICLONE);
  fs.chmodSync(incoming, 0o600);
  syncPath(incoming);
  const aside = setAside(paths);
  fs.renameSync(incoming, paths.database);
  syncPath(paths.root);
  return aside;
}

/** Keys of `meta`: an ID that changes when the database is restored from a snapshot, and the name of that snapshot. */
const EPOCH_KEY = "epoch";
const OPENED_KEY = "opened_from";

/** The epoch of a database, which changes when it is restored from a snapshot; empty if it never was. */
export function readEpoch(sqlite: Database): string {
  return sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(EPOCH_KEY)?.value ?? "";
}

/** Key of `meta`: an ID that changes when a copy of a closed database is opened. */
const COPY_KEY = "copy";

/**
 * Notes that the database is a copy of one that was closed properly. Sync clients may have seen later states of the
 * original. They look into all folders again, and delete nothing that only the original had.
 */
export function noteCopy(sqlite: Database): void {
  const id = randomUUID();
  sqlite
    .transaction(() => {
      sqlite.run("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value", [
        COPY_KEY,
        id,
      ]);
      beginNodeEpoch(sqlite, id);
    })
    .immediate();
}

/** The epoch of what sync clients store: changes with {@link readEpoch}, and with each {@link noteCopy}. */
export function readClientEpoch(sqlite: Database): string {
  const find = sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1");
  return readEpoch(sqlite) + (find.get(COPY_KEY)?.value ?? "");
}

/** When a database was last restored from a snapshot; undefined if it never was. */
export function readRestoredAt(sqlite: Database): number | undefined {
  const row = sqlite
    .query<{ at: number | null }, [string]>("SELECT value ->> '$.at' AS at FROM meta WHERE key = ?1")
    .get(OPENED_KEY);
  return row?.at ?? undefined;
}

/**
 * Prepares a database from a snapshot for use, after its upgrade. Sync tokens that were issued after the snapshot
 * become invalid. Clients must send unfinished uploads again, because the files in uploads/ are from another moment.
 */
export function prepareRestored(sqlite: Database, snapshotName: string, nowMs: number): void {
  sqlite
    .transaction(() => {
      const note = sqlite.query<void, [string, string]>(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
      );
      const epoch = randomUUID();
      note.run(EPOCH_KEY, epoch);
      beginNodeEpoch(sqlite, epoch);
      note.run(OPENED_KEY, JSON.stringify({ snapshot: snapshotName, at: nowMs }));
      sqlite.run("DELETE FROM upload_chunks");
      sqlite.run(
        "UPDATE tus_uploads SET offset_bytes = 0 WHERE upload_id IN (SELECT id FROM uploads WHERE ended_at IS NULL)",
      );
    })
    .immediate();
}

/**
 * Prepares a copy or a backup for its start: chooses a snapshot and installs it. Does nothing if the directory's own
 * database can be opened.
 * @returns the snapshot, for {@link prepareRestored}; undefined if there was nothing to do
 * @throws StartupError if no snapshot is intact
 */
export function openFromSnapshot(paths: DataPaths, state: CloseState, log: Log): ChosenSnapshot | undefined {
  if (state === "whole" || state === "absent") return undefined;
  const what = state === "backup" ? "a backup" : "a copy taken while a server was running";
  log.info(`This directory is ${what}. Looking for the newest intact snapshot whose blobs are all present.`);
  const chosen = chooseSnapshot(paths);
  if (chosen === undefined) throw noSnapshotError(paths, state);
  const aside = installSnapshot(paths, chosen.snapshot.path);
  const broughtBack = restoreQuarantined(paths);
  log.warn("Starting from a snapshot of the database.", {
    snapshot: chosen.snapshot.name,
    takenAt: toTimestamp(chosen.snapshot.takenAtMs),
    ...(aside !== undefined && { formerDatabase: aside }),
    ...(broughtBack > 0 && { broughtBack }),
  });
  logMissing(chosen.missing, log);
  return chosen;
}

/** Logs the missing blobs with the names of their files. */
function logMissing(missing: readonly MissingBlob[], log: Log): void {
  if (missing.length === 0) return;
  const count = missing.length === MISSING_MAX ? `${MISSING_MAX} or more` : String(missing.length);
  log.error(
    `Blobs are missing: ${count}. Their files are listed but cannot be read. To restore the blobs: ` +
      "larder heal --from COPY",
  );
  for (const { digest, sizeBytes, names } of missing)
    log.error("A blob is missing.", { names, sizeBytes, checksum: toChecksum(digest) });
}

/** Moves the database and its log away. The log goes first: SQLite must never apply it to another database. */
function setAside(paths: DataPaths): string | undefined {
  const logs = LOG_SUFFIXES.filter((suffix) => fs.existsSync(paths.database + suffix));
  const hasDatabase = fs.existsSync(paths.database);
  if (!hasDatabase && logs.length === 0) return undefined;
  const folder = join(paths.setAside, new Date().toISOString().replaceAll(/[:.]/g, "-"));
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const target = join(folder, "larder.db");
  if (hasDatabase) linkOrCopy(paths.database, target);
  for (const suffix of logs) fs.renameSync(paths.database + suffix, target + suffix);
  for (const path of [folder, paths.setAside, paths.root]) syncPath(path);
  return hasDatabase ? target : undefined;
}

function linkOrCopy(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    // The file system has no hard links.
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
    syncPath(to);
  }
}

function noSnapshotError(paths: DataPaths, state: CloseState): StartupError {
  const what =
    state === "backup"
      ? `${paths.root} is a backup without an intact snapshot.`
      : `${paths.root} is a copy taken while a server was running, and it has no intact snapshot.`;
  return new StartupError(
    `${what} Nothing was changed. Do one of the following:\n` +
      "  Copy it again from the original, for example with: larder backup DIR\n" +
      "  If no server was running during the copy, for example after a crash, use its database:\n" +
      `    larder restore --database ${paths.database} --data ${paths.root}`,
  );
}
