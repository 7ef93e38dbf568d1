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
const taken = () => deferred.take().map(({ entry }) => [entry.user?.email, entry.times ?? 1]);

describe("what repeats within a minute", () => {
  test("is written at once, and the rest in one row at the end of the minute", () => {
    expect(deferred.add(rejectedSignIn("a"))).toBe(true);
    expect(deferred.add(rejectedSignIn("a"))).toBe(false);
    deferred.add(rejectedSignIn("a"));
    expect(taken()).toEqual([["a", 1]]);
    deferred.close();
    expect(taken()).toEqual([]);
    clock.ms += GATHER_MS;
    deferred.close();
    expect(taken()).toEqual([["a", 2]]);
    expect(deferred.isGathering).toBe(false);
    expect(deferred.add(rejectedSignIn("a"))).toBe(true);
  });

  test("leaves nothing behind where it came once", () => {
    deferred.add(rejectedSignIn("a"));
    taken();
    clock.ms += GATHER_MS;
    deferred.close();
    expect(deferred.isReady).toBe(false);
  });

  test("is distinguished by person and address", () => {
    deferred.add(rejectedSignIn("a"));
    deferred.add(rejectedSignIn("b"));
    deferred.add(rejectedSignIn("a", "192.0.2.2"));
    expect(taken()).toEqual([
      ["a", 1],
      ["b", 1],
      ["a", 1],
    ]);
  });

  test("is all written at the end of the program", () => {
    for (let i = 0; i < 5; i++) deferred.add(rejectedSignIn("a"));
    deferred.close(true);
    expect(taken()).toEqual([
      ["a", 1],
      ["a", 4],
    ]);
  });

  test("is not gathered for ever when the clock goes back", () => {
    deferred.add(rejectedSignIn("a"));
    deferred.add(rejectedSignIn("a"));
    clock.ms -= 3_600_000;
    deferred.close();
    expect(taken()).toEqual([
      ["a", 1],
      ["a", 1],
    ]);
  });
});

test("a flood of different rejections writes a bounded number of rows, and counts them all", () => {
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

test("what people did is never thrown together, however much it is", () => {
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
  expect(taken()).toEqual([
    ["a", 1],
    ["a", 99],
  ]);
});

test("what could not be written comes again, in its order", () => {
  deferred.add(rejectedSignIn("a"));
  const waiting = deferred.take();
  deferred.add(rejectedSignIn("b"));
  deferred.giveBack(waiting);
  expect(taken()).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
});
