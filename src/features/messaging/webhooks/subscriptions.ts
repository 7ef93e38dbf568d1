/** Which webhooks want which event, kept in memory: the deeds of accounts without webhooks pay a look into a map. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import { webhookQueries } from "./queries.ts";
import { parseEvents } from "./rows.ts";
import type { WebhookEvent } from "./types.ts";

type EventMap = ReadonlyMap<WebhookEvent, readonly number[]>;

const NONE: readonly number[] = [];
/** Accounts remembered, with and without webhooks. */
const KNOWN_MAX = 10_000;

/** See the head of the file. */
export class Subscriptions {
  readonly #sqlite: Database;
  readonly #queries: ReturnType<typeof webhookQueries>;
  readonly #known = new Map<number, EventMap>();
  #isChanging = false;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#queries = webhookQueries(sqlite);
  }

  /** Row ids of the active webhooks of an account that want the event. */
  of(accountId: number, event: WebhookEvent): readonly number[] {
    return this.#eventsOf(accountId).get(event) ?? NONE;
  }

  /** Row ids of the active webhooks of all administrators that want the event. */
  ofAdministrators(event: WebhookEvent): number[] {
    const rows = this.#queries.ofAdministrators.all();
    return rows.filter((row) => parseEvents(row.events).includes(event)).map(({ id }) => id);
  }

  /** Webhooks of an account change in this deed: what is remembered is void, and nothing is until the commit. */
  change(tx: Transaction, accountId: number): void {
    this.#known.delete(accountId);
    this.#isChanging = true;
    // Transactions are synchronous: when this runs, it has been committed or rolled back.
    queueMicrotask(() => {
      this.#isChanging = false;
    });
    tx.afterCommit(() => this.#known.delete(accountId));
  }

  /** Forgets everything: another process wrote. */
  dropCaches(): void {
    this.#known.clear();
  }

  #eventsOf(accountId: number): EventMap {
    const known = this.#known.get(accountId);
    if (known !== undefined && !this.#isChanging) return known;
    const events = new Map<WebhookEvent, number[]>();
    for (const row of this.#queries.ofAccount.all(accountId)) {
      if (row.isActive === 0) continue;
      for (const event of parseEvents(row.events)) events.set(event, [...(events.get(event) ?? []), row.id]);
    }
    // What is read in a transaction that changes it may be undone.
    if (this.#isChanging && this.#sqlite.inTransaction) return events;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(accountId, events);
    return events;
  }
}
