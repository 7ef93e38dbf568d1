import type { Database } from "bun:sqlite";
import { isWriting } from "../../../db/shared-reads.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { webhookQueries } from "./queries.ts";
import { parseEvents } from "./rows.ts";
import type { WebhookEvent } from "./types.ts";

type EventMap = ReadonlyMap<WebhookEvent, readonly number[]>;

const NONE: readonly number[] = [];
/** Cached accounts, with and without webhooks. */
const CACHED_MAX = 10_000;

/** Caches which webhooks subscribe to which event, so that accounts without webhooks cost only a map lookup. */
export class Subscriptions {
  readonly #sqlite: Database;
  readonly #queries: ReturnType<typeof webhookQueries>;
  readonly #cache = new Map<number, EventMap>();
  #isChanging = false;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#queries = webhookQueries(sqlite);
  }

  /** Row ids of the account's active webhooks that subscribe to the event. */
  find(accountId: number, event: WebhookEvent): readonly number[] {
    return this.#loadEvents(accountId).get(event) ?? NONE;
  }

  /** Row ids of all administrators' active webhooks that subscribe to the event. */
  findForAdministrators(event: WebhookEvent): number[] {
    const rows = this.#queries.ofAdministrators.all();
    return rows.filter((row) => parseEvents(row.events).includes(event)).map(({ id }) => id);
  }

  /** Must be called in each transaction that changes webhooks of an account: nothing is cached until the commit. */
  change(tx: Transaction, accountId: number): void {
    this.#cache.delete(accountId);
    this.#isChanging = true;
    // Transactions are synchronous: when this runs, this one has been committed or rolled back.
    queueMicrotask(() => {
      this.#isChanging = false;
    });
    tx.afterCommit(() => this.#cache.delete(accountId));
  }

  /** Clears the cache, because another process changed the database. */
  dropCaches(): void {
    this.#cache.clear();
  }

  #loadEvents(accountId: number): EventMap {
    const cached = this.#cache.get(accountId);
    if (cached !== undefined && !this.#isChanging) return cached;
    const events = new Map<WebhookEvent, number[]>();
    for (const row of this.#queries.ofAccount.all(accountId)) {
      if (row.isActive === 0) continue;
      for (const event of parseEvents(row.events)) events.set(event, [...(events.get(event) ?? []), row.id]);
    }
    // Within a transaction that changes webhooks, the rows may still be rolled back.
    if (this.#isChanging && isWriting(this.#sqlite)) return events;
    if (this.#cache.size >= CACHED_MAX) this.#cache.clear();
    this.#cache.set(accountId, events);
    return events;
  }
}
