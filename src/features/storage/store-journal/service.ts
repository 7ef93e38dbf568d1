/**
 * The store journal: names, folders, tags, owners and versions, stored next to the blobs, so that `larder rebuild` can
 * make a database from the store alone. Each account has a folder of objects below `blobs/journal/`, numbered without a
 * gap: a full object, and objects with the changes since.
 *
 * Objects follow each account's journal with a lag of some seconds. Once an object is durable, a transaction notes its
 * number. So no upload waits for the store journal, and after a crash the same object is written again. Each object
 * ends at one journal number and is complete up to it: a node that changes while the object is written is written again
 * in it.
 *
 * Objects that are newer than the database show that the database was restored to an earlier state. They are moved to
 * `blobs/journal/newer/`, so that they never mix with new changes, and a full object is written.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { EndedShares } from "./ended-shares.ts";
import {
  accountPath,
  chooseObjects,
  joinObjects,
  listObjects,
  namesIn,
  NEWER_FOLDER,
  objectName,
  ObjectWriter,
  readObjects,
  syncFolder,
} from "./object-file.ts";
import { type JournalEntry, nodeIdsOf, type PendingAccount, type Position, type Rescan } from "./queries.ts";
import { type ReconcileOptions, reconcileObjects } from "./reconcile.ts";
import { type GoneRecord, type ObjectHeader, toRecord } from "./records.ts";

/** Dependencies of {@link StoreJournal}. */
interface StoreJournalOptions extends Omit<ReconcileOptions, "mergesLater"> {
  readonly reader: Pick<Reader, "read">;
  readonly writer: Pick<Writer, "run" | "waiting">;
  /** Throws if the store's disk is missing. */
  readonly checkStore: () => void;
  readonly endedShares: Pick<EndedShares, "note" | "compact">;
}

const TICK_MS = 2_000;
/** Pause after a failure, such as a full disk. */
const RETRY_MS = 30_000;
/** Nodes that are read at a time, in a millisecond or two. */
const PAGE = 100;
/** More than an account can have, including those that were deleted since the last object. */
const ALBUM_RESCANS_MAX = 10_000;
/** The most nodes of which a stopping server still writes a full object; that takes a second at most. */
const NODES_AT_STOP_MAX = 20_000;
/** How long a stopping server begins to write another account: after a restore, all of them are pending. */
const STOP_MS_MAX = 2_000;
/** Pauses between two pages, so that requests come first; the longer one while transactions are queued. */
const PAUSE_MS = 1;
const BUSY_PAUSE_MS = 10;
/** This many consecutive files are joined into one: a photo every few seconds must not leave a million small files. */
const JOINED_FILES = 32;
/** A full object is written when the changes since the last one are this many times as large, */
const GROWN_TIMES = 2;
/** but not for fewer bytes than this. */
const GROWN_BYTES_MIN = 256 * 1024;

/** Writes the store journal. Only the server has one, for its database. */
export class StoreJournal {
  readonly #options: StoreJournalOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #endsAtMs = Number.POSITIVE_INFINITY;
  #isReconciled = false;
  #mergesLater = false;
  #seenMark = "";
  #restsUntilMs = 0;

  constructor(options: StoreJournalOptions) {
    this.#options = options;
  }

