/**
 * The request that the current code runs for, so that each log line can name it. The context follows promises, timers
 * and events automatically. Code that starts work outliving the request leaves it with {@link outsideRequests}.
 */
import { AsyncLocalStorage } from "node:async_hooks";

interface RequestName {
  id: string | undefined;
}

const storage = new AsyncLocalStorage<RequestName>();

/** Runs the work of a request. {@link nameRequest} sets its id later. */
export function insideRequest<T>(work: () => T): T {
  return storage.run({ id: undefined }, work);
}

/** Sets the id of the current request. Does nothing outside of requests. */
export function nameRequest(id: string): void {
  const name = storage.getStore();
  if (name !== undefined) name.id = id;
}

/** The id of the current request; undefined outside of requests. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.id;
}

/** Runs work that is for several requests or for none, such as a shared commit. */
export function outsideRequests<T>(work: () => T): T {
  return storage.exit(work);
}
