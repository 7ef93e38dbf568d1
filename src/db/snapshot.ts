/**
 * Copies of the database in `snapshots/`: `larder-<when>-<label>.db`, each with its sha256 in a file as `sha256sum`
 * writes it. The digest proves that a snapshot is complete: a copy of the data directory may contain half of one.
 */
import { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { giveToOwnerOf } from "./owner.ts";
import { syncPath } from "../lib/sync-path.ts";
import { errorCode } from "../lib/error.ts";

/** A copy of the database. */
export interface Snapshot {
  readonly path: string;
  /** Its file's name. */
  readonly name: string;
  /** When it was taken: it contains everything committed before. */
  readonly takenAtMs: number;
  /** Why it was taken. */
  readonly label: string;
  readonly sizeBytes: number;
}

const NAME = /^larder-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z-([a-z-]+)\.db$/;
const DIGEST_SUFFIX = ".sha256";
const PARTIAL_SUFFIX = ".partial";
/** Size of the read buffer for digests. */
const BUFFER_BYTES = 1024 * 1024;
/** A partial file written to more recently than this still has a writer: this process or another one. */
const AT_WORK_MS = 10 * 60 * 1000;

/** The complete snapshots in `folder`, newest first; none if there is no such folder. */
export function listSnapshots(folder: string): Snapshot[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .flatMap((name) => {
      const path = join(folder, name);
      const takenAtMs = Date.parse(name.replace(NAME, "$1:$2:$3.$4Z"));
      const label = NAME.exec(name)?.[5];
      if (label === undefined || Number.isNaN(takenAtMs)) return [];
      const stats = fs.statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ path, name, takenAtMs, label, sizeBytes: stats.size }];
    })
    .sort((a, b) => b.takenAtMs - a.takenAtMs);
}

/**
 * Takes a consistent copy of the whole database into `folder`. Copy and digest are durable before they get their names.
 * Blocks while copying: the server uses a thread for it (`snapshot-thread.ts`).
 * @param nowMs the time in the name of the copy
 * @throws SQLiteError; the system's error. Partial files are removed then, because a full disk needs the space.
 */
export function takeSnapshot(sqlite: Database, folder: string, label: string, nowMs = Date.now()): Snapshot {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-");
  const path = join(folder, `larder-${stamp}-${label}.db`);
  const partial = path + PARTIAL_SUFFIX;
  fs.rmSync(partial, { force: true });
  try {
    sqlite.query("VACUUM INTO ?1").run(partial);
    fs.chmodSync(partial, 0o600);
    giveToOwnerOf(folder, partial);
    syncPath(partial);
    writeDigest(path, digestOf(partial));
    fs.renameSync(partial, path);
  } catch (error) {
    for (const left of [partial, path + DIGEST_SUFFIX + PARTIAL_SUFFIX, path + DIGEST_SUFFIX])
      fs.rmSync(left, { force: true });
    throw error;
  }
  syncPath(folder);
  return { path, name: basename(path), takenAtMs: nowMs, label, sizeBytes: fs.statSync(path).size };
}

/** {@link takeSnapshot} with its own read-only connection. */
export function takeSnapshotOf(database: string, folder: string, label: string, nowMs = Date.now()): Snapshot {
  const sqlite = new Database(database, { readonly: true, strict: true });
  try {
    sqlite.run("PRAGMA busy_timeout=5000");
    return takeSnapshot(sqlite, folder, label, nowMs);
  } finally {
    sqlite.close();
  }
}

/** Whether a snapshot is complete: it matches the digest next to it. Reads the whole file. */
export function isWhole(path: string): boolean {
  const expected = readDigest(path);
  return expected !== undefined && fs.existsSync(path) && digestOf(path) === expected;
}

/** Removes a snapshot and its digest; the snapshot first, so that none is ever without a digest. */
export function removeSnapshot({ path }: Snapshot): void {
  fs.rmSync(path, { force: true });
  fs.rmSync(path + DIGEST_SUFFIX, { force: true });
}

/** Removes partial files that a crash left; none written to within the last ten minutes. */
export function sweepPartials(folder: string, nowMs = Date.now()): void {
  if (!fs.existsSync(folder)) return;
  const names = new Set(fs.readdirSync(folder));
  for (const name of names) {
    const isDigestAlone = name.endsWith(DIGEST_SUFFIX) && !names.has(name.slice(0, -DIGEST_SUFFIX.length));
    if (!name.endsWith(PARTIAL_SUFFIX) && !isDigestAlone) continue;
    const path = join(folder, name);
    const writtenAtMs = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (writtenAtMs === undefined || Math.abs(nowMs - writtenAtMs) < AT_WORK_MS) continue;
    fs.rmSync(path, { force: true });
  }
}

/** The sha256 of a file in hexadecimal. Blocks while reading, one buffer after the other. */
export function digestOf(path: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const fd = fs.openSync(path, "r");
  try {
    for (let got = fs.readSync(fd, buffer); got > 0; got = fs.readSync(fd, buffer))
      hasher.update(buffer.subarray(0, got));
  } finally {
    fs.closeSync(fd);
  }
  return hasher.digest("hex");
}

function readDigest(path: string): string | undefined {
  try {
    return /^([0-9a-f]{64}) {2}/.exec(fs.readFileSync(path + DIGEST_SUFFIX, "utf8"))?.[1];
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function writeDigest(path: string, digest: string): void {
  const partial = path + DIGEST_SUFFIX + PARTIAL_SUFFIX;
  fs.writeFileSync(partial, `${digest}  ${basename(path)}\n`, { mode: 0o600, flush: true });
  giveToOwnerOf(dirname(path), partial);
  fs.renameSync(partial, path + DIGEST_SUFFIX);
}
