import { expect, test } from "bun:test";
import { readiness } from "../../../src/server/http/health.ts";

const healthy = { storeGuard: { check: () => {} }, writer: { fault: undefined } };

test("a server is ready, unless it stops or restarts", () => {
  const whyNotReady = (isDraining: boolean, isRestarting: boolean) =>
    readiness(healthy, { isDraining: () => isDraining, isRestarting: () => isRestarting })();
  expect(whyNotReady(false, false)).toBeUndefined();
  // Between the set-up of a household and the restart, it still handles requests.
  expect(whyNotReady(false, true)).toBe("The server is restarting.");
  expect(whyNotReady(true, true)).toBe("The server is stopping.");
});

test("a server is not ready if its database or store is faulty", () => {
  const host = { isDraining: () => false, isRestarting: () => false };
  const check = () => {
    throw new Error("The store was replaced.");
  };
  expect(readiness({ ...healthy, storeGuard: { check } }, host)()).toBe("The store was replaced.");
  expect(readiness({ ...healthy, writer: { fault: "The disk is faulty." } }, host)()).toBe("The disk is faulty.");
});
