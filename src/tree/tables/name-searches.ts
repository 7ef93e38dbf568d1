/**
 * Searches for frequent texts in the names of large accounts, by a {@link NameIndex} in a thread of its own. The first
 * such search only starts the thread. It ends a few minutes after the last one, and gives back its memory: about 70 MB
 * for a million files.
 */
import { canStartThread } from "../../lib/descriptors.ts";
import { endThread } from "../../lib/end-thread.ts";
import type { Log } from "../../lib/log.ts";
import type { SortField } from "../model/types.ts";
import type { NamePage, NameSearch } from "./name-index.ts";
import type { NameReply, NameRequest } from "./name-index.worker.ts";

/** Settings of {@link NameSearches}. */
export interface NameSearchesOptions {
  /** The database file. */
  readonly path: string;
  readonly log: Log;
  /** Accounts with fewer files and folders have no index. */
  readonly nodesMin?: number;
}

/** Below, the database answers any search within 20 ms. */
const NODES_MIN = 50_000;
/** Above, an index would take more than 200 MB. */
const NODES_MAX = 3_000_000;
const IDLE_MS = 3 * 60_000;
const PREPARE_DELAY_MS = 300;
/** Indexes at a time. */
const THREADS_MAX = 2;

/** The indexes of two accounts at most, each until nobody has searched it for three minutes. */
export class NameSearches {
  readonly #options: NameSearchesOptions;
  readonly #threads = new Map<number, NameThread>();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: NameSearchesOptions) {
    this.#options = options;
  }

  /**
   * One page of the matches. Undefined while no index is ready: then the caller has to search in the database.
   * @param nodes the number of files and folders of the account
   */
  async find(accountId: number, nodes: number, search: NameSearch): Promise<NamePage | undefined> {
    const { nodesMin = NODES_MIN } = this.#options;
    if (nodes < nodesMin || nodes > NODES_MAX) return undefined;
    const thread = this.#threads.get(accountId) ?? this.#start(accountId);
    if (thread === undefined) return undefined;
    return thread.find(search);
  }

  /** Resolves when no index is being built. For tests. */
  async idle(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.idle()));
  }

  /** Ends all threads; their searches return undefined. */
  close(): void {
    for (const thread of this.#threads.values()) thread.end();
  }

  /** Resolves when the connections of all threads that were ended are closed, after two seconds at the latest. */
  async ended(): Promise<void> {
    await this.#ended;
  }

  /** Undefined if other accounts use all threads, or no thread can start. */
  #start(accountId: number): NameThread | undefined {
    if (this.#threads.size >= THREADS_MAX || !canStartThread()) return undefined;
    const { path, log } = this.#options;
    const thread = new NameThread(path, accountId, log, (ended) => {
      this.#threads.delete(accountId);
      this.#ended = Promise.all([this.#ended, ended]);
    });
    this.#threads.set(accountId, thread);
    return thread;
  }
}

/** The thread of one account's index. */
class NameThread {
  readonly #path: string;
  readonly #accountId: number;
  readonly #log: Log;
  readonly #onEnd: (ended: Promise<void>) => void;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (page: NamePage | undefined) => void>();
  #sorts: ReadonlySet<SortField> = new Set();
  #preparing: PromiseWithResolvers<void> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #delay: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;
  #lastId = 0;

  constructor(path: string, accountId: number, log: Log, onEnd: (ended: Promise<void>) => void) {
    this.#path = path;
    this.#accountId = accountId;
    this.#log = log;
    this.#onEnd = onEnd;
    this.#worker = new Worker(new URL("./name-index.worker.ts", import.meta.url).href);
    this.#worker.onmessage = (event: MessageEvent<NameReply>) => this.#settle(event.data);
    this.#worker.onerror = (event) => this.#fail(event.message);
    this.#worker.addEventListener("close", () => this.#fail("It ended."));
    this.#worker.unref();
  }

  /** Resolves when the thread is not preparing anything. */
  async idle(): Promise<void> {
    await this.#preparing?.promise;
  }

  find(search: NameSearch): Promise<NamePage | undefined> {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), IDLE_MS);
    this.#idle.unref();
    // A thread that prepares a sort responds only a second later.
    if (this.#preparing !== undefined) return Promise.resolve(undefined);
    if (!this.#sorts.has(search.sort)) {
      this.#preparing = Promise.withResolvers();
      const request = { path: this.#path, accountId: this.#accountId, sort: search.sort };
      // This search itself reads the database: it should not have to share the processor.
      this.#delay = setTimeout(() => this.#send(request), PREPARE_DELAY_MS);
      this.#delay.unref();
      return Promise.resolve(undefined);
    }
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, search });
    });
  }

  /** Also if too much has changed since the build: the next search starts another thread. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#delay);
    this.#onEnd(endThread(this.#worker));
    this.#preparing?.resolve();
    this.#preparing = undefined;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  #send(request: NameRequest): void {
    this.#worker.postMessage(request);
  }

  #settle(reply: NameReply): void {
    if ("error" in reply) this.#fail(reply.error);
    else if ("sorts" in reply) {
      this.#sorts = new Set(reply.sorts);
      this.#preparing?.resolve();
      this.#preparing = undefined;
      if (!reply.isPrepared) this.end();
    } else {
      this.#waiting.get(reply.id)?.(reply.page);
      this.#waiting.delete(reply.id);
      if (reply.page === undefined) this.end();
    }
  }

  #fail(why: string): void {
    if (this.#isEnded) return;
    this.#log.error("The thread for searches in names failed; the database is searched instead.", { why });
    this.end();
  }
}
