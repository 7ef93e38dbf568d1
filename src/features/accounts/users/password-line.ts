/**
 * The client address of the current password check; undefined outside of one. Checks are queued by address, so that
 * those from one address delay those from another by at most one. Promises pass the address on.
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
