import { afterEach, expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { openWebhooks } from "../../../../src/features/messaging/webhooks/open.ts";
import { WAITING_MAX } from "../../../../src/features/messaging/webhooks/outbox.ts";
import type { Webhook } from "../../../../src/features/messaging/webhooks/types.ts";
import { CidrList } from "../../../../src/lib/cidr.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { Outbound, type OutboundResponse, type OutboundRequest } from "../../../../src/net/outbound.ts";
import { OutboundError } from "../../../../src/net/outbound-error.ts";
import { memoryDatabase, TestClock } from "../../accounts/rate-limits/support.ts";

const HOUR_MS = 3_600_000;
const KEY = new Uint8Array(32).fill(7);

/** One attempt, as the target receives it. It ends when the test calls `response` or `fail`. */
interface Attempt {
  readonly url: string;
  readonly id: string;
  readonly event: { type: string; data: { n: number } };
  response(status: number, headers?: Record<string, string>): void;
  fail(error: OutboundError): void;
}

/** A target whose attempts wait for the test, unless `reply` is set. */
class FakeTarget extends Outbound {
  readonly attempts: Attempt[] = [];
  reply: ((url: string) => number) | undefined;
  #waiting: (() => void)[] = [];

  constructor() {
    super({ allow: CidrList.parse([]) });
  }

  override async checkTarget(): Promise<void> {}

  override send(url: string, request: OutboundRequest): Promise<OutboundResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<OutboundResponse>();
    const attempt: Attempt = {
      url,
      id: request.headers["webhook-id"] ?? "",
      event: JSON.parse(new TextDecoder().decode(request.body)) as Attempt["event"],
      response: (status, headers = {}) => resolve({ status, header: (name) => headers[name], body: Buffer.alloc(0) }),
      fail: reject,
    };
    request.signal?.addEventListener("abort", () => reject(new OutboundError("aborted", "the request was given up")));
    this.attempts.push(attempt);
    if (this.reply !== undefined) attempt.response(this.reply(url));
    for (const wake of this.#waiting.splice(0)) wake();
    return promise;
  }

  /** The nth attempt, counted from 1, as soon as it is made. */
  async attempt(count: number): Promise<Attempt> {
    for (;;) {
      const attempt = this.attempts[count - 1];
      if (attempt !== undefined) return attempt;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }
}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** The feature with an in-memory database and one account. */
function bench() {
  const clock = new TestClock();
  const { db, writer } = memoryDatabase();
  const target = new FakeTarget();
  db.sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'usr_1', 'ann@example.org', 'ann@example.org', 'Ann', 'user', 'free', '', 0)`,
  );
  const user: User = {
    id: 1,
    publicId: "usr_1",
    email: "ann@example.org",
    name: "Ann",
    role: "user",
    plan: "free",
    quotaBytes: undefined,
    disabledAtMs: null,
    createdAtMs: 0,
  };
  const make = () =>
    openWebhooks({
      sqlite: db.sqlite,
      writer,
      clock,
      log: silentLog,
      events: new Events(),
      outbound: target,
      key: KEY,
      recordOf: () => undefined,
      deviceRecordOf: () => undefined,
    });
  let parts = make();
  parts.dispatcher.start();
  open.push({ close: () => parts.dispatcher.close() });
  const event = (folderId: string, n: number) => ({
    accountId: 1,
    folder: { publicId: folderId, name: String(n), folder: "/" },
  });
  return {
    clock,
    db,
    writer,
    target,
    user,
    get webhooks() {
      return parts.webhooks;
    },
    webhook: async (url = "https://hooks.example.org/a"): Promise<Webhook> =>
      (await parts.webhooks.create(user, { url, events: ["folder.created"], isActive: true })).webhook,
    /** Emits an event about a folder; events of the same folder are delivered in order. */
    emit: (folderId: string, n = 1) =>
      writer.run((tx) => parts.recorder.folder(tx, "folder.created", event(folderId, n))),
    emitAndThrow: (folderId: string) =>
      writer.run((tx) => {
        parts.recorder.folder(tx, "folder.created", event(folderId, 1));
        throw new Error("rolled back");
      }),
    emitMany: (count: number) =>
      writer.run((tx) => {
        for (let n = 0; n < count; n++) parts.recorder.folder(tx, "folder.created", event(`folder${n}`, n));
      }),
    wake: () => parts.dispatcher.wake(),
    /** Like a restart after a crash: only the database remains. */
    restart: async () => {
      await parts.dispatcher.close();
      parts = make();
      parts.dispatcher.start();
    },
    deliveries: (webhook: Webhook) =>
      parts.webhooks.deliveries(user, webhook.publicId, { state: undefined, offset: 0, limit: 100 }).deliveries,
    /** Resolves when the results of ended attempts are written. */
    settled: async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      await writer.run(() => {});
    },
  };
}

test("events of one folder are sent one by one, those of other folders concurrently", async () => {
  const { webhook, emit, target, settled } = bench();
  await webhook();
  for (const n of [1, 2, 3]) await emit("a", n);
  await emit("b", 4);
  const first = await target.attempt(1);
  const second = await target.attempt(2);
  expect([first, second].map(({ event }) => event.data)).toMatchObject([{ name: "1" }, { name: "4" }]);
  await settled();
  expect(target.attempts).toHaveLength(2);
  first.response(200);
  (await target.attempt(3)).response(200);
  expect((await target.attempt(4)).event.data).toMatchObject({ name: "3" });
});

test("a failing delivery blocks only the events of its folder", async () => {
  const { webhook, emit, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  await emit("a", 1);
  await emit("a", 2);
  (await target.attempt(1)).response(400);
  await settled();
  await emit("b", 3);
  (await target.attempt(2)).response(200);
  await settled();
  expect(deliveries(hook).map(({ state }) => state)).toEqual(["delivered", "queued", "queued"]);
  clock.ms += 5_000;
  wake();
  const again = await target.attempt(3);
  expect(again.id).toBe(target.attempts[0]?.id ?? "");
  again.response(204);
  (await target.attempt(4)).response(204);
  await settled();
  expect(deliveries(hook).map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
});

test.each([
  ["a failing target", (attempt: Attempt) => attempt.response(503)],
  ["an unreachable target", (attempt: Attempt) => attempt.fail(new OutboundError("unreachable", "no connection"))],
  ["a forbidden target", (attempt: Attempt) => attempt.fail(new OutboundError("forbidden", "is private"))],
])("after %s all deliveries pause", async (_what, fail) => {
  const { webhook, emit, target, clock, wake, settled, webhooks, user } = bench();
  const hook = await webhook();
  await emit("a");
  fail(await target.attempt(1));
  await settled();
  await emit("b");
  await settled();
  expect(target.attempts).toHaveLength(1);
  expect(webhooks.get(user, hook.publicId)).toMatchObject({ failures: 1, waiting: 2 });
  clock.ms += 10_000;
  wake();
  (await target.attempt(2)).response(200);
  (await target.attempt(3)).response(200);
  await settled();
  expect(webhooks.get(user, hook.publicId)).toMatchObject({ failures: 0, waiting: 0 });
});

test("Retry-After is honored, for an hour at most", async () => {
  const { webhook, emit, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  await emit("a");
  (await target.attempt(1)).response(429, { "retry-after": "86400" });
  await settled();
  const [waiting] = deliveries(hook);
  expect((waiting?.nextAttemptAtMs ?? 0) - clock.nowMs()).toBe(HOUR_MS);
  clock.ms += HOUR_MS;
  wake();
  (await target.attempt(2)).response(200);
});

test("a delivery that fails for a day is dropped, and the next one of its folder is sent", async () => {
  const { webhook, emit, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  target.reply = () => 400;
  await emit("a", 1);
  await settled();
  for (let hour = 0; hour < 25; hour++) {
    clock.ms += HOUR_MS;
    wake();
    await settled();
  }
  expect(deliveries(hook)[0]).toMatchObject({ state: "failed", lastStatus: 400 });
  target.reply = () => 200;
  await emit("a", 2);
  await settled();
  expect(deliveries(hook)[0]).toMatchObject({ state: "delivered", attempts: 1 });
});

test("the job drops the waiting deliveries of an inactive webhook", async () => {
  const { webhook, emit, target, clock, webhooks, user, writer, settled, deliveries } = bench();
  const hook = await webhook();
  await emit("a");
  (await target.attempt(1)).response(500);
  await settled();
  await webhooks.update(user, hook.publicId, { isActive: false });
  await emit("b");
  expect(deliveries(hook)).toHaveLength(1);
  clock.ms += 25 * HOUR_MS;
  expect(await writer.run((tx) => webhooks.sweep(tx, 100))).toBe(1);
  expect(deliveries(hook)[0]).toMatchObject({ state: "failed", lastStatus: 500 });
  expect(webhooks.get(user, hook.publicId).waiting).toBe(0);
  clock.ms += 31 * 24 * HOUR_MS;
  expect(await writer.run((tx) => webhooks.sweep(tx, 100))).toBe(1);
  expect(deliveries(hook)).toEqual([]);
});

test("after a crash, interrupted deliveries are sent again with the same id", async () => {
  const { webhook, emit, target, restart, settled, deliveries } = bench();
  const hook = await webhook();
  await emit("a");
  const first = await target.attempt(1);
  await restart();
  const again = await target.attempt(2);
  expect(again.id).toBe(first.id);
  again.response(200);
  await settled();
  expect(deliveries(hook)[0]).toMatchObject({ state: "delivered", attempts: 1 });
});

test("a clock that was ahead does not delay deliveries after it is corrected", async () => {
  const { webhook, emit, target, clock, wake, settled } = bench();
  await webhook();
  clock.ms += 30 * 24 * HOUR_MS;
  await emit("a");
  (await target.attempt(1)).response(503);
  await settled();
  clock.ms -= 30 * 24 * HOUR_MS;
  wake();
  (await target.attempt(2)).response(200);
});

test("a target gets at most four deliveries at once, and one that does not respond blocks no other", async () => {
  const { webhook, emitMany, target, settled } = bench();
  await webhook("https://dead.example.org/");
  await emitMany(10);
  await target.attempt(4);
  await settled();
  expect(target.attempts).toHaveLength(4);
  await webhook("https://good.example.org/");
  target.reply = (url) => (url.includes("good") ? 200 : 503);
  await emitMany(10);
  const good = () => target.attempts.filter(({ url }) => url.includes("good")).length;
  while (good() < 10) await settled();
  expect(target.attempts.filter(({ url }) => url.includes("dead"))).toHaveLength(4);
});

test("slow targets with long queues don't block other targets", async () => {
  // The first targets used to take every free attempt.
  const { webhook, emitMany, emit, target, settled } = bench();
  for (let n = 0; n < 8; n++) await webhook(`https://slow${n}.example.org/`);
  await emitMany(10);
  await target.attempt(32);
  await webhook("https://good.example.org/");
  await emit("new");
  await settled();
  expect(target.attempts).toHaveLength(32);
  target.attempts[0]?.response(200);
  expect((await target.attempt(33)).url).toContain("good");
});

