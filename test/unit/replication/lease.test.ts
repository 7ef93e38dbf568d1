// The lease over objects in memory and a clock that the test sets.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  acquireForServe,
  type AcquireOptions,
  readOwner,
  takeOver,
} from "../../../src/features/storage/replication/acquire.ts";
import type { OwnedLease } from "../../../src/features/storage/replication/lease.ts";
import type { LeaseClock } from "../../../src/features/storage/replication/lease-clock.ts";
import { parseHeartbeat, parseLease } from "../../../src/features/storage/replication/lease-record.ts";
import { createLog } from "../../../src/lib/log.ts";
import { MemoryObjects } from "../../support/memory-objects.ts";
import { temporaryDirectory } from "../../support/server.ts";

const TTL_MS = 10_000;
const OWN = { store: "store-1", databaseEpoch: "epoch-1" };

/** Watching moves the time; heartbeats, which pass a signal, wait until the test moves it. */
class TestClock implements LeaseClock {
  monotonicMs = 1_000_000;
  wallMs = 1_800_000_000_000;
  readonly #waiting = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  #next = Promise.withResolvers<void>();

  now() {
    return { monotonicMs: this.monotonicMs, wallMs: this.wallMs };
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    if (signal === undefined) {
      this.#move(ms);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add({ untilMs: this.monotonicMs + ms, wake: resolve });
    signal.addEventListener("abort", () => resolve());
    this.#next.resolve();
    await promise;
  }

  /** Moves the time, wakes the one whose time has come, and lets it run until it waits again. */
  async advance(ms: number): Promise<void> {
    if (this.wake(ms)) await this.resting();
  }

  /** Moves the time. @returns whether anybody's time has come */
  wake(ms: number): boolean {
    this.#move(ms);
    const due = [...this.#waiting].filter(({ untilMs }) => untilMs <= this.monotonicMs);
    for (const sleeper of due) {
      this.#waiting.delete(sleeper);
      sleeper.wake();
    }
    if (due.length > 0) this.#next = Promise.withResolvers();
    return due.length > 0;
  }

  /** Forgets who waited: their process has ended. */
  begin(): void {
    this.#waiting.clear();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when somebody waits for the time. */
  resting(): Promise<void> {
    return this.#next.promise;
  }

  #move(ms: number): void {
    this.monotonicMs += ms;
    this.wallMs += ms;
  }
}

let root: string;
let objects: MemoryObjects;
const leases: OwnedLease[] = [];

beforeEach(async () => {
  root = await temporaryDirectory();
  objects = new MemoryObjects();
});

afterEach(async () => {
  objects.failure = "none";
  for (const lease of leases.splice(0)) await lease.close(false);
  await rm(root, { recursive: true, force: true });
});

async function machine(name: string, clock = new TestClock()): Promise<AcquireOptions & { clock: TestClock }> {
  const directory = join(root, name);
  await mkdir(directory, { recursive: true });
  return {
    bucket: { objects, client: objects, prefix: "home/" } as unknown as AcquireOptions["bucket"],
    root: directory,
    markPath: join(directory, "larder.lease"),
    ttlMs: TTL_MS,
    url: `https://${name}.example`,
    log: createLog("json", "error", () => {}),
    clock,
  };
}

async function serve(options: AcquireOptions & { clock: TestClock }, own = OWN): Promise<OwnedLease> {
  options.clock.begin();
  const lease = await acquireForServe(options, own);
  leases.push(lease);
  await options.clock.resting();
  return lease;
}

/** A process that ends without a word: its heartbeats stop. */
async function crash(lease: OwnedLease): Promise<void> {
  await lease.close(false);
}

test("the first server owns the store, and heartbeats follow", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  expect({ epoch: lease.epoch, path: lease.path, state: lease.state }).toEqual({
    epoch: 1,
    path: "db/00000001",
    state: "valid",
  });
  const first = objects.stored.get("home/heartbeat/00000001");
  await a.clock.advance(TTL_MS / 4);
  expect(objects.stored.get("home/heartbeat/00000001")).not.toBe(first);
  expect(parseLease(objects.stored.get("home/lease/00000001") ?? "")?.store).toBe("store-1");
});

test("a record names no folder outside of the copies, and sends nothing to terminals", async () => {
  await serve(await machine("a"));
  const text = objects.stored.get("home/lease/00000001") ?? "";
  const change = (fields: object) => parseLease(JSON.stringify({ ...JSON.parse(text), ...fields }));
  expect(change({})).toBeDefined();
  for (const path of ["../../blobs", "db/../../..", "db/00000001/../..", "db", "/etc", ""])
    expect(change({ path })).toBeUndefined();
  expect(change({ host: "\u001b[2Ja" })).toBeUndefined();
  expect(change({ url: "https://a\nb" })).toBeUndefined();
});

test("the same directory continues at once after a crash of the program, with the same path", async () => {
  const a = await machine("a");
  await crash(await serve(a));
  const startedMs = a.clock.monotonicMs;
  const lease = await serve(a);
  expect({ epoch: lease.epoch, path: lease.path }).toEqual({ epoch: 2, path: "db/00000001" });
  expect(a.clock.monotonicMs).toBe(startedMs);
});

test("a database that was restored gets a path of its own", async () => {
  const a = await machine("a");
  await crash(await serve(a));
  const lease = await serve(a, { ...OWN, databaseEpoch: "epoch-2" });
  expect(lease.path).toBe("db/00000002");
});

test("another directory is rejected, with the name of the owner", async () => {
  const a = await machine("a");
  await serve(a);
  const b = await machine("b");
  await expect(acquireForServe(b, OWN)).rejects.toThrow(/a\.example.*epoch 1.*larder standby.*larder promote/);
});

test("a directory that was set back is rejected", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  await Bun.write(join(root, "earlier"), Bun.file(a.markPath));
  await a.clock.advance(TTL_MS / 4);
  await crash(lease);
  await rename(join(root, "earlier"), a.markPath);
  await expect(acquireForServe(a, OWN)).rejects.toThrow(/older than the replica.*larder promote/);
});

