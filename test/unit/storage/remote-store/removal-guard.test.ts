import { expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { RemovalGuard } from "../../../../src/features/storage/remote-store/removal-guard.ts";
import type { LeaseState } from "../../../../src/features/storage/replication/types.ts";
import { say } from "../../../../src/translations/say.ts";

const HOUR_MS = 3_600_000;

/** An owner whose replica and lease work, or not. */
function owner({ isSynced = true, isConfirmed = true, state = "valid" as LeaseState } = {}) {
  const check = async (isOk: boolean) => {
    if (!isOk) throw new AppError("provider_unavailable", say`Not now.`);
  };
  return {
    lease: { state, confirm: () => check(isConfirmed) },
    replica: { sync: () => check(isSynced) },
    ttlMs: 10_000,
  };
}

test("without a replica, objects are deleted at once", async () => {
  const guard = new RemovalGuard(false);
  expect([await guard.begin(), await guard.confirm()]).toEqual([true, true]);
  expect(guard.markedBeforeMs(HOUR_MS)).toBe(Number.POSITIVE_INFINITY);
});

test("with a replica, only the owner deletes objects, and only those that were marked before a takeover could begin", async () => {
  const guard = new RemovalGuard(true);
  expect([await guard.begin(), await guard.confirm()]).toEqual([false, false]);
  guard.enable(owner());
  expect([await guard.begin(), await guard.confirm()]).toEqual([true, true]);
  expect(guard.markedBeforeMs(HOUR_MS)).toBe(HOUR_MS - 2 * 10_000 - 10 * 60_000);
});

test("an owner deletes nothing while its marks are not in the replica, or its lease is not confirmed", async () => {
  const guard = new RemovalGuard(true);
  guard.enable(owner({ isSynced: false }));
  expect(await guard.begin()).toBe(false);
  guard.enable(owner({ isConfirmed: false }));
  expect(await guard.confirm()).toBe(false);
  guard.enable(owner({ state: "expired" }));
  expect(await guard.confirm()).toBe(false);
});
