/**
 * Makes backups. A backup is a data directory that can be opened: it has snapshots, blobs and keys, but no database.
 * All blobs that a new snapshot names are copied before the snapshot is added. So an interrupted backup leaves the
 * former one as it was, and the next run continues where it ended.
 */
import { type Database, SQLiteError } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import type { Digest } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { pendingMigrations } from "../../../db/migrate.ts";
import { MIGRATIONS } from "../../../db/migrations.ts";
import { type Db, openReadOnly } from "../../../db/open.ts";
import { digestOf, isWhole, listSnapshots, removeSnapshot, type Snapshot } from "../../../db/snapshot.ts";
import { chooseSuperfluous } from "../snapshots/thinning.ts";
import { copyBlobs } from "./copy-blobs.ts";
import { FIRST_BYTES, isNamed, listStored } from "./contents.ts";
import { copyPrivateFile, copySecrets, writePrivateFile } from "./private-files.ts";
import { syncFolder } from "./blob-copier.ts";
import { planContents, requireRoom } from "./plan.ts";
import { explainTarget } from "./target-errors.ts";
import type { BackupSummary, BackupLocation, Plan, CopyProgress, CopyTotals } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link backUp}. */
interface BackupOptions {
  readonly source: BackupLocation;
  /** Existing, and locked by this process. */
  readonly target: BackupLocation;
  /** Copies the source's database and its digest into a folder. Called again if blobs were deleted in between. */
  readonly takeSnapshot: (folder: string) => Snapshot | Promise<Snapshot>;
  /** Whether another call of `takeSnapshot` returns a later state. */
  readonly isLive: boolean;
  readonly mayLink: boolean;
  /** Fetches a blob from the bucket to the source's disk. @returns whether it is on this disk now */
  readonly fetchContent?: ((digest: Digest) => Promise<boolean>) | undefined;
  /** Number of snapshots that the target retains. */
  readonly keep: number;
  /** Whether blobs are deleted that no snapshot names. */
  readonly prune: boolean;
  /**
   * Whether the target is for one account only. Keys and settings that would let its owner act as other users are left
   * out.
   */
  readonly isOneAccount?: boolean;
  /** Marks the target as a backup; the last step. */
  readonly markBackup: () => void;
  /** Called once, before the first blob is written. */
  readonly onPlan?: ((plan: Plan) => void) | undefined;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly nowMs: number;
}

/** The name of a file that describes the backup to readers. The program does not read it. */
const MANIFEST = "larder-backup.json";
/** Name of the configuration file in a data directory. */
const CONFIG_FILE = "larder.toml";
/** Folder in `snapshots/` of the new snapshot, until all its blobs are copied. */
const INCOMING = ".incoming";
/** Number of new snapshots because blobs were deleted before they were copied. */
const ATTEMPTS_MAX = 5;

/**
 * Makes or updates a backup. Durable on return.
 * @throws StartupError if the target is no backup of this store, or fails: full, missing, read-only. The former backup
 * can be opened as before
 */
export async function backUp(options: BackupOptions): Promise<BackupSummary> {
  const { source, target } = options;
  const startedMs = performance.now();
  requireOwnTarget(target, readMarker(source.storeMarker));
  try {
    const incoming = join(target.snapshots, INCOMING);
    fs.mkdirSync(target.snapshots, { recursive: true, mode: 0o700 });
    const { snapshot, totals, store } = await gather(options, incoming);
    const warnings = options.isOneAccount === true ? copyFactors(source, target) : copyKeys(source, target);
    const added = addSnapshot(snapshot, target.snapshots);
    fs.rmSync(incoming, { recursive: true, force: true });
    const { superfluous, rest } = thin(target.snapshots, options);
    for (const old of superfluous) removeSnapshot(old);
    const { pruned, problems } = options.prune ? prune(target, rest) : { pruned: 0, problems: [] };
    const summary: BackupSummary = {
      target: target.root,
      snapshot: added.name,
      takenAtMs: added.takenAtMs,
      store,
      totals,
      snapshots: rest.length,
      pruned,
      durationMs: performance.now() - startedMs,
      warnings: [...warnings, ...problems],
    };
    writeManifest(target, summary);
    options.markBackup();
    return summary;
  } catch (error) {
    throw explainTarget(error, target.root);
  }
}

