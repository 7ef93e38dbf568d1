import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { migrate } from "../../../../src/db/migrate.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { Events } from "../../../../src/events/events.ts";
import {
  ALLOWANCE_MS,
  MassChangeGuard,
  WINDOW_MS,
} from "../../../../src/features/mobile/mass-change/mass-change-guard.ts";
import { HoldService, type ReleasedChange } from "../../../../src/features/mobile/mass-change/service.ts";
import type { Hold, LocalChange } from "../../../../src/features/mobile/mass-change/types.ts";
import type { Log } from "../../../../src/lib/log.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const device = { id: 1, publicId: "phone", name: "Phone" };

let nowMs: number;
let files: number;
let events: string[];
let isStopping: boolean;
let applied: LocalChange[];
let writer: Writer;
let massChangeGuard: MassChangeGuard;
let holds: HoldService;

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1);
  files = 100;
  events = [];
  isStopping = false;
  applied = [];
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("PRAGMA foreign_keys = ON");
  migrate(sqlite, silentLog);
  sqlite.run(`INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
    VALUES (7, 'usr_7', 'a@b', 'a@b', 'A', 'user', 'free', '', 0)`);
  sqlite.run(`INSERT INTO devices (id, user_id, public_id, name, platform, registered_at, last_active_at)
    VALUES (1, 7, 'phone', 'Phone', 'android', 0, 0), (2, 7, 'tablet', 'Tablet', 'android', 0, 0)`);
  writer = new Writer(sqlite, silent);
  const clock = { nowMs: () => nowMs };
  const emitter = new Events();
  emitter.on("security.mass_change", (_tx, event) => events.push(`${event.holdId} ${event.changes}`));
  const usage = () => ({
    files,
    folders: 0,
    fileBytes: 0,
    versionBytes: 0,
    trashBytes: 0,
    reservedBytes: 0,
    usedBytes: 0,
    nodes: 0,
  });
  massChangeGuard = new MassChangeGuard({
    sqlite,
    clock,
    events: emitter,
    tree: { usage },
    filesMax: 10,
    percentMax: 25,
  });
  holds = new HoldService({
    sqlite,
    writer,
    clock,
    applyReleased: async (_accountId, _deviceId, changes: readonly ReleasedChange[]) => {
      if (isStopping) throw new Error("stopped");
      for (const { change, onEnd } of changes) {
        applied.push(change);
        await writer.run(onEnd);
      }
    },
  });
});

const deletion = (name: string): LocalChange => ({ action: "delete", localId: name, fileId: name });

/** Requests deletions one by one; an allowed deletion decreases the number of files. @returns the first hold */
function remove(from: number, to: number, by = device): Hold | undefined {
  let first: Hold | undefined;
  for (let at = from; at < to; at++) {
    const hold = writer.runNow((tx) => massChangeGuard.admit(tx, by, 7, [deletion(`f${at}`)]));
    if (hold === undefined) files--;
    else first ??= hold;
  }
  return first;
}

