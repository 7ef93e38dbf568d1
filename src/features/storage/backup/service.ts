/**
 * Backups: a directory that is itself an openable data directory, of snapshots, contents and keys, without a database
 * of its own. First everything that a new snapshot names is brought, then the snapshot gets its place: one that is broken
 * off leaves the former backup as it was, and the next goes on where it ended.
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
import { copyPrivateFile, copySecrets } from "./private-files.ts";
import { syncFolder } from "./blob-copier.ts";
import { planContents, requireRoom } from "./plan.ts";
import { explainTarget } from "./target-errors.ts";
import type { BackupSummary, BackupLocation, Plan, Progress, CopyTotals } from "./types.ts";

/** What {@link backUp} works with. */
export interface BackupOptions {
  readonly source: BackupLocation;
  /** There, and held by this process alone. */
  readonly target: BackupLocation;
  /** Copies the source's database into a folder, digest beside it. Called again where contents went meanwhile. */
  readonly takeSnapshot: (folder: string) => Snapshot | Promise<Snapshot>;
  /** Whether another call of `takeSnapshot` gives a later state. */
  readonly isLive: boolean;
  readonly mayLink: boolean;
  /** Brings a content to the source's disk that lies elsewhere (a bucket). @returns whether it is there now */
  readonly fetchContent?: ((digest: Digest) => Promise<boolean>) | undefined;
  /** How many snapshots the target keeps. */
  readonly keep: number;
  /** Whether contents go that none of them names. */
  readonly prune: boolean;
  /**
   * Whether the target is for one account alone: the keys and settings by which its holder could act as anybody on the
   * original stay behind.
   */
  readonly isOneAccount?: boolean;
  /** Marks the target as a backup: the last step. */
  readonly markBackup: () => void;
  /** Called once, before the first content is written. */
  readonly onPlan?: ((plan: Plan) => void) | undefined;
  readonly onProgress: (progress: Progress) => void;
  readonly nowMs: number;
}

/** Name of the file that tells people what a backup is and how it went; the program doesn't need it. */
export const MANIFEST = "larder-backup.json";
/** Name of the configuration in a data directory. */
const CONFIG_FILE = "larder.toml";
/** Within `snapshots/`: the new one, until all that it names is there. */
const INCOMING = ".incoming";
/** How often a new snapshot is taken because contents went while they were being brought. */
const ATTEMPTS_MAX = 5;

/**
 * Makes a backup, or brings one up to date. Durable on return.
 * @throws StartupError where the target is no backup of this store, or fails: full, gone, read-only. The former backup
 * opens as before
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
    const kept = putInPlace(snapshot, target.snapshots);
    fs.rmSync(incoming, { recursive: true, force: true });
    const { superfluous, rest } = thin(target.snapshots, options);
    for (const old of superfluous) removeSnapshot(old);
    const { pruned, refused } = options.prune ? prune(target, rest) : { pruned: 0, refused: [] };
    const summary: BackupSummary = {
      target: target.root,
      snapshot: kept.name,
      takenAtMs: kept.takenAtMs,
      store,
      totals,
      snapshots: rest.length,
      pruned,
      durationMs: performance.now() - startedMs,
      warnings: [...warnings, ...refused],
    };
    writeManifest(target, summary);
    options.markBackup();
    return summary;
  } catch (error) {
    throw explainTarget(error, target.root);
  }
}

/**
 * Rejects a target that holds anything but a backup of this store, or the beginning of one.
 * @param store of the source; undefined where it has no contents yet
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

/** The identity of a store as its marker says it; undefined where there is none. */
export function readMarker(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a directory holds nothing yet, or what is left of a backup that ended before its first content. */
export function isEmpty({ root, snapshots }: BackupLocation): boolean {
  const names = fs.readdirSync(root).filter((name) => !IGNORED.test(name));
  if (names.length === 0) return true;
  return names.length === 1 && join(root, names[0] ?? "") === snapshots && listSnapshots(snapshots).length === 0;
}

/** What may lie in an empty target: the file system's own, and our lock. */
const IGNORED = /^(lost\+found|larder\.lock(-journal)?|\.Trash.*|System Volume Information)$/;

/** Takes a snapshot and brings what it names; again, where the source let go of something meanwhile. */
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
      // Collected while we were at it (`larder gc --now`): a later state doesn't name it. What stays away is lost.
      const isDone = !isLost || !isLive || attempt === ATTEMPTS_MAX || before?.lost.length === totals.lost.length;
      if (isDone) return { snapshot, totals: whole, store };
      before = whole;
    } finally {
      db.close();
    }
  }
}

