/**
 * Objects of the store journal that are newer than the database, because it was restored to an earlier state. The first
 * start after that moves them to `blobs/journal/newer/`. While they are stored, garbage collection retains the blobs
 * that they name.
 */
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Digest } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import {
  ACCOUNTS_FOLDER,
  chooseObjects,
  DONE,
  lastNumberIn,
  listObjects,
  namesIn,
  NEWER_FOLDER,
  readObjects,
  syncFolder,
} from "./object-file.ts";
import { parseNodeRecord } from "./parse-record.ts";
import { StoreJournalTables } from "./queries.ts";

/** The newer objects of one account. */
export interface NewerObjects {
  /** The account's public id. */
  readonly account: string;
  /** The folder with the objects. */
  readonly path: string;
  /** When they were moved to `newer/`; undefined before that. */
  readonly asideAtMs: number | undefined;
}

/** Digits of a digest that are compared. A blob that is mistaken for another one is retained a month too long. */
const PREFIX_DIGITS = 12;

/** All newer objects that were not merged yet, oldest first. @param epoch of the database */
export async function findNewer(sqlite: Database, root: string, epoch: string): Promise<NewerObjects[]> {
  const found: NewerObjects[] = [];
  for (const timestamp of await namesIn(join(root, NEWER_FOLDER))) {
    const asideAtMs = parseTimestamp(timestamp);
    if (asideAtMs === undefined || timestamp.endsWith(DONE)) continue;
    for (const account of await namesIn(join(root, NEWER_FOLDER, timestamp))) {
      found.push({ account, path: join(root, NEWER_FOLDER, timestamp, account), asideAtMs });
    }
  }
  return [...found, ...(await findUnmoved(sqlite, root, epoch))];
}

/** Like {@link findNewer}, but synchronous and only whether there are any. */
export function hasNewerObjects(sqlite: Database, root: string, epoch: string): boolean {
  const aside = namesInSync(join(root, NEWER_FOLDER)).filter(
    (timestamp) => parseTimestamp(timestamp) !== undefined && !timestamp.endsWith(DONE),
  );
  if (aside.length > 0) return true;
  const positions = new Map(StoreJournalTables.readPositions(sqlite).map((position) => [position.publicId, position]));
  return namesInSync(root).some((account) => {
    if (account === ACCOUNTS_FOLDER || account === NEWER_FOLDER) return false;
    const position = positions.get(account);
    return (
      position?.epoch !== epoch &&
      namesInSync(join(root, account)).some((name) => lastNumberIn(name) > (position?.number ?? 0))
    );
  });
}

function namesInSync(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Newer objects that the next start will move to `newer/`. */
async function findUnmoved(sqlite: Database, root: string, epoch: string): Promise<NewerObjects[]> {
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

/** Name of the folder in `newer/` that has the objects; empty for objects that were not moved there. */
export function asideFolderOf({ path, asideAtMs }: NewerObjects): string {
  return asideAtMs === undefined ? "" : basename(dirname(path));
}

/** Marks objects as merged, once all their records are committed. */
export async function markMerged(objects: NewerObjects): Promise<void> {
  const from = dirname(objects.path);
  const to = from + DONE;
  await mkdir(to, { recursive: true, mode: 0o700 });
  await rename(objects.path, join(to, objects.account));
  if ((await namesIn(from)).length === 0) await rmdir(from);
  else await syncFolder(from);
  for (const folder of [to, dirname(to)]) await syncFolder(folder);
}

/** Deletes objects that were moved to `newer/` before the time, merged or not. @returns the number of sets */
export async function forgetNewer(root: string, olderThanMs: number): Promise<number> {
  let deleted = 0;
  for (const timestamp of await namesIn(join(root, NEWER_FOLDER))) {
    const atMs = parseTimestamp(timestamp);
    if (atMs === undefined || atMs >= olderThanMs) continue;
    await rm(join(root, NEWER_FOLDER, timestamp), { recursive: true, force: true });
    deleted++;
  }
  return deleted;
}

/** Dependencies of {@link NewerReferences}. */
interface NewerReferencesOptions {
  readonly sqlite: Database;
  /** `blobs/journal/` */
  readonly root: string;
  /** See {@link findNewer}. */
  readonly epoch: () => string;
  readonly log: Log;
}

/** Blobs that newer objects name, for garbage collection. The objects are read again only after they changed. */
export class NewerReferences {
  readonly #options: NewerReferencesOptions;
  #cached: { readonly key: string; readonly references: SnapshotReferences } = { key: "", references: NOTHING };

  constructor(options: NewerReferencesOptions) {
    this.#options = options;
  }

  /** The references of all newer objects. If one can't be read, every blob counts as referenced. */
  async openSnapshotReferences(): Promise<SnapshotReferences> {
    const { sqlite, root, epoch, log } = this.#options;
    const newer = await findNewer(sqlite, root, epoch());
    if (newer.length === 0) return NOTHING;
    const files = await Promise.all(newer.map(({ path }) => listObjects(path)));
    const key = JSON.stringify(files.map((objects) => objects.map(({ path, sizeBytes }) => [path, sizeBytes])));
    if (key === this.#cached.key) return this.#cached.references;
    const prefixes: number[] = [];
    let isWhole = true;
    for (const { path } of files.flatMap((objects) => chooseObjects(objects))) {
      const { fault } = await readObjects(path, (line) => addPrefixes(line, prefixes));
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
    const references = isWhole ? toReferences(Float64Array.from(prefixes).sort()) : EVERYTHING;
    this.#cached = { key, references };
    return references;
  }
}

/** The union of two sets of references. */
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

function addPrefixes(line: unknown, prefixes: number[]): void {
  const record = parseNodeRecord(line);
  if (record === undefined || !("file" in record)) return;
  for (const { sha256 } of [record.content, ...(record.versions ?? [])]) prefixes.push(toPrefix(sha256));
}

function toPrefix(digest: string): number {
  return Number.parseInt(digest.slice(0, PREFIX_DIGITS), 16);
}

/** @param prefixes in ascending order */
function toReferences(prefixes: Float64Array): SnapshotReferences {
  const has = (digest: Digest): boolean => {
    const prefix = toPrefix(digest);
    let [low, high] = [0, prefixes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((prefixes[middle] ?? 0) < prefix) low = middle + 1;
      else high = middle;
    }
    return prefixes[low] === prefix;
  };
  return { has, close: () => undefined };
}

/** Parses the name of a folder in `newer/`, such as `2026-11-21T10-20-30-400Z`; undefined for anything else. */
function parseTimestamp(timestamp: string): number | undefined {
  const [, day, hour, minute, second, part] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(timestamp) ?? [];
  const ms = Date.parse(`${day}T${hour}:${minute}:${second}.${part}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
