/**
 * Which request the present work is for, so that each line of the log can tell it. It follows promises, timers and
 * events by itself; what begins something that outlives the request leaves it by {@link outsideRequests}.
 */
import { AsyncLocalStorage } from "node:async_hooks";

interface RequestName {
  id: string | undefined;
}

const storage = new AsyncLocalStorage<RequestName>();

/** Does the work of a request. Its id is told later, by {@link nameRequest}, where it is made. */
export function insideRequest<T>(work: () => T): T {
  return storage.run({ id: undefined }, work);
}

/** Gives the present request its id. Without one under way nothing happens. */
export function nameRequest(id: string): void {
  const name = storage.getStore();
  if (name !== undefined) name.id = id;
}

/** The id of the request that the present work is for; undefined where it is for none. */
export function presentRequestId(): string | undefined {
  return storage.getStore()?.id;
}

/** Does work that is for several requests or for none, such as a shared commit. */
export function outsideRequests<T>(work: () => T): T {
  return storage.exit(work);
}
