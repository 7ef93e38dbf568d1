/**
 * Objects that know of more than the database, because it was put back to an earlier time: in `blobs/journal/newer/`, or
 * still at their place before the server has run again. For as long as they are kept, the contents that they name are.
 */
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Digest } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import { chooseObjects, lastOf, listObjects, namesIn, readObjects, syncFolder } from "./object-file.ts";
import { parseNodeRecord } from "./parse-record.ts";
import { StoreJournalTables } from "./queries.ts";
import { ACCOUNTS_FOLDER, DONE, NEWER_FOLDER } from "./service.ts";

/** The newer objects of one account. */
export interface NewerObjects {
  /** The account's public id. */
  readonly account: string;
  /** The folder with the objects. */
  readonly path: string;
  /** When they were set aside; undefined while they are at their place. */
  readonly asideAtMs: number | undefined;
}

/** Digits of a digest that tell contents apart here: taking one for another keeps it a month too long. */
const MARK_DIGITS = 12;

/** All of them, oldest first; what was merged into the database is left out. @param epoch of the database */
export async function findNewer(sqlite: Database, root: string, epoch: string): Promise<NewerObjects[]> {
  const found: NewerObjects[] = [];
  for (const stamp of (await namesIn(join(root, NEWER_FOLDER))).sort()) {
    const asideAtMs = timeOf(stamp);
    if (asideAtMs === undefined || stamp.endsWith(DONE)) continue;
    for (const account of await namesIn(join(root, NEWER_FOLDER, stamp))) {
      found.push({ account, path: join(root, NEWER_FOLDER, stamp, account), asideAtMs });
    }
  }
  return [...found, ...(await findUnsettled(sqlite, root, epoch))];
}

/** As {@link findNewer}, whether there are any; at once. */
export function hasNewerObjects(sqlite: Database, root: string, epoch: string): boolean {
  const aside = entriesOf(join(root, NEWER_FOLDER)).filter(
    (stamp) => timeOf(stamp) !== undefined && !stamp.endsWith(DONE),
  );
  if (aside.length > 0) return true;
  const positions = new Map(StoreJournalTables.readPositions(sqlite).map((position) => [position.publicId, position]));
  return entriesOf(root).some((account) => {
    if (account === ACCOUNTS_FOLDER || account === NEWER_FOLDER) return false;
    const position = positions.get(account);
    return (
      position?.epoch !== epoch && entriesOf(join(root, account)).some((name) => lastOf(name) > (position?.number ?? 0))
    );
  });
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** What the next start will set aside. */
async function findUnsettled(sqlite: Database, root: string, epoch: string): Promise<NewerObjects[]> {
  const positions = new Map(StoreJournalTables.readPositions(sqlite).map((position) => [position.publicId, position]));
  const found: NewerObjects[] = [];
  for (const account of await namesIn(root)) {
    if (account === ACCOUNTS_FOLDER || account === NEWER_FOLDER) continue;
    const position = positions.get(account);
    if (position?.epoch === epoch) continue;
    const path = join(root, account);
    const objects = await listObjects(path);
    if (objects.some(({ last }) => last > (position?.number ?? 0))) found.push({ account, path, asideAtMs: undefined });
  }
  return found;
}

/** Name of the folder in `newer/` that objects lie in; empty for those at their place. */
export function asideFolderOf({ path, asideAtMs }: NewerObjects): string {
  return asideAtMs === undefined ? "" : basename(dirname(path));
}

/** Takes objects out of what is newer, once all their records are committed. */
export async function markMerged(objects: NewerObjects): Promise<void> {
  const from = dirname(objects.path);
  const to = from + DONE;
  await mkdir(to, { recursive: true, mode: 0o700 });
  await rename(objects.path, join(to, objects.account));
  if ((await namesIn(from)).length === 0) await rmdir(from);
  else await syncFolder(from);
  for (const folder of [to, dirname(to)]) await syncFolder(folder);
}

/** Forgets what was set aside before the time, merged or not. @returns how many sets of objects */
export async function forgetNewer(root: string, olderThanMs: number): Promise<number> {
  let forgotten = 0;
  for (const stamp of await namesIn(join(root, NEWER_FOLDER))) {
    const atMs = timeOf(stamp);
    if (atMs === undefined || atMs >= olderThanMs) continue;
    await rm(join(root, NEWER_FOLDER, stamp), { recursive: true, force: true });
    forgotten++;
  }
  return forgotten;
}

/** What {@link NewerContents} works with. */
export interface NewerContentsOptions {
  readonly sqlite: Database;
  /** `blobs/journal/` */
  readonly root: string;
  /** See {@link findNewer}. */
  readonly epoch: () => string;
  readonly log: Log;
}

/** Tells the collector which contents newer objects name. They are read again only where there are others than before. */
export class NewerContents {
  readonly #options: NewerContentsOptions;
  #known: { readonly key: string; readonly kept: SnapshotReferences } = { key: "", kept: NOTHING };

  constructor(options: NewerContentsOptions) {
    this.#options = options;
  }

  /** What they name. Where one can't be read, everything counts as named. */
  async openSnapshotReferences(): Promise<SnapshotReferences> {
    const { sqlite, root, epoch, log } = this.#options;
    const newer = await findNewer(sqlite, root, epoch());
    if (newer.length === 0) return NOTHING;
    const files = await Promise.all(newer.map(({ path }) => listObjects(path)));
    const key = JSON.stringify(files.map((some) => some.map(({ path, sizeBytes }) => [path, sizeBytes])));
    if (key === this.#known.key) return this.#known.kept;
    const marks: number[] = [];
    let isWhole = true;
    for (const { path } of files.flatMap((some) => chooseObjects(some))) {
      const { fault } = await readObjects(path, (line) => addMarks(line, marks));
      if (fault === undefined) continue;
      isWhole = false;
      log.error(
        "Cannot read the metadata journal; garbage collection is paused. Move the unreadable files out of that directory.",
        {
          path,
          fault,
        },
      );
    }
    const kept = isWhole ? named(Float64Array.from(marks).sort()) : EVERYTHING;
    this.#known = { key, kept };
    return kept;
  }
}

/** What two of them name together. */
export function mergeReferences(one: SnapshotReferences, other: SnapshotReferences): SnapshotReferences {
  return {
    has: (digest) => other.has(digest) || one.has(digest),
    close() {
      one.close();
      other.close();
    },
  };
}

const NOTHING: SnapshotReferences = { has: () => false, close: () => undefined };
const EVERYTHING: SnapshotReferences = { has: () => true, close: () => undefined };

function addMarks(line: unknown, marks: number[]): void {
  const record = parseNodeRecord(line);
  if (record === undefined || !("file" in record)) return;
  for (const { sha256 } of [record.content, ...(record.versions ?? [])]) marks.push(markOf(sha256));
}

function markOf(digest: string): number {
  return Number.parseInt(digest.slice(0, MARK_DIGITS), 16);
}

/** @param marks in order */
function named(marks: Float64Array): SnapshotReferences {
  const has = (digest: Digest): boolean => {
    const wanted = markOf(digest);
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((marks[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return marks[low] === wanted;
  };
  return { has, close: () => undefined };
}

/** `2026-11-21T10-20-30-400Z`, as folders are named; undefined for anything else. */
function timeOf(stamp: string): number | undefined {
  const [, day, hour, minute, second, part] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(stamp) ?? [];
  const ms = Date.parse(`${day}T${hour}:${minute}:${second}.${part}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