test("at most four test deliveries of an account run at once", async () => {
  // Each occupies a connection, which other deliveries then have to wait for.
  const { webhook, webhooks, user, target } = bench();
  const { publicId } = await webhook();
  const tests = Array.from({ length: 4 }, () => webhooks.test(user, publicId));
  await expect(webhooks.test(user, publicId)).rejects.toMatchObject({ reason: "overloaded" });
  for (let n = 1; n <= 4; n++) (await target.attempt(n)).response(204);
  expect((await Promise.all(tests)).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => "delivered"));
  const next = webhooks.test(user, publicId);
  (await target.attempt(5)).response(204);
  expect((await next).state).toBe("delivered");
});

test("a webhook with very many deliveries is deleted in batches", async () => {
  // One transaction for fifty thousand deliveries blocks all others for half a second.
  const { webhook, emitMany, target, db, writer, webhooks, user, settled } = bench();
  const { publicId } = await webhook();
  await emitMany(1_200);
  await target.attempt(4);
  const count = () => db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM webhook_deliveries").get()?.n ?? -1;
  const seen = new Set<number>();
  const removal = webhooks.remove(user, publicId);
  while (count() > 0) seen.add(await writer.run(count));
  await removal;
  expect(seen.size).toBeGreaterThan(2);
  expect(() => webhooks.get(user, publicId)).toThrow("was not found");
  for (const attempt of target.attempts) attempt.response(200);
  await settled();
  expect(target.attempts).toHaveLength(4);
});

