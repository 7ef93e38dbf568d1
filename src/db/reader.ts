import { AppError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import type { Bindable, ReadReply, ReadRequest, ReadStatement } from "./reader.worker.ts";
import { requireDescriptors } from "../lib/descriptors.ts";
import { endThread } from "../lib/end-thread.ts";
import { say } from "../translations/say.ts";

/** A statement, with the type of its result for the compiler. */
export interface Read<Result> extends ReadStatement {
  readonly result?: Result;
}

/** A statement that returns rows; `Row` describes the columns. */
export function rows<Row>(sql: string, parameters: readonly Bindable[] = []): Read<readonly Row[]> {
  return { sql, parameters, as: "rows" };
}

/** A statement that returns one text of comma-separated integers (`group_concat`), parsed into an array of numbers. */
export function numbers(sql: string, parameters: readonly Bindable[] = []): Read<Float64Array> {
  return { sql, parameters, as: "numbers" };
}

/**
 * A statement that returns columns `id`, `kind` and `name`. The result is the ids, sorted in the natural order of the names
 * within each kind, folders first.
 */
export function naturalOrder(sql: string, parameters: readonly Bindable[], order: "asc" | "desc"): Read<Float64Array> {
  return { sql, parameters, as: `natural-${order}` };
}

/** A statement that returns columns `id`, `name` and `key`. The result is the ids of rows whose key is not the natural key of the name. */
export function wrongNaturalKeys(sql: string, parameters: readonly Bindable[]): Read<Float64Array> {
  return { sql, parameters, as: "wrong-natural-keys" };
}

/** The results of several statements, in their order. */
export type Results<Reads extends readonly Read<unknown>[]> = {
  readonly [Index in keyof Reads]: Reads[Index] extends Read<infer Result> ? Result : never;
};

/** Requests that may wait for the thread; further ones fail immediately, so that clients retry later. */
const WAITING_MAX = 64;
const IDLE_MS = 60_000;

interface PendingRead {
  readonly resolve: (results: readonly (Float64Array | readonly object[])[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the database in a thread, off the event loop. The thread starts with the first request, and again after it
 * died. A read sees all that was committed before it was requested.
 */
export class Reader {
  readonly #path: string;
  readonly #log: Log;
  readonly #setup: readonly string[];
  readonly #waiting = new Map<number, PendingRead>();
  #worker: Worker | undefined;
  #ended: Promise<void> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  /**
   * @param path the database file, which must exist when the first request comes
   * @param setup statements that create temporary tables, run once on each new connection
   */
  constructor(path: string, log: Log, setup: readonly string[] = []) {
    this.#path = path;
    this.#log = log;
    this.#setup = setup;
  }

  /**
   * Runs the statements one after the other in one read transaction; results in their order.
   * @throws AppError overloaded if too many are waiting; database_error
   */
  read<const Reads extends readonly Read<unknown>[]>(statements: Reads): Promise<Results<Reads>> {
    if (this.#waiting.size >= WAITING_MAX) {
      const message = say`Too many searches are in progress. Try again in a few seconds.`;
      return Promise.reject(new AppError("overloaded", message));
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the thread returns what the statements declare
      this.#waiting.set(id, { resolve: resolve as PendingRead["resolve"], reject });
      this.#worker.postMessage({ id, path: this.#path, setup: this.#setup, statements } satisfies ReadRequest);
    });
  }

  /** Ends the thread; pending reads fail with `shutting_down`. Another request would start a new thread. */
  close(): void {
    clearTimeout(this.#idle);
    this.#endThread();
    this.#failAll(new AppError("shutting_down", say`The server is stopping. Try again in a few seconds.`));
  }

  /** Resolves when the connection of the last thread is closed, but at the latest two seconds after its end began. */
  async ended(): Promise<void> {
    await this.#ended;
  }

  #start(): Worker {
    requireDescriptors();
    const worker = new Worker(new URL("./reader.worker.ts", import.meta.url).href);
    worker.onmessage = (event: MessageEvent<ReadReply>) => this.#settle(event.data);
    const died = (why: string) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#log.error("The database reader thread exited; the next query restarts it.", { why });
      this.#failAll(new AppError("database_error", say`The search broke off. Try again.`, {}, new Error(why)));
    };
    worker.onerror = (event) => died(event.message);
    worker.addEventListener("close", () => died("closed"));
    worker.unref();
    return worker;
  }

  #settle(reply: ReadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    this.#endWhenIdle();
    if ("results" in reply) waiting?.resolve(reply.results);
    else {
      const message = say`The database could not complete the request. Ask your administrator to check the server log.`;
      const cause = Object.assign(new Error(reply.error), { code: reply.code });
      waiting?.reject(new AppError("database_error", message, {}, cause));
    }
  }

  /** A thread uses several megabytes: an idle one ends, and the next read starts a new one. */
  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#waiting.size === 0) this.#endThread();
    }, IDLE_MS);
    this.#idle.unref();
  }

  #endThread(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker !== undefined) this.#ended = endThread(worker);
  }

  #failAll(error: AppError): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}
