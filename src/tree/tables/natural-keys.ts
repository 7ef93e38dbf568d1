/**
 * The keys of the natural order (`nodes.natural_key`) are stored a few seconds after a file: one index entry per upload would
 * cost up to a third of its database time, many at once cost little. Until then the key is null. `queries/list.ts` stores
 * the missing keys of a folder before it reads that folder by the index, so listings are always complete.
 */
import type { Database } from "bun:sqlite";
import { type Reader, rows, wrongNaturalKeys } from "../../db/reader.ts";
import type { Writer } from "../../db/transaction.ts";
import type { Log } from "../../lib/log.ts";
import { naturalKey } from "../../lib/natural-key.ts";

/** Nodes per transaction: about three milliseconds. */
const NODES_PER_STEP = 200;
/** Pause between two steps, in which other requests can write. */
const REST_MS = 5;
/** How long new nodes wait for their keys, so that many share a transaction. */
const DELAY_MS = 5_000;
/** With so many new nodes, their keys are stored at once. */
const WAITING_MAX = 1_000;
/** Missing keys that a listing stores; with more, the reading thread sorts instead. */
const CATCH_UP_MAX = 2_000;
/** Folders whose new nodes get their keys at once, because somebody lists them, and for how long. */
const LISTED_MAX = 64;
const LISTED_MS = 60_000;

interface UnkeyedNode {
  readonly id: number;
  readonly name: string;
}

/** Dependencies of {@link NaturalKeys}. */
export interface NaturalKeysOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly log: Log;
  /** Called after wrong keys were removed: pages that were found by them may be wrong. */
  readonly onRemoved: () => void;
}

/** Stores the natural keys of a database. */
export class NaturalKeys {
  readonly #options: NaturalKeysOptions;
  readonly #writer: Writer;
  readonly #log: Log;
  /** Until when the new nodes of a folder get their keys at once, by row id. */
  readonly #listed = new Map<number, number>();
  readonly #inFolder;
  readonly #some;
  readonly #set;
  readonly #remove;
  #isStarted = false;
  #isStopped = false;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #working: Promise<void> | undefined;