  /** Starts the timer that writes changes. */
  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /**
   * Stops, and writes pending changes first if it was started. A full object of a large account is left for the next
   * start, and so are those of many accounts. A failure is only logged, because it loses nothing.
   */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer === undefined) return;
    this.#isStopped = true;
    this.#endsAtMs = performance.now() + STOP_MS_MAX;
    await this.#working;
    await this.#work().catch((error: unknown) => this.#onFailure(error));
  }

  /**
   * Writes all pending changes; durable on return. For backups, commands and tests.
   * @throws the system's error; AppError store_missing
   */
  async flush(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    await this.#begin(() => this.#work());
  }

  /**
   * Moves newer objects aside, as the first run after a start does.
   * @param mergesLater whether the caller merges them into the database, so that the operator needs no hint
   * @throws the system's error; AppError store_missing
   */
  async reconcile(mergesLater = false): Promise<void> {
    this.#mergesLater = mergesLater;
    while (this.#working !== undefined) await this.#working;
    await this.#begin(async () => {
      this.#options.checkStore();
      await this.#reconcile();
    });
  }

  #tick(): void {
    if (this.#working !== undefined || performance.now() < this.#restsUntilMs) return;
    if (this.#options.tables.changeMark() === this.#seenMark) return;
    void this.#begin(() => this.#work().catch((error: unknown) => this.#onFailure(error)));
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

  #onFailure(error: unknown): void {
    this.#restsUntilMs = performance.now() + RETRY_MS;
    this.#options.log.error("Could not write to the metadata journal; will retry.", {
      error,
    });
  }

  async #work(): Promise<void> {
    const { tables, epoch, checkStore, endedShares } = this.#options;
    const mark = tables.changeMark();
    checkStore();
    await endedShares.note();
    await this.#reconcile();
    for (const account of tables.erasedAccounts()) await this.#forget(account);
    for (const account of tables.pendingAccounts(epoch)) {
      if (performance.now() > this.#endsAtMs) return;
      await this.#writeAccountChanges(account);
    }
    // Writing changed the mark. Other changes since are seen at the next tick.
    this.#seenMark = tables.pendingAccounts(epoch).length === 0 ? tables.changeMark() : mark;
  }

  async #writeAccountChanges(account: PendingAccount): Promise<void> {
    const { tables, writer, epoch } = this.#options;
    const { accountId, publicId } = account;
    const [own] = tables.rescans(accountId, -1, 1);
    if (own?.nodeId === 0 || tables.positionOf(accountId) === undefined) {
      await this.#writeAccount(account);
      if (own?.nodeId === 0) await writer.run(() => tables.dequeueRescan(accountId, own), { isQuiet: true });
    }
    const position = tables.positionOf(accountId);
    if (position === undefined || position.fullBytes === 0 || position.epoch !== epoch || isGrown(position)) {
      await this.#writeFull(account);
      return;
    }
    const hasRescans = tables.rescans(accountId, 0, 1).length + tables.albumRescans(accountId, 1).length > 0;
    if (tables.headOf(accountId) === position.seq && !hasRescans) return;
    const number = position.number + 1;
    const path = join(this.#folderOf(publicId), objectName(number, number, false));
    const written: Rescan[] = [];
    const { seq, bytes } = await this.#writeObject(path, this.#header(publicId, number, false), async (object) => {
      await this.#writeRescans(object, accountId, written);
      await this.#writeChangedAlbums(object, accountId, written);
      return this.#writeChanges(object, accountId, position.seq);
    });
    await writer.run(
      () => {
        tables.setPosition({ ...position, number, seq, laterBytes: position.laterBytes + bytes });
        for (const one of written) tables.dequeueRescan(accountId, one);
      },
      { isQuiet: true },
    );
    if (number % JOINED_FILES === 0) await this.#joinSmall(this.#folderOf(publicId));
  }

  /**
   * Writes queued rescans: changes without a journal number.
   * @param written gets those to dequeue once the object is durable
   */
  async #writeRescans(object: ObjectWriter, accountId: number, written: Rescan[]): Promise<void> {
    const { tables } = this.#options;
    for (let afterId = 0; ; ) {
      const page = tables.rescans(accountId, afterId, PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      await object.add(this.#recordsOf(page));
      written.push(...page);
      afterId = last.nodeId;
      await this.#pause();
    }
  }

  /** Writes the albums that changed, and the deletions of albums. @param written as in {@link #writeRescans} */
  async #writeChangedAlbums(object: ObjectWriter, accountId: number, written: Rescan[]): Promise<void> {
    const page = this.#options.tables.albumRescans(accountId, ALBUM_RESCANS_MAX);
    for (const { nodeId, gone } of page) {
      if (!(await this.#writeAlbum(object, -nodeId)) && gone !== null) await object.add([{ gone }]);
    }
    written.push(...page);
  }

  /** @returns whether the album exists */
  async #writeAlbum(object: ObjectWriter, id: number): Promise<boolean> {
    const record = await this.#options.tables.albums.read(id, () => this.#pause());
    if (record !== undefined) await object.add([record]);
    await this.#pause();
    return record !== undefined;
  }

  /** Writes a full object. Earlier objects are deleted once it was read back. */
  async #writeFull({ accountId, publicId }: PendingAccount): Promise<void> {
    const { tables, reader, writer, epoch } = this.#options;
    const folder = this.#folderOf(publicId);
    const before = await listObjects(folder);
    const number = Math.max(tables.positionOf(accountId)?.number ?? 0, ...before.map(({ last }) => last)) + 1;
    const path = join(folder, objectName(number, number, true));
    const begun = tables.headOf(accountId);
    const written: Rescan[] = [];
    const { seq, bytes } = await this.#writeObject(path, this.#header(publicId, number, true), async (object) => {
      const [ids] = await reader.read([nodeIdsOf(accountId)]);
      for (let start = 0; start < ids.length; start += PAGE) {
        if (this.#isStopped && ids.length > NODES_AT_STOP_MAX) return undefined;
        await object.add(tables.nodes([...ids.subarray(start, start + PAGE)]).map(toRecord));
        await this.#pause();
      }
      await this.#writeRescans(object, accountId, written);
      // Those that change from here on are written in the next object.
      written.push(...tables.albumRescans(accountId, ALBUM_RESCANS_MAX));
      for (const id of tables.albums.idsOf(accountId)) await this.#writeAlbum(object, id);
      return this.#writeChanges(object, accountId, begun);
    });
    if (bytes === 0) return;
    const { fault } = await readObjects(path, () => undefined);
    if (fault !== undefined) throw new Error(`Could not read ${path} after it was written: ${fault}.`);
    await writer.run(
      () => {
        tables.setPosition({ accountId, publicId, number, seq, fullBytes: bytes, laterBytes: 0, epoch });
        for (const one of written) tables.dequeueRescan(accountId, one);
      },
      { isQuiet: true },
    );
    for (const { path: old } of before) await rm(old, { force: true });
  }

  /** @param write returns the journal number at which the object ends; undefined to abandon it */
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

  /** Writes changes after a journal number, up to the end of the journal. @returns the number at that end */
  async #writeChanges(object: ObjectWriter, accountId: number, afterSeq: number): Promise<number> {
    const { tables } = this.#options;
    for (let seq = afterSeq; ; ) {
      // Synchronous, so that nothing changes between reading the end of the journal and the nodes.
      const entries = tables.journalAfter(accountId, seq, PAGE);
      const isEnd = entries.length < PAGE;
      const head = tables.headOf(accountId);
      const records = this.#recordsOf(entries);
      await object.add(records);
      if (isEnd) return head;
      seq = entries.at(-1)?.seq ?? head;
      await this.#pause();
    }
  }

  #recordsOf(entries: readonly Pick<JournalEntry, "nodeId" | "gone">[]): object[] {
    const rows = this.#options.tables.nodes([...new Set(entries.map(({ nodeId }) => nodeId))]);
    const existing = new Set(rows.map(({ id }) => id));
    const gone = entries.flatMap<GoneRecord>(({ nodeId, gone: publicId }) =>
      publicId === null || existing.has(nodeId) ? [] : [{ gone: publicId }],
    );
    return [...rows.map(toRecord), ...gone];
  }

  async #writeAccount({ accountId, publicId }: PendingAccount): Promise<void> {
    const record = this.#options.tables.account(accountId);
    invariant(record !== undefined, "an account that is followed has a user");
    await this.#writeObject(this.#accountPath(publicId), this.#header(publicId, 0, true), async (object) => {
      await object.add([record]);
      return 0;
    });
  }

  /** Deletes the objects of an erased account, then its position. */
  async #forget({ accountId, publicId }: PendingAccount): Promise<void> {
    const { root, tables, writer } = this.#options;
    await rm(this.#accountPath(publicId), { force: true });
    await rm(this.#folderOf(publicId), { recursive: true, force: true });
    for (const timestamp of await namesIn(join(root, NEWER_FOLDER))) {
      await rm(join(root, NEWER_FOLDER, timestamp, publicId), { recursive: true, force: true });
    }
    await syncFolder(root);
    await writer.run(() => tables.forget(accountId), { isQuiet: true });
  }

  /** Joins consecutive files of about equal size, and many joined files again. */
  async #joinSmall(folder: string): Promise<void> {
    for (let span = 1; ; span *= JOINED_FILES) {
      const files = chooseObjects(await listObjects(folder)).filter(
        ({ isFull, first, last }) => !isFull && last - first + 1 >= span && last - first + 1 < span * JOINED_FILES,
      );
      if (files.length < JOINED_FILES) return;
      await joinObjects(files);
    }
  }

  async #reconcile(): Promise<void> {
    if (!this.#isReconciled) await reconcileObjects({ ...this.#options, mergesLater: this.#mergesLater });
    this.#isReconciled = true;
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

  async #pause(): Promise<void> {
    await Bun.sleep(this.#options.writer.waiting > 0 ? BUSY_PAUSE_MS : PAUSE_MS);
  }
}

function isGrown({ fullBytes, laterBytes }: Position): boolean {
  return laterBytes > Math.max(GROWN_BYTES_MIN, GROWN_TIMES * fullBytes);
}
