/**
 * How a lower feature causes something in a higher one without knowing it: it tells what happened, inside the deed that
 * makes it so; who listens writes rows of its own in that same deed. So what follows from a change is as durable as the
 * change, happens exactly once, and is undone with it. Who hears what is listed in `server/subscriptions.ts`.
 */
import type { Transaction } from "../db/transaction.ts";
import type { EventName, EventOf } from "./catalogue.ts";

/** Hears an event inside the deed that emits it: synchronous, no network, no files; what it throws undoes the deed. */
export type Listener<Name extends EventName> = (tx: Transaction, event: EventOf<Name>) => void;

/** The listeners of one server. */
export class Events {
  readonly #listeners = new Map<EventName, Listener<never>[]>();

  /** Lets `listener` hear every later event of this name, after those that were added before it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  /** Tells all listeners, at once. To be called inside a deed. */
  emit<Name extends EventName>(tx: Transaction, name: Name, event: EventOf<Name>): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `on` put only listeners of this very name there
    for (const listener of listeners as unknown as Listener<Name>[]) listener(tx, event);
  }

  /** Whether anybody listens: where making the event costs something, ask first. */
  hasListeners(name: EventName): boolean {
    return this.#listeners.has(name);
  }
}