test("a living owner is not replaced", async () => {
  const a = await machine("a");
  await serve(a);
  const b = await machine("b");
  b.clock.sleep = async (ms) => {
    b.clock.monotonicMs += ms;
    await a.clock.advance(ms);
  };
  await expect(takeOver(b)).rejects.toThrow(/still owns the store/);
});

test("a silent owner is replaced after one and a half lease times, and then confirms nothing more", async () => {
  const a = await machine("a");
  const old = await serve(a);
  let isDeposed = false;
  old.onDeposed(() => {
    isDeposed = true;
  });
  const b = await machine("b");
  const startedMs = b.clock.monotonicMs;
  const { lease, previous } = await takeOver(b);
  leases.push(lease);
  expect(previous.epoch).toBe(1);
  expect({ epoch: lease.epoch, path: lease.path }).toEqual({ epoch: 2, path: "db/00000002" });
  expect(b.clock.monotonicMs - startedMs).toBeGreaterThanOrEqual(1.5 * TTL_MS);
  // The clock of the old owner stood still: only the request shows it that it was replaced.
  expect(old.state).toBe("valid");
  await expect(old.confirm()).rejects.toThrow("cannot confirm changes");
  expect({ state: old.state, isDeposed }).toEqual({ state: "deposed", isDeposed: true });
  expect(old.problem).toMatch(/b\.example.*larder standby/);
});

test("a released lease is taken at once", async () => {
  const a = await machine("a");
  await (await serve(a)).close(true);
  expect(parseHeartbeat(objects.stored.get("home/heartbeat/00000001"))?.isReleased).toBe(true);
  const b = await machine("b");
  const startedMs = b.clock.monotonicMs;
  const { lease } = await takeOver(b);
  leases.push(lease);
  expect({ epoch: lease.epoch, waitedMs: b.clock.monotonicMs - startedMs }).toEqual({ epoch: 2, waitedMs: 0 });
});

