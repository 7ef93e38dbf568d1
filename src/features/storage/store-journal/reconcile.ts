import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { EndedShares } from "./ended-shares.ts";
import {
  ACCOUNTS_FOLDER,
  chooseObjects,
  listObjects,
  namesIn,
  NEWER_FOLDER,
  type ObjectFile,
  readObjects,
  sweepPartials,
  syncFolder,
} from "./object-file.ts";
import type { Position, StoreJournalTables } from "./queries.ts";

/** Dependencies of {@link reconcileObjects}. */
export interface ReconcileOptions {
  readonly tables: StoreJournalTables;
  /** `blobs/journal/` */
  readonly root: string;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly log: Log;
  readonly endedShares: Pick<EndedShares, "compact">;
  /** Changes whenever the database continues from a snapshot. */
  readonly epoch: string;
  /** Whether the caller merges newer objects into the database, so that the operator needs no hint. */
  readonly mergesLater: boolean;
}

/**
 * Compares the objects with the database, once after the start. Deletes half-written objects, and those whose number
 * was not noted before a crash: they are written again. If objects are missing, a full object is written later.
 */
export async function reconcileObjects(options: ReconcileOptions): Promise<void> {
  const { root, tables, clock, endedShares } = options;
  await sweepPartials(join(root, ACCOUNTS_FOLDER));
  await endedShares.compact(clock.nowMs());
  const known = new Set([ACCOUNTS_FOLDER, NEWER_FOLDER]);
  for (const position of tables.positions()) {
    known.add(position.publicId);
    await sweepPartials(join(root, position.publicId));
    await reconcileAccount(position, options);
  }
  const unknown = (await namesIn(root)).filter((name) => !known.has(name));
  for (const name of unknown) await setAside(name, 0, options);
}

async function reconcileAccount(position: Position, options: ReconcileOptions): Promise<void> {
  const { root, tables, writer, epoch } = options;
  const files = await listObjects(join(root, position.publicId));
  const later = files.filter(({ last }) => last > position.number);
  if (position.epoch !== epoch || (await isAhead(position, later, options))) {
    if (later.length > 0) await setAside(position.publicId, position.number, options);
  } else {
    for (const { path } of later) await rm(path, { force: true });
    if (isComplete(files, position)) return;
  }
  await writer.run(() => tables.setPosition({ ...position, fullBytes: 0 }), { isQuiet: true });
}

/** Whether objects without a note have changes that the database lacks. A crash leaves no such objects. */
async function isAhead(
  { accountId, number }: Position,
  later: readonly ObjectFile[],
  { tables }: ReconcileOptions,
): Promise<boolean> {
  if (later.some(({ last }) => last > number + 1)) return true;
  for (const { path } of later) {
    const { seq = 0 } = await readObjects(path, () => undefined);
    if (seq > tables.headAtStart(accountId)) return true;
  }
  return false;
}

/** Moves the objects of an account to `newer/`. @param number the last object that is not newer than the database */
async function setAside(publicId: string, number: number, options: ReconcileOptions): Promise<void> {
  const { root, clock, log, mergesLater } = options;
  let records = 0;
  for (const { path, last } of await listObjects(join(root, publicId))) {
    if (last > number) records += (await readObjects(path, () => undefined)).records;
  }
  const timestamp = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, "-");
  const aside = join(root, NEWER_FOLDER, timestamp);
  await mkdir(aside, { recursive: true, mode: 0o700 });
  await rename(join(root, publicId), join(aside, publicId));
  for (const folder of [aside, dirname(aside), root]) await syncFolder(folder);
  if (mergesLater) return;
  log.warn(
    "The database is older than the metadata journal; it was restored. Newer entries are kept for 30 days. " +
      "To apply them, stop the server and run: larder rebuild --newer",
    { account: publicId, changes: records, path: join(aside, publicId) },
  );
}

/** Whether every object since the full one exists. */
function isComplete(files: readonly ObjectFile[], { number }: Position): boolean {
  const chosen = chooseObjects(files.filter(({ last }) => last <= number));
  let next = chosen[0]?.last ?? -1;
  if (chosen[0]?.isFull !== true) return false;
  for (const { first, last } of chosen.slice(1)) {
    if (first !== next + 1) return false;
    next = last;
  }
  return next === number;
}
