/**
 * From which address the present check of a password comes, so that checks from one address delay those from others by
 * at most one. It follows promises; outside of such a check there is none.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const addresses = new AsyncLocalStorage<string>();

/** Does the work of a check. @param addressKey the client address, or its /64 */
export function checkingFrom<T>(addressKey: string, work: () => T): T {
  return addresses.run(addressKey, work);
}

/** The address of the present check; undefined where it is not known. */
export function checkedAddress(): string | undefined {
  return addresses.getStore();
}