/** What several runs brought together; what is there and what is lost, as the last one says. */
function addUp(before: CopyTotals, last: CopyTotals): CopyTotals {
  const brought = before.linked + before.cloned + before.copied;
  return {
    ...last,
    already: Math.max(0, last.already - brought),
    linked: before.linked + last.linked,
    cloned: before.cloned + last.cloned,
    copied: before.copied + last.copied,
    unshared: before.unshared + last.unshared,
    newBytes: before.newBytes + last.newBytes,
  };
}

/** Rejects the database of a server that has only just begun to make it. */
function requireSchema(sqlite: Database, source: BackupLocation): void {
  if (pendingMigrations(sqlite).length < MIGRATIONS.length) return;
  throw new StartupError(
    `The database in ${source.root} is still empty. Start the server, wait until it is ready, then run the command again.`,
  );
}

/** Makes sure that database, source and target are of one store, and gives a new target its marker. @returns the store */
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
    const partial = `${target.storeMarker}.${process.pid}.tmp`;
    fs.writeFileSync(partial, `${store}\n`, { mode: 0o600, flush: true });
    fs.renameSync(partial, target.storeMarker);
    syncFolder(target.blobs);
  }
  return store;
}

/** The keys and the configuration. @returns what the operator should know */
function copyKeys(source: BackupLocation, target: BackupLocation): string[] {
  const config = join(source.root, CONFIG_FILE);
  if (fs.existsSync(config)) copyPrivateFile(config, join(target.root, CONFIG_FILE));
  else fs.rmSync(join(target.root, CONFIG_FILE), { force: true });
  return copySecrets(source.secrets, target.secrets);
}

/** The key without which nobody with an authenticator app could sign in; it opens what lies in the database alone. */
function copyFactors(source: BackupLocation, target: BackupLocation): string[] {
  const key = join(source.secrets, "factors.json");
  fs.mkdirSync(target.secrets, { recursive: true, mode: 0o700 });
  if (fs.existsSync(key)) copyPrivateFile(key, join(target.secrets, "factors.json"));
  syncFolder(target.secrets);
  return [];
}

/**
 * Gives the new snapshot its place, digest first, so that none is ever there without one. Where the newest that is kept
 * has the very same bytes, nothing has happened since: that one stays.
 */
function putInPlace(snapshot: Snapshot, folder: string): Snapshot {
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
 * Removes contents of the target that none of its snapshots names; none any more from where one can't be read.
 * @returns how many, and what the operator should know
 */
function prune(target: BackupLocation, snapshots: readonly Snapshot[]): { pruned: number; refused: string[] } {
  const layout = new Layout(target.root);
  const opened: { path: string; db: Db }[] = [];
  let pruned = 0;
  let asked = "";
  const names = (digest: Digest) =>
    opened.some(({ path, db }) => {
      asked = path;
      return isNamed(db.sqlite, digest);
    });
  try {
    for (const { path } of snapshots) {
      asked = path;
      opened.push({ path, db: openReadOnly(path) });
    }
    for (const firstByte of FIRST_BYTES) {
      for (const digest of listStored(layout, firstByte)) {
        if (names(digest)) continue;
        fs.unlinkSync(layout.blob(digest));
        pruned++;
      }
    }
    return { pruned, refused: [] };
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    const refused = `Cannot read snapshot ${asked} (${error.message}), so no more blobs were removed. Move it to another place.`;
    return { pruned, refused: [refused] };
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
  const path = join(target.root, MANIFEST);
  const partial = `${path}.${process.pid}.tmp`;
  fs.writeFileSync(partial, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  fs.renameSync(partial, path);
  syncFolder(target.root);
}