/**
 * Rejects a target that is not empty and no backup of this store.
 * @param store of the source; undefined if it has no blobs yet
 * @throws StartupError
 */
export function requireOwnTarget(target: BackupLocation, store: string | undefined): void {
  if (isEmpty(target)) return;
  const marker = readMarker(target.storeMarker);
  if (fs.existsSync(target.database)) {
    throw new StartupError(
      `${target.root} is a data directory that a server has used, not a backup. Nothing was changed. Use another directory.`,
    );
  }
  if (marker === undefined && !fs.existsSync(join(target.root, MANIFEST))) {
    throw new StartupError(
      `${target.root} is not empty and not a Larder backup. Nothing was changed. Use an empty directory or a new subdirectory.`,
    );
  }
  if (marker !== undefined && marker !== store) {
    throw new StartupError(
      `${target.root} is a backup of another server (store ${marker}; this one is ${store ?? "new"}). ` +
        "Nothing was changed. Use another directory.",
    );
  }
}

/** The identity of a store from its marker; undefined if that is missing. */
export function readMarker(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8").trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a directory is empty, or has only the rest of a backup that ended before its first blob. */
export function isEmpty({ root, snapshots }: BackupLocation): boolean {
  const names = fs.readdirSync(root).filter((name) => !IGNORED.test(name));
  if (names.length === 0) return true;
  return names.length === 1 && join(root, names[0] ?? "") === snapshots && listSnapshots(snapshots).length === 0;
}

/** Files that an empty target may have: those of the file system, and the lock. */
const IGNORED = /^(lost\+found|larder\.lock(-journal)?|\.Trash.*|System Volume Information)$/;

/** Takes a snapshot and copies its blobs. Starts again if the source deleted some of them in between. */
async function gather(
  options: BackupOptions,
  incoming: string,
): Promise<{ snapshot: Snapshot; totals: CopyTotals; store: string }> {
  const { source, target, mayLink, isLive, fetchContent, onProgress } = options;
  let before: CopyTotals | undefined;
  for (let attempt = 1; ; attempt++) {
    fs.rmSync(incoming, { recursive: true, force: true });
    fs.mkdirSync(incoming, { mode: 0o700 });
    const snapshot = await options.takeSnapshot(incoming);
    const db = openReadOnly(snapshot.path);
    try {
      requireSchema(db.sqlite, source);
      const store = claim(db.sqlite, source, target);
      const layouts = { source: new Layout(source.root), target: new Layout(target.root) };
      if (before === undefined) {
        const plan = planContents({ sqlite: db.sqlite, ...layouts, mayLink, canFetch: fetchContent !== undefined });
        options.onPlan?.(plan);
        requireRoom(plan, target.root);
      }
      const totals = await copyBlobs({ sqlite: db.sqlite, ...layouts, mayLink, fetchContent, onProgress });
      const whole = before === undefined ? totals : addUp(before, totals);
      const isLost = totals.lost.some(({ why }) => why === "missing");
      // Garbage collection (`larder gc --now`) deleted it: a later state does not name it. Otherwise it is lost.
      const isDone = !isLost || !isLive || attempt === ATTEMPTS_MAX || before?.lost.length === totals.lost.length;
      if (isDone) return { snapshot, totals: whole, store };
      before = whole;
    } finally {
      db.close();
    }
  }
}

/** The totals of several runs; existing and lost blobs are those of the last run. */
function addUp(before: CopyTotals, last: CopyTotals): CopyTotals {
  const copied = before.linked + before.cloned + before.copied;
  return {
    ...last,
    already: Math.max(0, last.already - copied),
    linked: before.linked + last.linked,
    cloned: before.cloned + last.cloned,
    copied: before.copied + last.copied,
    unshared: before.unshared + last.unshared,
    newBytes: before.newBytes + last.newBytes,
  };
}

/** Rejects a database that a starting server has not finished yet. */
function requireSchema(sqlite: Database, source: BackupLocation): void {
  if (pendingMigrations(sqlite).length < MIGRATIONS.length) return;
  throw new StartupError(
    `The database in ${source.root} is still empty. Start the server, wait until it is ready, then run the command again.`,
  );
}

/**
 * Makes sure that database, source and target are of one store, and gives a new target its marker.
 * @returns the store
 */
function claim(sqlite: Database, source: BackupLocation, target: BackupLocation): string {
  const row = sqlite.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'store_id'").get();
  const store = row?.value ?? "";
  const marker = readMarker(source.storeMarker);
  if (store === "" || (marker !== undefined && marker !== store)) {
    throw new StartupError(
      `The database in ${source.root} does not match the stored files. To check: larder doctor --data ${source.root}`,
    );
  }
  fs.mkdirSync(target.blobs, { recursive: true, mode: 0o700 });
  if (readMarker(target.storeMarker) === undefined) {
    writePrivateFile(target.storeMarker, Buffer.from(`${store}\n`));
    syncFolder(target.blobs);
  }
  return store;
}

/** Copies the keys and the configuration. @returns warnings for the operator */
function copyKeys(source: BackupLocation, target: BackupLocation): string[] {
  const config = join(source.root, CONFIG_FILE);
  if (fs.existsSync(config)) copyPrivateFile(config, join(target.root, CONFIG_FILE));
  else fs.rmSync(join(target.root, CONFIG_FILE), { force: true });
  return copySecrets(source.secrets, target.secrets);
}

/** Copies only the key that decrypts the secrets of authenticator apps, so that users of these apps can sign in. */
function copyFactors(source: BackupLocation, target: BackupLocation): string[] {
  const key = join(source.secrets, "factors.json");
  fs.mkdirSync(target.secrets, { recursive: true, mode: 0o700 });
  if (fs.existsSync(key)) copyPrivateFile(key, join(target.secrets, "factors.json"));
  syncFolder(target.secrets);
  return [];
}

/**
 * Adds the new snapshot, digest first, so that no snapshot exists without its digest. If the newest snapshot has the
 * same bytes, nothing has changed, and that one is used.
 */
function addSnapshot(snapshot: Snapshot, folder: string): Snapshot {
  const [newest] = listSnapshots(folder);
  const isSame = newest?.sizeBytes === snapshot.sizeBytes && digestOf(newest.path) === digestOf(snapshot.path);
  if (isSame && isWhole(newest.path)) return newest;
  const path = join(folder, snapshot.name);
  fs.renameSync(`${snapshot.path}.sha256`, `${path}.sha256`);
  fs.renameSync(snapshot.path, path);
  syncFolder(folder);
  return { ...snapshot, path };
}

function thin(folder: string, { keep, nowMs }: BackupOptions): { superfluous: Snapshot[]; rest: Snapshot[] } {
  const all = listSnapshots(folder);
  const bounds = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY, maxCount: keep };
  const superfluous = chooseSuperfluous(all, nowMs, bounds);
  return { superfluous, rest: all.filter((one) => !superfluous.includes(one)) };
}

