/**
 * `larder.state` records how the database file of a data directory was closed. It lets the next start distinguish three
 * cases:
 * - The database was closed properly.
 * - The machine or the program crashed. The write-ahead log has the rest, and SQLite recovers it.
 * - The directory is a copy that was made while a server ran. Its database and its log do not belong together, even if
 *   they look intact. The copy has the mark of the original, but its database file has another identity.
 */
import * as fs from "node:fs";
import { type FileIdentity, identifyFile, isSameFile } from "../../db/file-identity.ts";
import { isOlderThanMarks } from "../../db/migrate.ts";
import { giveToOwnerOf } from "../../db/owner.ts";
import { digestOf } from "../../db/snapshot.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "./data-directory.ts";
import { errorCode } from "../../lib/error.ts";

/** How the database was closed. */
export type CloseState =
  /** Closed properly, or recoverable from its log. */
  | "whole"
  /** Copied while a server was running: only its snapshots are reliable. */
  | "copied"
  /** A backup, which consists of snapshots and blobs. */
  | "backup"
  /** There is no database. */
  | "absent";

/** The content of the file. */
type RunMark =
  | { readonly state: "open"; readonly database: FileIdentity }
  | { readonly state: "closed"; readonly database: FileIdentity; readonly digest: string }
  | { readonly state: "backup" };

/**
 * How the database of a data directory was closed. Changes nothing. In a copy of a directory whose server was stopped,
 * it reads the whole database to compare its digest.
 * @param mayTouch whether the file system may be written to, for the identity of the file
 */
export function readCloseState(paths: Pick<DataPaths, "database" | "state">, mayTouch = true): CloseState {
  const mark = readMark(paths.state);
  if (mark?.state === "backup") return "backup";
  const database = identifyFile(paths.database, mayTouch);
  if (database === undefined) return "absent";
  // The database is from a version without marks, or the operator put it here.
  if (mark === undefined || isSameFile(mark.database, database)) return "whole";
  if (mark.state === "closed" && !hasLog(paths.database) && digestOf(paths.database) === mark.digest) return "whole";
  // The operator went back to an earlier version, which writes no marks. This mark is for the database before that.
  return isOlderThanMarks(paths.database) ? "whole" : "copied";
}

/**
 * Whether the database is a copy of one that was closed properly, or the original after it was moved to another file
 * system. Only for a database that {@link readCloseState} calls whole, before {@link markOpen}.
 */
export function isCopyOfClosed(paths: Pick<DataPaths, "database" | "state">): boolean {
  const mark = readMark(paths.state);
  const database = identifyFile(paths.database);
  if (mark?.state !== "closed" || database === undefined) return false;
  const { bornNs, inode } = mark.database;
  // Without creation times, a restart may change the number of the device: only another inode is certain to be a copy.
  if (bornNs === null && database.bornNs === null) return inode !== database.inode;
  return !isSameFile(mark.database, database);
}

/**
 * Whether a properly closed database has changed since, because of a faulty disk or another program. False if that is not
 * known, because the database is open or the program crashed. Reads the whole database, and changes nothing.
 */
export function isAltered(paths: Pick<DataPaths, "database" | "state">): boolean {
  const mark = readMark(paths.state);
  if (mark?.state !== "closed" || hasLog(paths.database) || isOlderThanMarks(paths.database)) return false;
  if (digestOf(paths.database) === mark.digest) return false;
  // Another process may have opened the database since.
  return !hasLog(paths.database) && JSON.stringify(readMark(paths.state)) === JSON.stringify(mark);
}

/** Whether the database has a log. In a copy of a closed database, the log is from a server that started later. */
function hasLog(database: string): boolean {
  return ["-wal", "-journal"].some((suffix) => fs.existsSync(database + suffix));
}

/** Records durably that the database is open. Does nothing if another process has done so. */
export function markOpen(paths: DataPaths): void {
  const database = identifyFile(paths.database);
  if (database === undefined) throw new Error(`${paths.database} does not exist.`);
  const mark = readMark(paths.state);
  if (mark?.state === "open" && isSameFile(mark.database, database)) return;
  writeMark(paths, { state: "open", database });
}

/** Records that the database was closed, with its digest. Called by the last process, after it merged the log. */
export function markClosed(paths: DataPaths): void {
  const database = identifyFile(paths.database);
  if (database === undefined) return;
  const before = changedNs(paths.database);
  const digest = digestOf(paths.database);
  // A command has opened the database since. It will record the end itself.
  if (hasLog(paths.database) || changedNs(paths.database) !== before) return;
  writeMark(paths, { state: "closed", database, digest });
}

function changedNs(path: string): bigint | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

/**
 * Marks a directory of snapshots and blobs as a backup: the next start opens the newest snapshot. Durable on return.
 */
export function markBackup(paths: Pick<DataPaths, "root" | "state">): void {
  writeMark(paths, { state: "backup" });
}

/** Reads the mark. An incomplete or foreign file counts as the mark of a copy: its identity matches no file. */
function readMark(path: string): RunMark | undefined {
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  return parseMark(text) ?? { state: "open", database: { device: "", inode: "", bornNs: null } };
}

function parseMark(text: string): RunMark | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof parsed !== "object" || parsed === null || !("state" in parsed)) return undefined;
  if (parsed.state === "backup") return { state: "backup" };
  const database = "database" in parsed ? parseIdentity(parsed.database) : undefined;
  if (database === undefined) return undefined;
  if (parsed.state === "open") return { state: "open", database };
  if (parsed.state !== "closed" || !("digest" in parsed) || typeof parsed.digest !== "string") return undefined;
  return { state: "closed", database, digest: parsed.digest };
}

function parseIdentity(parsed: unknown): FileIdentity | undefined {
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const [device, inode, bornNs = null] = ["device", "inode", "bornNs"].map((name) => fields.get(name));
  if (typeof device !== "string" || typeof inode !== "string") return undefined;
  return { device, inode, bornNs: typeof bornNs === "string" ? bornNs : null };
}

function writeMark(paths: Pick<DataPaths, "root" | "state">, mark: RunMark): void {
  const temporary = `${paths.state}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true });
  giveToOwnerOf(paths.root, temporary);
  fs.renameSync(temporary, paths.state);
  syncPath(paths.root);
}
