// One thread at a time has the index open, and nothing creates it again while it is deleted or switched off.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IndexThread } from "../../../../src/features/library/text-index/index-thread.ts";
import type { IndexReply } from "../../../../src/features/library/text-index/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-thread-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** A thread that responds and ends when the test says so. */
class FakeWorker extends EventTarget {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror = null;
  calls = 0;
  isFailing = false;
  readonly names: string[] = [];
  readonly #terminated = Promise.withResolvers<void>();
  readonly terminated = this.#terminated.promise;

  postMessage({ name }: { readonly name: string }): void {
    if (this.isFailing) throw new Error("It can't be copied.");
    this.calls++;
    this.names.push(name);
  }

  terminate(): void {
    this.#terminated.resolve();
  }

  unref(): void {}

  reply(reply: IndexReply): void {
    this.onmessage?.(new MessageEvent("message", { data: reply }));
  }

  end(): void {
    this.dispatchEvent(new Event("close"));
  }
}

function createThread(name: string) {
  const path = join(directory, `${name}.db`);
  const create = () => writeFileSync(path, "an index");
  create();
  const workers: FakeWorker[] = [];
  const damaged = Promise.withResolvers<void>();
  let isEnabled = true;
  const thread = new IndexThread({
    location: { path, databasePath: "", source: "", blobsDir: undefined, run: "" },
    log: silentLog,
    isEnabled: () => isEnabled,
    onDamaged: damaged.resolve,
    startWorker: () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    },
  });
  const switchOff = () => {
    isEnabled = false;
  };
  return { thread, workers, create, exists: () => existsSync(path), switchOff, damaged: damaged.promise };
}

test("a call waits until the thread that is ending has closed its files and the index is deleted", async () => {
  const { thread, workers, exists } = createThread("clear");
  const first = thread.call("next", []);
  const cleared = thread.clear();
  expect(first).rejects.toMatchObject({ reason: "overloaded" });
  const second = thread.call("next", []);
  await workers[0]?.terminated;
  expect(workers.length).toBe(1);
  expect(exists()).toBe(true);
  workers[0]?.end();
  await cleared;
  expect(exists()).toBe(false);
  expect(workers.map(({ calls }) => calls)).toEqual([1, 1]);
  workers[1]?.reply({ id: 0, result: undefined });
  expect(await second).toBeUndefined();
});

test("after damage that a search finds, the index is built again", async () => {
  const { thread, workers, exists, damaged } = createThread("damaged");
  const search = thread.call("find", [{ scopes: [], words: [], limit: 1 }]);
  workers[0]?.reply({ id: 0, error: "malformed", isDamaged: true });
  expect(search).rejects.toMatchObject({ reason: "database_error" });
  await workers[0]?.terminated;
  workers[0]?.end();
  await damaged;
  expect(exists()).toBe(false);
});

test("damage that remains after the index was built again does not delete it once more", async () => {
  const { thread, workers, exists, damaged, create } = createThread("damaged again");
  const first = thread.call("follow", []);
  workers[0]?.reply({ id: 0, error: "malformed", isDamaged: true });
  expect(first).rejects.toMatchObject({ reason: "database_error" });
  await workers[0]?.terminated;
  workers[0]?.end();
  await damaged;
  create();
  const second = thread.call("follow", []);
  workers[1]?.reply({ id: 0, error: "malformed", isDamaged: true });
  expect(second).rejects.toMatchObject({ reason: "database_error" });
  const third = thread.call("follow", []);
  workers[1]?.reply({ id: 0, result: { isMore: false, hasTraces: false, unread: [] } });
  expect(await third).toMatchObject({ isMore: false });
  expect([workers.length, exists()]).toEqual([2, true]);
});

test("work that continues after the index was switched off does not create it again", async () => {
  const { thread, workers, switchOff } = createThread("off");
  switchOff();
  const added = thread.call("add", [1, []]);
  expect(workers.length).toBe(0);
  expect(added).rejects.toMatchObject({ reason: "overloaded" });
});

test("a text that was read again is taken while as many searches wait as may", async () => {
  const { thread, workers } = createThread("many");
  const find = () => thread.call("find", [{ scopes: [], words: [], limit: 1 }]);
  const searches = Array.from({ length: 65 }, find);
  expect(find()).rejects.toMatchObject({ reason: "overloaded" });
  const restored = thread.call("restore", [new Uint8Array(32), []]);
  for (const search of searches) {
    workers[0]?.reply({ id: 0, result: { own: [], received: [], unread: [] } });
    await search;
  }
  workers[0]?.reply({ id: 0, result: true });
  expect(await restored).toBe(true);
});

test("endless searches don't stop the work in the background", async () => {
  const { thread, workers } = createThread("endless");
  const find = () => thread.call("find", [{ scopes: [], words: [], limit: 1 }]);
  const calls: Promise<unknown>[] = [find(), thread.call("next", []), thread.call("next", [])];
  for (let more = 0; more < 30; more++) {
    calls.push(find());
    workers[0]?.reply({ id: 0, result: undefined });
  }
  expect(workers[0]?.names.filter((name) => name === "next").length).toBe(2);
  while ((workers[0]?.calls ?? 0) < calls.length) workers[0]?.reply({ id: 0, result: undefined });
  workers[0]?.reply({ id: 0, result: undefined });
  await Promise.all(calls);
});

test("a call that can't be sent to the thread stops no other", async () => {
  const { thread, workers } = createThread("unsent");
  const first = thread.call("next", []);
  if (workers[0] !== undefined) workers[0].isFailing = true;
  const [second, third] = [thread.call("next", []), thread.call("next", [])];
  workers[0]?.reply({ id: 0, result: undefined });
  await first;
  for (const call of [second, third]) expect(call).rejects.toThrow("It can't be copied.");
  await Promise.allSettled([second, third]);
});