describe("the guard", () => {
  test("allows changes up to the number, and up to the percentage of the files before the window", () => {
    expect(remove(0, 25)).toBeUndefined();
    expect(files).toBe(75);
    const hold = remove(25, 26);
    expect(hold).toMatchObject({ changes: 1, decision: null, devicePublicId: "phone" });
    expect(events).toEqual([`${hold?.publicId} 26`]);
  });

  test("uses only the number in small accounts", () => {
    files = 12;
    expect(remove(0, 10)).toBeUndefined();
    expect(remove(10, 11)).toBeDefined();
  });

  test("counts the last ten minutes, to the second", () => {
    remove(0, 25);
    nowMs += WINDOW_MS - 1000;
    files = 75;
    expect(remove(25, 26)).toBeDefined();
    nowMs = Date.UTC(2026, 0, 1) + WINDOW_MS;
    expect(remove(0, 1, { id: 2, publicId: "tablet", name: "Tablet" })).toBeUndefined();
  });

  test("ignores earlier changes", () => {
    remove(0, 20);
    nowMs += WINDOW_MS;
    expect(remove(20, 38)).toBeUndefined();
  });

  test("admits several changes of one request together or not at all", () => {
    const many = Array.from({ length: 26 }, (_, at) => deletion(`m${at}`));
    const hold = writer.runNow((tx) => massChangeGuard.admit(tx, device, 7, many));
    expect(hold?.changes).toBe(26);
    expect(holds.list(7)).toMatchObject([{ changes: 26 }]);
  });

  test("considers the changes that follow in the same request", () => {
    const admit = (name: string, following: number) =>
      writer.runNow((tx) => massChangeGuard.admit(tx, device, 7, [deletion(name)], following));
    expect(admit("f0", 24)).toBeUndefined();
    expect(admit("f1", 25)).toMatchObject({ changes: 1 });
    expect(events).toEqual([expect.stringContaining(" 27")]);
    expect(admit("f2", 24)).toMatchObject({ changes: 2 });
  });

  test("does not count changes that were rolled back", () => {
    for (let at = 0; at < 30; at++) {
      expect(() =>
        writer.runNow((tx) => {
          massChangeGuard.admit(tx, device, 7, [deletion(`u${at}`)]);
          throw new Error("rolled back");
        }),
      ).toThrow();
    }
    expect(remove(0, 25)).toBeUndefined();
  });

  test("keeps a device blocked by one hold, also after the window", () => {
    const hold = remove(0, 30);
    nowMs += 2 * WINDOW_MS;
    expect(remove(30, 31)?.publicId).toBe(hold?.publicId ?? "");
    expect(events).toHaveLength(1);
    expect(holds.list(7)).toMatchObject([{ changes: 6 }]);
    expect(remove(0, 1, { id: 2, publicId: "tablet", name: "Tablet" })).toBeUndefined();
  });

  test("holds a repeated change once", () => {
    const hold = remove(0, 26);
    expect(remove(25, 26)).toEqual(hold);
    expect(holds.list(7)).toMatchObject([{ changes: 1 }]);
  });
});

describe("a decision", () => {
  test("to accept applies the changes, and does not guard the device for an hour", async () => {
    const hold = remove(0, 30);
    await holds.decide(7, hold?.publicId ?? "", true);
    expect(applied.map(({ fileId }) => fileId)).toEqual(["f25", "f26", "f27", "f28", "f29"]);
    files = 70;
    expect(remove(30, 60)).toBeUndefined();
    nowMs += ALLOWANCE_MS;
    expect(remove(60, 70)).toBeUndefined();
    expect(remove(70, 90)).toBeDefined();
  });

  test("to decline is remembered, and applies only to these changes", async () => {
    const hold = remove(0, 27);
    await holds.decide(7, hold?.publicId ?? "", false);
    expect(applied).toEqual([]);
    nowMs += WINDOW_MS;
    expect(remove(26, 27)).toMatchObject({ decision: "declined", publicId: hold?.publicId });
    expect(remove(27, 28)).toBeUndefined();
    nowMs += 30 * DAY_MS;
    writer.runNow(() => holds.sweep());
    expect(remove(26, 27)).toMatchObject({ decision: "declined" });
    nowMs += 90 * DAY_MS;
    writer.runNow(() => holds.sweep());
    expect(remove(26, 27)).toBeUndefined();
  });

  test("that is not made in time drops the changes", async () => {
    const hold = remove(0, 26);
    nowMs += 7 * DAY_MS;
    expect(holds.list(7)).toEqual([]);
    await expect(holds.decide(7, hold?.publicId ?? "", true)).rejects.toThrow("not found");
    expect(remove(25, 26)).toBeUndefined();
    expect(writer.runNow(() => holds.sweep())).toBeGreaterThan(0);
    expect(massChangeGuard.find(7, hold?.publicId ?? "")).toBeUndefined();
  });

  test("that a shutdown interrupted is resumed", async () => {
    const hold = remove(0, 27);
    isStopping = true;
    await expect(holds.decide(7, hold?.publicId ?? "", true)).rejects.toThrow("stopped");
    isStopping = false;
    expect([await holds.resume(), await holds.resume()]).toEqual([1, 0]);
    expect(applied).toHaveLength(2);
  });

  test("can be made only by the account itself", async () => {
    const hold = remove(0, 26);
    await expect(holds.decide(8, hold?.publicId ?? "", true)).rejects.toThrow("not found");
    await expect(holds.decide(7, hold?.publicId ?? "", true, "tablet")).rejects.toThrow("not found");
    expect(() => holds.list(7, "nobody")).toThrow("not found");
    expect(holds.list(7, "tablet")).toEqual([]);
    expect(holds.list(8)).toEqual([]);
  });
});
