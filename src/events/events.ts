/**
 * Events let a lower feature trigger a higher one without importing it. The emitter emits inside the transaction of its
 * change, and listeners write their own rows in that same transaction. So the consequences of a change are as durable
 * as the change, happen exactly once, and are rolled back with it. `server/composition/subscriptions.ts` lists the
 * listeners.
 */
import type { Transaction } from "../db/transaction.ts";
import type { EventName, EventOf } from "./catalogue.ts";

/**
 * Called inside the emitting transaction: synchronous, no network, no files. If it throws, the transaction is undone.
 */
export type Listener<Name extends EventName> = (tx: Transaction, event: EventOf<Name>) => void;

/** The listeners of one server. */
export class Events {
  readonly #listeners = new Map<EventName, Listener<never>[]>();

  /** Adds a listener for all later events of this name. Listeners are called in the order in which they were added. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  /** Calls all listeners, synchronously. Must be called inside a transaction. */
  emit<Name extends EventName>(tx: Transaction, name: Name, event: EventOf<Name>): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `on` put only listeners of this very name there
    for (const listener of listeners as unknown as Listener<Name>[]) listener(tx, event);
  }

  /** Whether there are listeners: check this first if building the event is expensive. */
  hasListeners(name: EventName): boolean {
    return this.#listeners.has(name);
  }
}