test("events beyond the limit of waiting deliveries are counted, but not stored", async () => {
  const { webhook, emitMany, db, webhooks, user } = bench();
  const hook = await webhook();
  db.sqlite.run("UPDATE webhooks SET waiting = ?1, paused_until = ?2", [WAITING_MAX - 1, Number.MAX_SAFE_INTEGER]);
  await emitMany(3);
  expect(webhooks.get(user, hook.publicId)).toMatchObject({ waiting: WAITING_MAX, dropped: 2 });
});

test("deliveries of a disabled account wait until it is enabled", async () => {
  const { webhook, emit, target, db, wake, settled } = bench();
  await webhook();
  const setDisabled = (at: number | null) => db.sqlite.run("UPDATE users SET disabled_at = ?1", [at]);
  setDisabled(1);
  await emit("a");
  await settled();
  expect(target.attempts).toEqual([]);
  setDisabled(null);
  wake();
  (await target.attempt(1)).response(200);
});

test("postponed deliveries are retried at once when the webhook is changed", async () => {
  const { webhook, webhooks, user, emit, target, settled } = bench();
  const { publicId } = await webhook();
  await emit("a");
  (await target.attempt(1)).response(404);
  await settled();
  expect(target.attempts).toHaveLength(1);
  await webhooks.update(user, publicId, { url: "https://hooks.example.org/right" });
  const again = await target.attempt(2);
  expect(again.url).toContain("right");
  again.response(200);
});

test("a finished delivery has no body any more", async () => {
  // The log retains deliveries for a month: large records, and names of files that are deleted since.
  const { webhook, emit, target, db, settled } = bench();
  await webhook();
  await emit("a");
  const bodies = () => db.sqlite.query<{ body: string }, []>("SELECT body FROM webhook_deliveries").all();
  expect(bodies()[0]?.body).toContain("folder.created");
  (await target.attempt(1)).response(200);
  await settled();
  expect(bodies()).toEqual([{ body: "" }]);
});

test("an event is not delivered if its transaction is rolled back", async () => {
  const { webhook, emitAndThrow, target, settled, emit, deliveries } = bench();
  const hook = await webhook();
  expect(emitAndThrow("a")).rejects.toThrow("rolled back");
  await settled();
  expect(target.attempts).toEqual([]);
  await emit("b");
  await target.attempt(1);
  expect(deliveries(hook)).toHaveLength(1);
});
