/**
 * Copies of the database in `snapshots/`: `larder-<when>-<label>.db`, and beside each its sha256 as `sha256sum` writes it.
 * A copy is whole where its digest says so; whoever copies the data directory may have caught one half.
 */
import { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { giveToOwnerOf } from "./owner.ts";

/** A copy of the database. */
export interface Snapshot {
  readonly path: string;
  /** Its file's name. */
  readonly name: string;
  /** When it was taken: it holds everything that was committed before. */
  readonly takenAtMs: number;
  /** Why it was taken. */
  readonly label: string;
  readonly sizeBytes: number;
}

const NAME = /^larder-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z-([a-z-]+)\.db$/;
const DIGEST_SUFFIX = ".sha256";
const PARTIAL_SUFFIX = ".partial";
/** Read at once for a digest. */
const BUFFER_BYTES = 1024 * 1024;
/** What is being written was written to just now, by this process or by another one. */
const AT_WORK_MS = 10 * 60 * 1000;

/** The copies in `folder`, newest first; none where there is no such folder. What is being written is not among them. */
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
 * Copies the whole database, consistent, into `folder`, and makes copy and digest durable before they get their names.
 * It blocks for the length of the copying: the server has it done by a thread (`snapshot-taker.ts`).
 * @param nowMs what the copy's name says
 * @throws SQLiteError; the system's error. What was written is removed then: on a full disk it is what the others need.
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

/** {@link takeSnapshot} over a connection of its own, which only reads. */
export function takeSnapshotOf(database: string, folder: string, label: string, nowMs = Date.now()): Snapshot {
  const sqlite = new Database(database, { readonly: true, strict: true });
  try {
    sqlite.run("PRAGMA busy_timeout=5000");
    return takeSnapshot(sqlite, folder, label, nowMs);
  } finally {
    sqlite.close();
  }
}

/** Whether a copy is all there: its digest is beside it, and is that of its bytes. Reads the whole. */
export function isWhole(path: string): boolean {
  const expected = readDigest(path);
  return expected !== undefined && fs.existsSync(path) && digestOf(path) === expected;
}

/** Removes a copy and its digest, the copy first, so that no digest is ever missing beside one. */
export function removeSnapshot({ path }: Snapshot): void {
  fs.rmSync(path, { force: true });
  fs.rmSync(path + DIGEST_SUFFIX, { force: true });
}

/** Removes what was left by copies that a crash ended: nothing that was written to within the last ten minutes. */
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

/** sha256 of a file in hexadecimal, read piece by piece in place. */
export function digestOf(path: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const piece = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const fd = fs.openSync(path, "r");
  try {
    for (let got = fs.readSync(fd, piece); got > 0; got = fs.readSync(fd, piece)) hasher.update(piece.subarray(0, got));
  } finally {
    fs.closeSync(fd);
  }
  return hasher.digest("hex");
}

function readDigest(path: string): string | undefined {
  try {
    return /^([0-9a-f]{64}) {2}/.exec(fs.readFileSync(path + DIGEST_SUFFIX, "utf8"))?.[1];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function writeDigest(path: string, digest: string): void {
  const partial = path + DIGEST_SUFFIX + PARTIAL_SUFFIX;
  fs.writeFileSync(partial, `${digest}  ${basename(path)}\n`, { mode: 0o600, flush: true });
  giveToOwnerOf(dirname(path), partial);
  fs.renameSync(partial, path + DIGEST_SUFFIX);
}

function syncPath(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