/**
 * Deletes blobs of the target that none of its snapshots names. Stops if a snapshot can't be read.
 * @returns the number of deleted blobs, and problems for the operator
 */
function prune(target: BackupLocation, snapshots: readonly Snapshot[]): { pruned: number; problems: string[] } {
  const layout = new Layout(target.root);
  const opened: { path: string; db: Db }[] = [];
  let pruned = 0;
  let current = "";
  const isUnused = (digest: Digest) =>
    opened.every(({ path, db }) => {
      current = path;
      return !isNamed(db.sqlite, digest);
    });
  try {
    for (const { path } of snapshots) {
      current = path;
      opened.push({ path, db: openReadOnly(path) });
    }
    for (const firstByte of FIRST_BYTES) {
      for (const digest of listStored(layout, firstByte).values().filter(isUnused)) {
        fs.unlinkSync(layout.blob(digest));
        pruned++;
      }
    }
    return { pruned, problems: [] };
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    const problem = `Cannot read snapshot ${current} (${error.message}), so no more blobs were removed. Move it to another place.`;
    return { pruned, problems: [problem] };
  } finally {
    for (const { db } of opened) db.close();
  }
}

function writeManifest(target: BackupLocation, { snapshot, takenAtMs, store, totals, snapshots }: BackupSummary): void {
  const { contents, bytes, lost } = totals;
  const manifest = {
    what: "A Larder backup. To use it, start the server with this directory as its data directory.",
    store,
    snapshot,
    takenAt: new Date(takenAtMs).toISOString(),
    finishedAt: new Date().toISOString(),
    snapshots,
    contents,
    bytes,
    lost: lost.map(({ digest, why }) => ({ digest, why })),
  };
  writePrivateFile(join(target.root, MANIFEST), Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
  syncFolder(target.root);
}