test("an outage ends the lease, and then the owner takes the next epoch with the same path", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  objects.failure = "before";
  for (let heartbeat = 0; heartbeat < 5; heartbeat++) await a.clock.advance(TTL_MS / 4);
  expect(lease.state).toBe("expired");
  await expect(lease.confirm()).rejects.toThrow("cannot confirm changes");
  objects.failure = "none";
  await a.clock.advance(TTL_MS / 4);
  expect({ state: lease.state, epoch: lease.epoch, path: lease.path }).toEqual({
    state: "valid",
    epoch: 2,
    path: "db/00000001",
  });
  await lease.confirm();
});

test("an owner whose renewal was stored without a response continues", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  objects.failure = "before";
  for (let heartbeat = 0; heartbeat < 5; heartbeat++) await a.clock.advance(TTL_MS / 4);
  objects.failure = (request) => (request.startsWith("create") ? "after" : "none");
  await a.clock.advance(TTL_MS / 4);
  expect(lease.state).toBe("expired");
  objects.failure = "none";
  await a.clock.advance(TTL_MS / 4);
  expect({ state: lease.state, epoch: lease.epoch }).toEqual({ state: "valid", epoch: 2 });
});

test("an owner that was late loses against a server that took over in between", async () => {
  const a = await machine("a");
  const old = await serve(a);
  const b = await machine("b");
  const { lease } = await takeOver(b);
  leases.push(lease);
  const { promise: deposed, resolve } = Promise.withResolvers<void>();
  old.onDeposed(resolve);
  a.clock.wake(2 * TTL_MS);
  await deposed;
  expect(old.state).toBe("deposed");
  expect(lease.state).toBe("valid");
});

test("a suspended machine does not write before the lease is confirmed again", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  a.clock.wallMs += 60_000;
  expect(lease.state).toBe("expired");
  await a.clock.advance(TTL_MS / 4);
  expect({ state: lease.state, epoch: lease.epoch }).toEqual({ state: "valid", epoch: 2 });
});

test("concurrent confirmations share requests, but none that began before the call", async () => {
  const a = await machine("a");
  const lease = await serve(a);
  const gate = Promise.withResolvers<void>();
  objects.delay = () => gate.promise;
  objects.requests.length = 0;
  const confirmTwice = () => [lease.confirm(), lease.confirm()];
  const first = confirmTwice();
  await new Promise(setImmediate);
  expect(objects.requests).toEqual(["exists home/lease/00000002"]);
  const later = confirmTwice();
  await new Promise(setImmediate);
  expect(objects.requests).toEqual(["exists home/lease/00000002", "exists home/lease/00000002"]);
  const others = Array.from({ length: 20 }, async () => {
    await new Promise(setImmediate);
    await Promise.all(confirmTwice());
  });
  await new Promise((done) => setTimeout(done));
  expect(objects.requests.length).toBeLessThanOrEqual(8);
  gate.resolve();
  await Promise.all([...first, ...later, ...others]);
});

test("an outage while a silent owner is watched does not count as silence", async () => {
  const a = await machine("a");
  await serve(a);
  const b = await machine("b");
  let sleeps = 0;
  const sleep = b.clock.sleep.bind(b.clock);
  b.clock.sleep = async (ms) => {
    objects.failure = ++sleeps === 10 ? "before" : "none";
    await sleep(ms);
  };
  const startedMs = b.clock.monotonicMs;
  const { lease } = await takeOver(b);
  leases.push(lease);
  b.clock.sleep = sleep;
  expect(b.clock.monotonicMs - startedMs).toBeGreaterThanOrEqual(1.5 * TTL_MS + 10 * (TTL_MS / 8));
});

test("of two fresh servers one becomes the owner", async () => {
  const [a, b] = [await machine("a"), await machine("b")];
  const results = await Promise.allSettled([serve(a), serve(b, { ...OWN, store: "store-2" })]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(objects.stored.has("home/lease/00000002")).toBe(false);
});

test("removed leases are noticed", async () => {
  const a = await machine("a");
  await serve(a);
  objects.stored.delete("home/lease/00000001");
  await expect(readOwner(a.bucket)).rejects.toThrow("objects in lease/ were removed");
});
