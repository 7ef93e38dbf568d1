/**
 * The address from which the current check of a password comes, so that checks from one address delay those from others
 * by at most one. It is passed on through promises, and undefined outside of such a check.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const addresses = new AsyncLocalStorage<string>();

/** Runs the work of a check. @param addressKey the client address, or its /64 */
export function checkingFrom<T>(addressKey: string, work: () => T): T {
  return addresses.run(addressKey, work);
}

/** The address of the current check; undefined if unknown. */
export function checkedAddress(): string | undefined {
  return addresses.getStore();
}
