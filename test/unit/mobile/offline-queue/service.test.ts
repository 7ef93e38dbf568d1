import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Hold } from "../../../../src/features/mobile/mass-change/types.ts";
import { TestQueue } from "./support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
let t: TestQueue;

beforeEach(() => {
  t = new TestQueue();
});

afterEach(() => t.tree.close());

function addFiles(...names: string[]) {
  return names.map((name) => t.tree.addFile(t.user.id, "/", name));
}

describe("order", () => {
  test("is high, normal, low, then by the time of the device, then by the time of receipt", async () => {
    const files = addFiles("a", "b", "c", "d", "e", "f");
    const [a, b, c, d, e, f] = files.map((file) => file.publicId);
    const at = (ms: number) => ({ createdAtMs: t.nowMs - 1000 + ms });
    await t.add(
      t.deleteOf(a ?? "", { priority: "low", ...at(0) }),
      t.deleteOf(b ?? "", { priority: "normal", ...at(9) }),
      t.deleteOf(c ?? "", { priority: "normal", ...at(5) }),
      t.deleteOf(d ?? "", { priority: "high", ...at(99) }),
      t.deleteOf(e ?? "", { priority: "normal", ...at(5) }),
    );
    await t.add(t.deleteOf(f ?? "", { priority: "high", ...at(1) }));
    await t.executeAll();
    const names = t.deleted.map((id) => files.find((file) => file.id === id)?.name);
    expect(names).toEqual(["f", "d", "c", "e", "b", "a"]);
  });

  test("alternates between devices", async () => {
    const second = t.addDevice("tablet");
    const [file] = addFiles("a", "b");
    const operation = t.deleteOf(file?.publicId ?? "");
    await t.add(operation);
    expect(t.queue.findNextDevice(0)).toBe(t.device.id);
    expect(t.queue.findNextDevice(t.device.id)).toBe(t.device.id);
    await t.queue.add(t.user, second, [operation]);
    expect(t.queue.findNextDevice(t.device.id)).toBe(second.id);
    expect(t.queue.findNextDevice(second.id)).toBe(t.device.id);
  });

  test("starts only after all operations of a call are saved", async () => {
    const files = addFiles("a");
    const low = Array.from({ length: 250 }, (_, index) =>
      t.deleteOf(`none-${index}`, { priority: "low", createdAtMs: 0 }),
    );
    const call = t.add(...low, t.deleteOf(files[0]?.publicId ?? "", { priority: "high" }));
    let seen = 0;
    while (t.queue.list(t.device, { status: "queued", offset: 0, limit: 1 }).total < 251) {
      expect(t.queue.findNextDevice(0)).toBeUndefined();
      seen++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await call;
    expect(seen).toBeGreaterThan(0);
    expect(t.queue.findNextDevice(0)).toBe(t.device.id);
    await t.queue.executeNext(t.device.id, 0);
    expect(t.deleted).toEqual([files[0]?.id ?? 0]);
  });
});

describe("an id", () => {
  test("that is sent again returns its current status and is executed once", async () => {
    const [file] = addFiles("a");
    const operation = t.deleteOf(file?.publicId ?? "");
    expect(await t.add(operation, operation)).toEqual(["queued", "queued"]);
    await t.executeAll();
    expect(await t.add({ ...operation, priority: "high", createdAtMs: 5 })).toEqual(["completed"]);
    await t.executeAll();
    expect(t.states()).toEqual([`op-${file?.publicId} completed`]);
    expect(t.deleted).toHaveLength(1);
  });

  test("of another operation is rejected, and the other operation stays", async () => {
    const [a, b] = addFiles("a", "b");
    await t.add(t.deleteOf(a?.publicId ?? "", { id: "x" }));
    expect(await t.add(t.deleteOf(b?.publicId ?? "", { id: "x" }))).toEqual(["idempotency_key"]);
    expect(await t.add(t.uploadTo("/x", { id: "x" }))).toEqual(["idempotency_key"]);
    await t.executeAll();
    expect(t.states()).toEqual(["x completed"]);
    expect(t.deleted).toEqual([a?.id ?? 0]);
  });

  test("can be used by two devices", async () => {
    const [a, b] = addFiles("a", "b");
    const second = t.addDevice("tablet");
    await t.add(t.deleteOf(a?.publicId ?? "", { id: "x" }));
    const added = await t.queue.add(t.user, second, [t.deleteOf(b?.publicId ?? "", { id: "x" })]);
    expect(added).toEqual([{ id: "x", status: "queued", error: undefined }]);
  });
});

describe("a delete", () => {
  test("of an unknown file, or of another account's file, fails", async () => {
    const other = t.tree.addFile(t.tree.addAccount(), "/", "theirs");
    await t.add(t.deleteOf("file_none"), t.deleteOf(other.publicId));
    await t.executeAll();
    expect(t.states().sort()).toEqual(
      [`op-${other.publicId} failed not_found`, "op-file_none failed not_found"].sort(),
    );
    expect(t.tree.read.findFileById(other.id)?.name).toBe("theirs");
  });

  test("is recorded as the device's change in the journal", async () => {
    const [file] = addFiles("a");
    const actors: (number | null)[] = [];
    const deleteFile = t.tree.write.deleteFile.bind(t.tree.write);
    t.tree.write.deleteFile = (...given) => {
      actors.push(t.tree.store.actorDeviceId);
      return deleteFile(...given);
    };
    await t.add(t.deleteOf(file?.publicId ?? ""));
    await t.executeAll();
    expect(actors).toEqual([t.device.id]);
    expect(t.tree.store.actorDeviceId).toBeNull();
  });

  test("fails when the account is no longer allowed to write", async () => {
    const [file] = addFiles("a");
    await t.add(t.deleteOf(file?.publicId ?? ""));
    Object.assign(t.user, { role: "viewer" });
    await t.executeAll();
    expect(t.states()).toEqual([`op-${file?.publicId} failed role`]);
    expect(t.deleted).toEqual([]);
  });

  test("that fails because of a server error is tried three times", async () => {
    const [a, b] = addFiles("a", "b");
    const deleteFile = t.tree.write.deleteFile.bind(t.tree.write);
    t.tree.write.deleteFile = (tx, file, precondition) => {
      if (file.publicId === a?.publicId) throw new Error("broken");
      return deleteFile(tx, file, precondition);
    };
    await t.add(t.deleteOf(a?.publicId ?? "", { priority: "high" }), t.deleteOf(b?.publicId ?? ""));
    await t.executeAll();
    expect(t.states()).toEqual([`op-${a?.publicId} failed unexpected`, `op-${b?.publicId} completed`]);
    const { operations } = t.queue.list(t.device, { status: "failed", offset: 0, limit: 10 });
    expect(operations[0]?.attempts).toBe(3);
  });

  test("is dropped when its device is removed", async () => {
    const [file] = addFiles("a");
    await t.add(t.deleteOf(file?.publicId ?? ""), t.uploadTo("/later"));
    t.tree.run((tx) => t.queue.dropDevice(tx, t.device.id));
    await t.executeAll();
    expect(t.states()).toEqual([]);
    expect(t.deleted).toEqual([]);
  });
});

describe("an upload", () => {
  test("is completed in the transaction that stores its file", async () => {
    expect(await t.add(t.uploadTo("/p/a"), t.uploadTo("/p/b"))).toEqual(["queued", "queued"]);
    t.storeFile("/p", "c");
    expect(t.states()).toEqual(["op-/p/a queued", "op-/p/b queued"]);
    t.storeFile("/p", "b");
    expect(t.states()).toEqual(["op-/p/a queued", "op-/p/b completed"]);
    expect(() =>
      t.tree.run((tx) => {
        t.queue.onFileStored(tx, t.user.id, () => "/p/a");
        throw new Error("rolled back");
      }),
    ).toThrow("rolled back");
    expect(t.states()).toEqual(["op-/p/a queued", "op-/p/b completed"]);
    t.storeFile("/p", "a");
    expect(t.states()).toEqual(["op-/p/a completed", "op-/p/b completed"]);
  });

  test("does not delay executable operations", async () => {
    const [file] = addFiles("a");
    await t.add(t.uploadTo("/later", { priority: "high" }), t.deleteOf(file?.publicId ?? "", { priority: "low" }));
    await t.executeAll();
    expect(t.deleted).toHaveLength(1);
  });

  test("is completed at once if a file was stored at createdAt or later", async () => {
    addFiles("a");
    const storedAt = t.nowMs;
    t.tree.clock.advance(1000);
    expect(await t.add(t.uploadTo("/a", { id: "older", createdAtMs: storedAt - 1 }))).toEqual(["completed"]);
    expect(await t.add(t.uploadTo("/a", { id: "same", createdAtMs: storedAt }))).toEqual(["completed"]);
    expect(await t.add(t.uploadTo("/a", { id: "later", createdAtMs: storedAt + 1 }))).toEqual(["queued"]);
  });

  test("of a phone whose clock is ahead counts as created when it was received", async () => {
    expect(await t.add(t.uploadTo("/a", { createdAtMs: t.nowMs + 365 * DAY_MS }))).toEqual(["queued"]);
    const { operations } = t.queue.list(t.device, { status: "queued", offset: 0, limit: 10 });
    expect(operations[0]?.createdAtMs).toBe(t.nowMs);
    t.storeFile("/", "a");
    expect(t.states()).toEqual(["op-/a completed"]);
  });

  test("is found by its normalized path, and invalid paths are rejected one by one", async () => {
    const paths = ["/a/../b", "relative", "/", "", "/x//y", "/p/Ame\u0301lie/"];
    const results = await t.add(...paths.map((path) => t.uploadTo(path)));
    expect(results).toEqual([...Array.from({ length: 5 }, () => "invalid_path"), "queued"]);
    t.storeFile("/p", "Am\u00e9lie");
    expect(t.states()).toEqual([`op-${paths[5]} completed`]);
  });

  test("that is known returns its status even if the queue is full", async () => {
    // The whole call was rejected: a phone that lost the response could not find out that its operations were queued.
    const all = Array.from({ length: 20_000 }, (_, at) => t.uploadTo(`/many/${at}`));
    expect(new Set(await t.add(...all))).toEqual(new Set(["queued"]));
    expect(await t.add(...all.slice(-3), t.uploadTo("/one-more"), ...all.slice(0, 1))).toEqual([
      "queued",
      "queued",
      "queued",
      "overloaded",
      "queued",
    ]);
    t.storeFile("/many", "7");
    expect(await t.add(t.uploadTo("/one-more"), t.uploadTo("/another"))).toEqual(["queued", "overloaded"]);
  });

  test("is completed if it shares a commit with its file", async () => {
    t.storeFile("/", "caches that no upload is queued");
    const [added] = await Promise.all([
      t.add(t.uploadTo("/a")),
      t.tree.writer.run((tx) => t.queue.onFileStored(tx, t.user.id, () => "/a")),
    ]);
    expect(added).toEqual(["queued"]);
    expect(t.states()).toEqual(["op-/a completed"]);
  });

  test("fails after 30 days, and finished operations are removed after 7", async () => {
    await t.add(t.uploadTo("/a"));
    const { signal } = new AbortController();
    t.tree.clock.advance(30 * DAY_MS - 1);
    await t.queue.sweep(signal);
    expect(t.states()).toEqual(["op-/a queued"]);
    t.tree.clock.advance(1);
    expect(await t.queue.sweep(signal)).toBe("1 expired, 0 found, 0 removed");
    expect(t.states()).toEqual(["op-/a failed upload_expired"]);
    t.tree.clock.advance(7 * DAY_MS);
    await t.queue.sweep(signal);
    expect(t.states()).toEqual([]);
  });

  test("is found by the job even if many wait for the same path", async () => {
    // The job continued after the path: it skipped the operations that did not fit into its first batch.
    const paths = Array.from({ length: 450 }, (_, at) => t.uploadTo("/new/a", { id: `${at}` }));
    await t.add(...paths, t.uploadTo("/new/b"));
    t.tree.addFile(t.user.id, "/new", "a");
    t.tree.addFile(t.user.id, "/new", "b");
    expect(await t.queue.sweep(new AbortController().signal)).toBe("0 expired, 451 found, 0 removed");
  });

  test("whose file came with a moved folder is found by the job", async () => {
    await t.add(t.uploadTo("/new/a"), t.uploadTo("/new/b"));
    t.tree.addFile(t.user.id, "/new", "a");
    expect(await t.queue.sweep(new AbortController().signal)).toBe("0 expired, 1 found, 0 removed");
    expect(t.states()).toEqual(["op-/new/b queued", "op-/new/a completed"]);
  });
});

describe("a held delete", () => {
  const hold: Hold = {
    id: 1,
    publicId: "hold_1",
    accountId: 1,
    deviceId: 1,
    devicePublicId: "phone",
    changes: 1,
    createdAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    decision: null,
  };

  test("stays queued until it is accepted", async () => {
    const [file] = addFiles("a");
    await t.add(t.deleteOf(file?.publicId ?? ""));
    t.massChangeGuard.hold = hold;
    await t.executeAll();
    expect(t.states()).toEqual([`op-${file?.publicId} queued confirmation_required`]);
    expect(t.deleted).toEqual([]);
    expect(await t.queue.checkHolds()).toBe(true);
    expect(t.queue.findNextDevice(0)).toBeUndefined();

    t.massChangeGuard.hold = { ...hold, decision: "accepted" };
    expect(await t.queue.checkHolds()).toBe(false);
    t.massChangeGuard.hold = undefined;
    await t.executeAll();
    expect(t.states()).toEqual([`op-${file?.publicId} completed`]);
    expect(t.deleted).toHaveLength(1);
    expect(t.massChangeGuard.checked[0]).toMatchObject({ action: "delete", fileId: file?.publicId });
  });

  test("is completed if its hold has deleted the file already", async () => {
    const [file] = addFiles("a");
    await t.add(t.deleteOf(file?.publicId ?? ""));
    t.massChangeGuard.hold = hold;
    await t.executeAll();
    t.massChangeGuard.hold = { ...hold, decision: "accepted" };
    if (file !== undefined) t.tree.run((tx) => t.tree.write.deleteFile(tx, file));
    await t.queue.checkHolds();
    await t.executeAll();
    expect(t.states()).toEqual([`op-${file?.publicId} completed`]);
  });

  test("fails if its hold is declined, or was dropped", async () => {
    const [a, b] = addFiles("a", "b");
    await t.add(t.deleteOf(a?.publicId ?? ""));
    t.massChangeGuard.hold = hold;
    await t.executeAll();
    t.massChangeGuard.hold = { ...hold, decision: "declined" };
    await t.queue.checkHolds();
    await t.add(t.deleteOf(b?.publicId ?? ""));
    await t.executeAll();
    expect(t.states().sort()).toEqual([a, b].map((file) => `op-${file?.publicId} failed confirmation_required`).sort());
    expect(t.deleted).toEqual([]);
  });
});

describe("the worker", () => {
  test("executes operations until it is stopped, also those added while it rests", async () => {
    const files = addFiles("a", "b", "c");
    const done = async (count: number) => {
      while (t.deleted.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    await t.add(t.deleteOf(files[0]?.publicId ?? ""));
    t.worker.start();
    await done(1);
    await t.add(t.deleteOf(files[1]?.publicId ?? ""));
    await done(2);
    await t.worker.stop();
    await t.add(t.deleteOf(files[2]?.publicId ?? ""));
    expect(t.deleted).toHaveLength(2);
  });
});
