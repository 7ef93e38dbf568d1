import { beforeEach, describe, expect, test } from "bun:test";
import { DeferredEntries, GATHER_MS } from "../../../../src/features/administration/audit/deferred-entries.ts";
import type { AuditEntry } from "../../../../src/features/administration/audit/types.ts";

const clock = { ms: 0, nowMs: () => clock.ms };
let deferred: DeferredEntries;

beforeEach(() => {
  clock.ms = 1_000_000;
  deferred = new DeferredEntries(clock);
});

function rejectedSignIn(email: string, clientAddress = "192.0.2.1"): AuditEntry {
  return { action: "sign_in", outcome: "refused", via: "none", user: { id: undefined, email }, clientAddress };
}
const takeAll = () => deferred.take().map(({ entry }) => [entry.user?.email, entry.times ?? 1]);

describe("repeated entries within a minute", () => {
  test("are written once immediately, and the rest in one row at the end of the minute", () => {
    expect(deferred.add(rejectedSignIn("a"))).toBe(true);
    expect(deferred.add(rejectedSignIn("a"))).toBe(false);
    deferred.add(rejectedSignIn("a"));
    expect(takeAll()).toEqual([["a", 1]]);
    deferred.close();
    expect(takeAll()).toEqual([]);
    clock.ms += GATHER_MS;
    deferred.close();
    expect(takeAll()).toEqual([["a", 2]]);
    expect(deferred.isGathering).toBe(false);
    expect(deferred.add(rejectedSignIn("a"))).toBe(true);
  });

  test("add no row if there was only one", () => {
    deferred.add(rejectedSignIn("a"));
    takeAll();
    clock.ms += GATHER_MS;
    deferred.close();
    expect(deferred.isReady).toBe(false);
  });

  test("are distinguished by person and address", () => {
    deferred.add(rejectedSignIn("a"));
    deferred.add(rejectedSignIn("b"));
    deferred.add(rejectedSignIn("a", "192.0.2.2"));
    expect(takeAll()).toEqual([
      ["a", 1],
      ["b", 1],
      ["a", 1],
    ]);
  });

  test("are all written at shutdown", () => {
    for (let i = 0; i < 5; i++) deferred.add(rejectedSignIn("a"));
    deferred.close(true);
    expect(takeAll()).toEqual([
      ["a", 1],
      ["a", 4],
    ]);
  });

  test("are not delayed forever if the clock goes back", () => {
    deferred.add(rejectedSignIn("a"));
    deferred.add(rejectedSignIn("a"));
    clock.ms -= 3_600_000;
    deferred.close();
    expect(takeAll()).toEqual([
      ["a", 1],
      ["a", 1],
    ]);
  });
});

test("a flood of different rejections writes a limited number of rows that count them all", () => {
  for (let i = 0; i < 5_000; i++) deferred.add(rejectedSignIn(`user${i}@example.com`, `192.0.2.${i % 250}`));
  deferred.close(true);
  let rows = 0;
  let times = 0;
  for (let some = deferred.take(); some.length > 0; some = deferred.take()) {
    rows += some.length;
    times += some.reduce((sum, { entry }) => sum + (entry.times ?? 1), 0);
  }
  expect(rows).toBeLessThanOrEqual(1_002);
  expect(times).toBe(5_000);
});

test("successful actions are never combined, in any number", () => {
  const done = (id: number): AuditEntry => ({
    action: "file.delete",
    outcome: "done",
    via: "web",
    user: { id: "usr_1", email: "a" },
    target: { type: "file", id: `file_${id}` },
  });
  for (let i = 0; i < 3_000; i++) deferred.add(done(i));
  deferred.add(done(0));
  const ids: (string | undefined)[] = [];
  for (let some = deferred.take(); some.length > 0; some = deferred.take())
    ids.push(...some.map(({ entry }) => entry.target?.id));
  expect(ids).toHaveLength(3_001);
  expect(new Set(ids).size).toBe(3_000);
});

test("the ranges of one download share a row", () => {
  const download: AuditEntry = {
    action: "file.download",
    outcome: "done",
    via: "web",
    user: { id: "usr_1", email: "a" },
  };
  for (let i = 0; i < 100; i++) deferred.add(download);
  deferred.close(true);
  expect(takeAll()).toEqual([
    ["a", 1],
    ["a", 99],
  ]);
});

test("entries that could not be written are retried in order", () => {
  deferred.add(rejectedSignIn("a"));
  const waiting = deferred.take();
  deferred.add(rejectedSignIn("b"));
  deferred.giveBack(waiting);
  expect(takeAll()).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
});
