/**
 * Names, folders, labels, owners and earlier contents, written beside the contents, so that a database can be made from the
 * store alone (`larder rebuild`). Below `blobs/journal/` each account has a folder of objects, numbered without a gap: one
 * that holds everything, and what has changed since.
 *
 * It follows each account's journal, some seconds behind, and notes in a deed how far it has come once an object is durable.
 * So no upload waits for it, and after a crash the object with that number is simply written again. Each object ends at one
 * journal number, and tells everything up to it: whatever state is read while it is written, later changes follow in it.
 *
 * Where the objects know of more than the database, the database was put back to an earlier time. They are set aside then
 * (`blobs/journal/newer/`), never mixed with what happens from now on, and everything is written once more.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Log } from "../../../lib/log.ts";
import type { EndedShares } from "./ended-shares.ts";
import {
  chooseObjects,
  joinObjects,
  listObjects,
  namesIn,
  objectName,
  ObjectWriter,
  readObjects,
  sweepPartials,
  syncFolder,
} from "./object-file.ts";
import type { Rescan, Behind, JournalEntry, Position, StoreJournalTables } from "./queries.ts";
import { type GoneRecord, type ObjectHeader, toRecord } from "./records.ts";

/** What {@link StoreJournal} works with. */
export interface StoreJournalOptions {
  readonly tables: StoreJournalTables;
  /** `blobs/journal/` */
  readonly root: string;
  readonly writer: Pick<Writer, "run" | "waiting">;
  readonly clock: Clock;
  readonly log: Log;
  /** Throws where the disk with the store is not there. */
  readonly checkStore: () => void;
  readonly endedShares: Pick<EndedShares, "note" | "compact">;
  /** Another one for each time that the database went on from a snapshot. */
  readonly epoch: string;
}

/** Name of the folder with the accounts themselves, and of that with what a database put back does not know. */
export const ACCOUNTS_FOLDER = "accounts";
export const NEWER_FOLDER = "newer";

/** Suffix of a folder in `newer/` whose objects `larder rebuild --newer` has applied. */
export const DONE = ".done";

const TICK_MS = 2_000;
/** After a failure, a full disk for instance. */
const FAILURE_REST_MS = 30_000;
/** Nodes that are read in one go: a millisecond or two. */
const PAGE = 100;
/** Everything is still written at the end where there is no more than this: a second at most. */
const NODES_AT_END_MAX = 20_000;
/** Between two pages, so that requests come first; and while others wait to write. */
const REST_MS = 1;
const BUSY_REST_MS = 10;
/** So many files that follow each other become one: a photo every few seconds must not leave a million small files. */
const JOINED = 32;
/** Everything is written once more where what came since is so many times as large, */
const GROWN_TIMES = 2;
/** but not for less than this, in bytes. */
const GROWN_BYTES_MIN = 256 * 1024;

/** Writes the store journal. Only the server has one, for its database. */
export class StoreJournal {
  readonly #options: StoreJournalOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #isSettled = false;
  #mergesLater = false;
  #seenMark = "";
  #restsUntilMs = 0;

  constructor(options: StoreJournalOptions) {
    this.#options = options;
  }