  constructor(options: NaturalKeysOptions) {
    const { sqlite, writer, log } = options;
    this.#options = options;
    this.#writer = writer;
    this.#log = log;
    this.#inFolder = sqlite.prepare<UnkeyedNode, [number, number, number]>(
      `SELECT id, name FROM nodes INDEXED BY nodes_unkeyed WHERE parent_id = ?1 AND kind = ?2 AND natural_key IS NULL
       LIMIT ?3`,
    );
    this.#some = sqlite.prepare<UnkeyedNode, [number]>(
      "SELECT id, name FROM nodes INDEXED BY nodes_unkeyed WHERE natural_key IS NULL LIMIT ?1",
    );
    this.#set = sqlite.prepare<undefined, [number, string]>("UPDATE nodes SET natural_key = ?2 WHERE id = ?1");
    this.#remove = sqlite.prepare<undefined, [string]>(
      "UPDATE nodes SET natural_key = NULL WHERE id IN (SELECT value FROM json_each(?1))",
    );
  }

  /** The key to store with a new node; null to store it later. */
  forNew(parentId: number | null, name: string): string | null {
    if (parentId !== null && this.#isListed(parentId)) return naturalKey(name);
    this.#waiting++;
    if (this.#isStarted) this.#plan();
    return null;
  }

  /** Whether children of this kind in a folder have no key. */
  isMissingIn(folderId: number, kind: number): boolean {
    return this.#inFolder.get(folderId, kind, 1) !== null;
  }

  /** Whether any node has no key. */
  isMissing(): boolean {
    return this.#some.get(1) !== null;
  }

  /**
   * Stores the missing keys of a folder, unless there are too many. New nodes then get their keys at once for a minute, so
   * a folder that somebody lists while files arrive is complete. Does not throw: a full disk only makes listings slower.
   * @returns false if keys are still missing
   */
  async catchUpIn(folderId: number, kind: number): Promise<boolean> {
    this.#noteListed(folderId);
    if (this.#inFolder.all(folderId, kind, CATCH_UP_MAX + 1).length > CATCH_UP_MAX) return false;
    return this.#catchUp(() => this.#inFolder.all(folderId, kind, NODES_PER_STEP));
  }

  /** Stores all missing keys, unless there are too many. Does not throw. */
  async catchUp(): Promise<void> {
    if (this.#some.all(CATCH_UP_MAX + 1).length > CATCH_UP_MAX) return;
    await this.#catchUp(() => this.#some.all(NODES_PER_STEP));
  }

  /** Stores keys in the background from now on. Only in the server. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Checks for missing keys now: another process may have written. */
  wake(): void {
    if (this.#isStarted && !this.#isStopped) this.#working ??= this.#work();
  }

  /** Ends after the current step. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  /** Stores all missing keys, in short steps. A step that did not commit is repeated, as its nodes still have no key. */
  async fill(): Promise<void> {
    while (!this.#isStopped && this.isMissing()) {
      await this.#store(() => this.#some.all(NODES_PER_STEP));
      await Bun.sleep(REST_MS);
    }
  }

  /**
   * Removes keys that are not those of their names; they are then stored again in the background.
   * @returns how many
   */
  async repair(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const ids of wrongKeys(this.#options.reader)) {
      if (signal.aborted) break;
      for (let start = 0; start < ids.length; start += NODES_PER_STEP) {
        const some = ids.slice(start, start + NODES_PER_STEP);
        await this.#writer.run(() => this.#remove.run(JSON.stringify(some)), { isQuiet: true });
        removed += some.length;
      }
      this.#options.onRemoved();
    }
    this.wake();
    return removed;
  }

  async #work(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = 0;
    try {
      await this.fill();
    } catch (error) {
      this.#log.error("Could not store the keys that sort names; the next change retries.", { error });
    } finally {
      this.#working = undefined;
    }
  }

  #plan(): void {
    if (this.#waiting >= WAITING_MAX) this.wake();
    this.#timer ??= setTimeout(() => this.wake(), DELAY_MS).unref();
  }

  async #catchUp(find: () => UnkeyedNode[]): Promise<boolean> {
    try {
      for (let left = CATCH_UP_MAX; left > 0; left -= NODES_PER_STEP) {
        if ((await this.#store(find)) < NODES_PER_STEP) return true;
      }
    } catch (error) {
      this.#log.warn("Could not store the keys that sort names; the listing is sorted without them.", { error });
    }
    return false;
  }

  /** @returns how many keys were stored */
  #store(find: () => UnkeyedNode[]): Promise<number> {
    return this.#writer.run(
      () => {
        const nodes = find();
        for (const { id, name } of nodes) this.#set.run(id, naturalKey(name));
        return nodes.length;
      },
      { isQuiet: true },
    );
  }

  #noteListed(folderId: number): void {
    this.#listed.delete(folderId);
    this.#listed.set(folderId, performance.now() + LISTED_MS);
    const [oldest] = this.#listed.keys();
    if (this.#listed.size > LISTED_MAX && oldest !== undefined) this.#listed.delete(oldest);
  }

  #isListed(folderId: number): boolean {
    const untilMs = this.#listed.get(folderId);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#listed.delete(folderId);
    return false;
  }
}

/** Row ids per step: about 20 ms of the reading thread, in which other reads wait. */
const IDS_PER_STEP = 10_000;

/**
 * Row ids of all nodes with a stored natural key that is not the key of their name, some at a time. Nodes whose key is not
 * stored yet are left out.
 */
export async function* wrongKeys(reader: Reader): AsyncGenerator<readonly number[], void> {
  const [[last]] = await reader.read([rows<{ id: number | null }>("SELECT max(id) AS id FROM nodes")]);
  for (let afterId = 0; afterId < (last?.id ?? 0); afterId += IDS_PER_STEP) {
    const [ids] = await reader.read([
      wrongNaturalKeys(
        "SELECT id, name, natural_key AS key FROM nodes WHERE id > ?1 AND id <= ?2 AND natural_key IS NOT NULL",
        [afterId, afterId + IDS_PER_STEP],
      ),
    ]);
    if (ids.length > 0) yield [...ids];
  }
}
