/**
 * `larder.state`: how the database file of a data directory was left, so that the next start tells three things apart.
 * It was closed in order; the machine or the program died (the write-ahead log holds the rest, and recovery is right); or
 * this is a copy that was taken while a server ran, whose database and log don't belong together, however whole they look.
 * A copy has the mark of the original, and its file another identity.
 */
import * as fs from "node:fs";
import { type FileIdentity, identifyFile, isSameFile } from "../../db/file-identity.ts";
import { isOlderThanMarks } from "../../db/migrate.ts";
import { giveToOwnerOf } from "../../db/owner.ts";
import { digestOf } from "../../db/snapshot.ts";
import { type DataPaths, syncDirectory } from "./data-directory.ts";

/** What is found at the start. */
export type Left =
  /** Closed, or recoverable by its log: opens as it is. */
  | "whole"
  /** Taken from under a running server: only its snapshots can be trusted. */
  | "copied"
  /** A backup, which consists of snapshots and contents. */
  | "backup"
  /** There is no database. */
  | "absent";

/** What the file says. */
type Mark =
  | { readonly state: "open"; readonly database: FileIdentity }
  | { readonly state: "closed"; readonly database: FileIdentity; readonly digest: string }
  | { readonly state: "backup" };

/**
 * How the database of a data directory was left. Reads a database whole where only its digest can tell, which is the case
 * in a copy of a directory whose server had been stopped. Changes nothing.
 */
export function readCloseState(paths: Pick<DataPaths, "database" | "state">, mayTouch = true): Left {
  const mark = readMark(paths.state);
  if (mark?.state === "backup") return "backup";
  const database = identifyFile(paths.database, mayTouch);
  if (database === undefined) return "absent";
  // Of a time before there were marks, or put here by hand.
  if (mark === undefined || isSameFile(mark.database, database)) return "whole";
  if (mark.state === "closed" && !hasLog(paths.database) && digestOf(paths.database) === mark.digest) return "whole";
  // Somebody went back to an earlier program, which leaves no marks: this one is about the database of before.
  return isOlderThanMarks(paths.database) ? "whole" : "copied";
}

/**
 * Whether a database that was closed in order has other bytes now: its disk, or a program that is not ours, changed them.
 * False where that can't be told, as of one that is open or was left by a crash. Reads it whole, changes nothing.
 */
export function isAltered(paths: Pick<DataPaths, "database" | "state">): boolean {
  const mark = readMark(paths.state);
  if (mark?.state !== "closed" || hasLog(paths.database) || isOlderThanMarks(paths.database)) return false;
  if (digestOf(paths.database) === mark.digest) return false;
  // Opened meanwhile.
  return !hasLog(paths.database) && JSON.stringify(readMark(paths.state)) === JSON.stringify(mark);
}

/** A log beside a copy of a closed database is of a server that was started while the copying ran. */
function hasLog(database: string): boolean {
  return ["-wal", "-journal"].some((suffix) => fs.existsSync(database + suffix));
}

/** Notes, durably, that the database is about to be written. Beside another process that has done so: nothing. */
export function markOpen(paths: DataPaths): void {
  const database = identifyFile(paths.database);
  if (database === undefined) throw new Error(`${paths.database} does not exist.`);
  const mark = readMark(paths.state);
  if (mark?.state === "open" && isSameFile(mark.database, database)) return;
  writeMark(paths, { state: "open", database });
}

/** Notes that the database was closed, with its digest: by the last process that had it open, its log folded back. */
export function markClosed(paths: DataPaths): void {
  const database = identifyFile(paths.database);
  if (database === undefined) return;
  const before = changedNs(paths.database);
  const digest = digestOf(paths.database);
  // Opened by a command meanwhile: it marks the end itself.
  if (hasLog(paths.database) || changedNs(paths.database) !== before) return;
  writeMark(paths, { state: "closed", database, digest });
}

function changedNs(path: string): bigint | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

/** Makes a directory of snapshots and contents a backup: the next start opens the newest snapshot. Durable on return. */
export function markBackup(paths: Pick<DataPaths, "root" | "state">): void {
  writeMark(paths, { state: "backup" });
}

/** A torn or foreign file counts as that of a copy: its identity is nobody's. */
function readMark(path: string): Mark | undefined {
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  return parseMark(text) ?? { state: "open", database: { device: "", inode: "", bornNs: null } };
}

function parseMark(text: string): Mark | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof given !== "object" || given === null || !("state" in given)) return undefined;
  if (given.state === "backup") return { state: "backup" };
  const database = "database" in given ? parseIdentity(given.database) : undefined;
  if (database === undefined) return undefined;
  if (given.state === "open") return { state: "open", database };
  if (given.state !== "closed" || !("digest" in given) || typeof given.digest !== "string") return undefined;
  return { state: "closed", database, digest: given.digest };
}

function parseIdentity(given: unknown): FileIdentity | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(given));
  const [device, inode, bornNs = null] = ["device", "inode", "bornNs"].map((name) => fields.get(name));
  if (typeof device !== "string" || typeof inode !== "string") return undefined;
  return { device, inode, bornNs: typeof bornNs === "string" ? bornNs : null };
}

function writeMark(paths: Pick<DataPaths, "root" | "state">, mark: Mark): void {
  const temporary = `${paths.state}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true });
  giveToOwnerOf(paths.root, temporary);
  fs.renameSync(temporary, paths.state);
  syncDirectory(paths.root);
}