  /** Begins to follow; returns at once. */
  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /**
   * Ends. What is behind is written first, where it was ever started; an object that holds everything of a large database is
   * left for the next start. A failure is told in the log alone: nothing is lost by it.
   */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer === undefined) return;
    this.#isStopped = true;
    await this.#working;
    await this.#work().catch((error: unknown) => this.#tell(error));
  }

  /**
   * Writes all that is behind; durable on return. For backups, commands and tests.
   * @throws the system's error; AppError store_missing
   */
  async flush(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    await this.#begin(() => this.#work());
  }

  /**
   * Sets aside what knows of more than the database, as the first work after a start does.
   * @param mergesLater whether the caller merges that into the database, so that nobody has to be asked to
   * @throws the system's error; AppError store_missing
   */
  async settle(mergesLater = false): Promise<void> {
    this.#mergesLater = mergesLater;
    while (this.#working !== undefined) await this.#working;
    await this.#begin(async () => {
      this.#options.checkStore();
      if (!this.#isSettled) await this.#settle();
      this.#isSettled = true;
    });
  }

  #tick(): void {
    if (this.#working !== undefined || performance.now() < this.#restsUntilMs) return;
    if (this.#options.tables.changeMark() === this.#seenMark) return;
    void this.#begin(() => this.#work().catch((error: unknown) => this.#tell(error)));
  }

  #begin(work: () => Promise<void>): Promise<void> {
    const working = work();
    const ended = working
      .catch(() => undefined)
      .finally(() => {
        this.#working = undefined;
      });
    this.#working = ended;
    return working.then(() => ended);
  }

  #tell(error: unknown): void {
    this.#restsUntilMs = performance.now() + FAILURE_REST_MS;
    this.#options.log.error("Could not write to the metadata journal; will retry.", {
      error,
    });
  }

  async #work(): Promise<void> {
    const { tables, epoch, checkStore, endedShares } = this.#options;
    const mark = tables.changeMark();
    checkStore();
    await endedShares.note();
    if (!this.#isSettled) await this.#settle();
    this.#isSettled = true;
    for (const account of tables.accountsOver()) await this.#forget(account);
    for (const account of tables.accountsBehind(epoch)) await this.#follow(account);
    // What was written here moved the mark on; whatever else came meanwhile is seen at the next tick.
    this.#seenMark = tables.accountsBehind(epoch).length === 0 ? tables.changeMark() : mark;
  }

  async #follow(account: Behind): Promise<void> {
    const { tables, writer, epoch } = this.#options;
    const { accountId, publicId } = account;
    const [own] = tables.again(accountId, -1, 1);
    if (own?.nodeId === 0 || tables.positionOf(accountId) === undefined) {
      await this.#writeAccount(account);
      if (own?.nodeId === 0) await writer.run(() => tables.dequeueRescan(accountId, own), { isQuiet: true });
    }
    const position = tables.positionOf(accountId);
    if (position === undefined || position.fullBytes === 0 || position.epoch !== epoch || isGrown(position)) {
      await this.#writeFull(account);
      return;
    }
    if (tables.headOf(accountId) === position.seq && tables.again(accountId, 0, 1).length === 0) return;
    const number = position.number + 1;
    const path = join(this.#folderOf(publicId), objectName(number, number, false));
    const answered: Rescan[] = [];
    const { seq, bytes } = await this.#writeObject(path, this.#header(publicId, number, false), async (object) => {
      await this.#writeAgain(object, accountId, answered);
      return this.#writeChanges(object, accountId, position.seq);
    });
    await writer.run(
      () => {
        tables.setPosition({ ...position, number, seq, laterBytes: position.laterBytes + bytes });
        for (const one of answered) tables.dequeueRescan(accountId, one);
      },
      { isQuiet: true },
    );
    if (number % JOINED === 0) await this.#joinSmall(this.#folderOf(publicId));
  }

  /** What no number of the journal tells. @param answered gets what may be taken back once the object is durable */
  async #writeAgain(object: ObjectWriter, accountId: number, answered: Rescan[]): Promise<void> {
    const { tables } = this.#options;
    for (let afterId = 0; ; ) {
      const page = tables.again(accountId, afterId, PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      const rows = tables.nodes(page.map(({ nodeId }) => nodeId));
      const there = new Set(rows.map(({ id }) => id));
      const gone = page.flatMap<GoneRecord>(({ nodeId, gone: publicId }) =>
        publicId === null || there.has(nodeId) ? [] : [{ gone: publicId }],
      );
      await object.add([...rows.map(toRecord), ...gone]);
      answered.push(...page);
      afterId = last.nodeId;
      await this.#rest();
    }
  }

  /** Everything that the account has, in a new object; those before are removed once it was read again. */
  async #writeFull({ accountId, publicId }: Behind): Promise<void> {
    const { tables, writer, epoch } = this.#options;
    const folder = this.#folderOf(publicId);
    const before = await listObjects(folder);
    const number = Math.max(tables.positionOf(accountId)?.number ?? 0, ...before.map(({ last }) => last)) + 1;
    const path = join(folder, objectName(number, number, true));
    const begun = tables.headOf(accountId);
    const answered: Rescan[] = [];
    const { seq, bytes } = await this.#writeObject(path, this.#header(publicId, number, true), async (object) => {
      const lastId = tables.lastNodeId();
      for (let id = 1; id <= lastId; id += PAGE) {
        if (this.#isStopped && lastId > NODES_AT_END_MAX) return undefined;
        const rows = tables.nodesBetween(id, id + PAGE - 1, accountId);
        if (rows.length > 0) await object.add(rows.map(toRecord));
        await this.#rest();
      }
      await this.#writeAgain(object, accountId, answered);
      return this.#writeChanges(object, accountId, begun);
    });
    if (bytes === 0) return;
    const { fault } = await readObjects(path, () => undefined);
    if (fault !== undefined) throw new Error(`Could not read ${path} after it was written: ${fault}.`);
    await writer.run(
      () => {
        tables.setPosition({ accountId, publicId, number, seq, fullBytes: bytes, laterBytes: 0, epoch });
        for (const one of answered) tables.dequeueRescan(accountId, one);
      },
      { isQuiet: true },
    );
    for (const { path: old } of before) await rm(old, { force: true });
  }

  /** @param write gives the journal number at which the object ends; undefined where it is given up */
  async #writeObject(
    path: string,
    header: ObjectHeader,
    write: (object: ObjectWriter) => Promise<number | undefined>,
  ): Promise<{ seq: number; bytes: number }> {
    this.#options.checkStore();
    const object = await ObjectWriter.create(path, header);
    let seq: number | undefined;
    try {
      seq = await write(object);
      if (seq !== undefined) return { seq, bytes: await object.finish(seq) };
    } catch (error) {
      await object.abandon();
      throw error;
    }
    await object.abandon();
    return { seq: 0, bytes: 0 };
  }

  /** What changed after a journal number, up to where the journal ends while it is read. @returns that end */
  async #writeChanges(object: ObjectWriter, accountId: number, afterSeq: number): Promise<number> {
    const { tables } = this.#options;
    for (let seq = afterSeq; ; ) {
      // Read in one go: nothing changes between the end of the journal and the states that are told.
      const entries = tables.journalAfter(accountId, seq, PAGE);
      const isEnd = entries.length < PAGE;
      const head = tables.headOf(accountId);
      const records = this.#recordsOf(entries);
      await object.add(records);
      if (isEnd) return head;
      seq = entries.at(-1)?.seq ?? head;
      await this.#rest();
    }
  }

  #recordsOf(entries: readonly JournalEntry[]): object[] {
    const rows = this.#options.tables.nodes([...new Set(entries.map(({ nodeId }) => nodeId))]);
    const there = new Set(rows.map(({ id }) => id));
    const gone = entries.flatMap<GoneRecord>(({ nodeId, gone: publicId }) =>
      publicId === null || there.has(nodeId) ? [] : [{ gone: publicId }],
    );
    return [...rows.map(toRecord), ...gone];
  }

  async #writeAccount({ accountId, publicId }: Behind): Promise<void> {
    const record = this.#options.tables.account(accountId);
    invariant(record !== undefined, "an account that is followed has a user");
    await this.#writeObject(this.#accountPath(publicId), this.#header(publicId, 0, true), async (object) => {
      await object.add([record]);
      return 0;
    });
  }

  /** An erased account leaves nothing: its objects first, then what is known of them. */
  async #forget({ accountId, publicId }: Behind): Promise<void> {
    const { root, tables, writer } = this.#options;
    await rm(this.#accountPath(publicId), { force: true });
    await rm(this.#folderOf(publicId), { recursive: true, force: true });
    for (const stamp of await namesIn(join(root, NEWER_FOLDER))) {
      await rm(join(root, NEWER_FOLDER, stamp, publicId), { recursive: true, force: true });
    }
    await syncFolder(root);
    await writer.run(() => tables.forget(accountId), { isQuiet: true });
  }

  /** Files that follow each other and are of about one size become one, and many of those again. */
  async #joinSmall(folder: string): Promise<void> {
    for (let span = 1; ; span *= JOINED) {
      const files = chooseObjects(await listObjects(folder)).filter(
        ({ isFull, first, last }) => !isFull && last - first + 1 >= span && last - first + 1 < span * JOINED,
      );
      if (files.length < JOINED) return;
      await joinObjects(files);
    }
  }

  /**
   * Holds the objects against the database, once after the start. What a crash left half written goes; one whose number was
   * not noted any more is written again. Where objects are missing, everything is written again.
   */
  async #settle(): Promise<void> {
    const { root, tables } = this.#options;
    await sweepPartials(join(root, ACCOUNTS_FOLDER));
    await this.#options.endedShares.compact(this.#options.clock.nowMs());
    const known = new Set<string>();
    for (const position of tables.positions()) {
      known.add(position.publicId);
      await sweepPartials(this.#folderOf(position.publicId));
      await this.#settleAccount(position);
    }
    const strangers = (await namesIn(root)).filter(
      (name) => name !== ACCOUNTS_FOLDER && name !== NEWER_FOLDER && !known.has(name),
    );
    for (const name of strangers) await this.#setAside(name, 0);
  }

  async #settleAccount(position: Position): Promise<void> {
    const { tables, writer, epoch } = this.#options;
    const files = await listObjects(this.#folderOf(position.publicId));
    const later = files.filter(({ last }) => last > position.number);
    if (position.epoch !== epoch || (await this.#isAhead(position, later))) {
      if (later.length > 0) await this.#setAside(position.publicId, position.number);
    } else {
      for (const { path } of later) await rm(path, { force: true });
      if (isComplete(files, position)) return;
    }
    await writer.run(() => tables.setPosition({ ...position, fullBytes: 0 }), { isQuiet: true });
  }

  /** Whether objects that were not noted tell of more than the database has, as a crash never leaves them. */
  async #isAhead({ accountId, number }: Position, later: readonly { path: string; last: number }[]): Promise<boolean> {
    if (later.some(({ last }) => last > number + 1)) return true;
    for (const { path } of later) {
      const { seq = 0 } = await readObjects(path, () => undefined);
      if (seq > this.#options.tables.headAtStart(accountId)) return true;
    }
    return false;
  }

  /** @param number objects after this one are told of */
  async #setAside(publicId: string, number: number): Promise<void> {
    const { root, clock, log } = this.#options;
    let records = 0;
    for (const { path, last } of await listObjects(join(root, publicId))) {
      if (last > number) records += (await readObjects(path, () => undefined)).records;
    }
    const stamp = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, "-");
    const aside = join(root, NEWER_FOLDER, stamp);
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await rename(join(root, publicId), join(aside, publicId));
    for (const folder of [aside, dirname(aside), root]) await syncFolder(folder);
    if (this.#mergesLater) return;
    log.warn(
      "The database is older than the metadata journal; it was restored. Newer entries are kept for 30 days. " +
        "To apply them, stop the server and run: larder rebuild --newer",
      { account: publicId, changes: records, path: join(aside, publicId) },
    );
  }

  #header(account: string, number: number, isFull: boolean): ObjectHeader {
    return { larder: "store journal", format: 1, account, number, isFull, writtenAt: this.#options.clock.nowMs() };
  }

  #folderOf(publicId: string): string {
    return join(this.#options.root, publicId);
  }

  #accountPath(publicId: string): string {
    return accountPath(this.#options.root, publicId);
  }

  async #rest(): Promise<void> {
    await Bun.sleep(this.#options.writer.waiting > 0 ? BUSY_REST_MS : REST_MS);
  }
}

/** Where an account itself is written. @param root `blobs/journal/` */
export function accountPath(root: string, publicId: string): string {
  return join(root, ACCOUNTS_FOLDER, `${publicId}.jsonl.zst`);
}

function isGrown({ fullBytes, laterBytes }: Position): boolean {
  return laterBytes > Math.max(GROWN_BYTES_MIN, GROWN_TIMES * fullBytes);
}

/** Whether every object since the one that holds everything is there. */
function isComplete(files: Parameters<typeof chooseObjects>[0], { number }: Position): boolean {
  const chosen = chooseObjects(files.filter(({ last }) => last <= number));
  let next = chosen[0]?.last ?? -1;
  if (chosen[0]?.isFull !== true) return false;
  for (const { first, last } of chosen.slice(1)) {
    if (first !== next + 1) return false;
    next = last;
  }
  return next === number;
}
