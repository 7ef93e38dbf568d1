import { afterEach, expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { openWebhooks } from "../../../../src/features/messaging/webhooks/open.ts";
import { WAITING_MAX } from "../../../../src/features/messaging/webhooks/outbox.ts";
import type { Webhook } from "../../../../src/features/messaging/webhooks/types.ts";
import { CidrList } from "../../../../src/lib/cidr.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { Outbound, type OutboundResponse, OutboundError, type OutboundRequest } from "../../../../src/net/outbound.ts";
import { memoryDatabase, TestClock } from "../../accounts/rate-limits/support.ts";

const HOUR_MS = 3_600_000;
const KEY = new Uint8Array(32).fill(7);

/** One attempt as the target saw it; it ends as the test says. */
interface Attempt {
  readonly url: string;
  readonly id: string;
  readonly event: { type: string; data: { n: number } };
  response(status: number, headers?: Record<string, string>): void;
  fail(error: OutboundError): void;
}

/** A target of whose attempts each waits for the test, unless it answers by itself. */
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

  /** The nth attempt from 1, as soon as it is made. */
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

/** The feature over a database in memory, with one account. */
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
  const event = (lane: string, n: number) => ({
    accountId: 1,
    folder: { publicId: lane, name: String(n), folder: "/" },
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
    /** Something happens to what the lane names. */
    happen: (lane: string, n = 1) => writer.run((tx) => parts.recorder.folder(tx, "folder.created", event(lane, n))),
    happenAndThrow: (lane: string) =>
      writer.run((tx) => {
        parts.recorder.folder(tx, "folder.created", event(lane, 1));
        throw new Error("refused");
      }),
    happenMany: (count: number) =>
      writer.run((tx) => {
        for (let n = 0; n < count; n++) parts.recorder.folder(tx, "folder.created", event(`lane${n}`, n));
      }),
    wake: () => parts.dispatcher.wake(),
    /** As after a crash: the same database, nothing in memory. */
    restart: async () => {
      await parts.dispatcher.close();
      parts = make();
      parts.dispatcher.start();
    },
    deliveries: (webhook: Webhook) =>
      parts.webhooks.deliveries(user, webhook.publicId, { state: undefined, offset: 0, limit: 100 }).deliveries,
    /** Until all that was begun is written. */
    settled: async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      await writer.run(() => {});
    },
  };
}

test("one lane goes one by one, others beside it", async () => {
  const { webhook, happen, target, settled } = bench();
  await webhook();
  for (const n of [1, 2, 3]) await happen("a", n);
  await happen("b", 4);
  const first = await target.attempt(1);
  const second = await target.attempt(2);
  expect([first, second].map(({ event }) => event.data)).toMatchObject([{ name: "1" }, { name: "4" }]);
  await settled();
  expect(target.attempts).toHaveLength(2);
  first.response(200);
  (await target.attempt(3)).response(200);
  expect((await target.attempt(4)).event.data).toMatchObject({ name: "3" });
});

test("a lane waits for its first one, however long that fails; the others go on", async () => {
  const { webhook, happen, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  await happen("a", 1);
  await happen("a", 2);
  (await target.attempt(1)).response(400);
  await settled();
  await happen("b", 3);
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
  ["nobody there", (attempt: Attempt) => attempt.fail(new OutboundError("unreachable", "no connection"))],
  [
    "a target that may not be reached",
    (attempt: Attempt) => attempt.fail(new OutboundError("forbidden", "is private")),
  ],
])("after %s all lanes wait a while", async (_what, fail) => {
  const { webhook, happen, target, clock, wake, settled, webhooks, user } = bench();
  const hook = await webhook();
  await happen("a");
  fail(await target.attempt(1));
  await settled();
  await happen("b");
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

test("Retry-After is heeded, for an hour at most", async () => {
  const { webhook, happen, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  await happen("a");
  (await target.attempt(1)).response(429, { "retry-after": "86400" });
  await settled();
  const [waiting] = deliveries(hook);
  expect((waiting?.nextAttemptAtMs ?? 0) - clock.nowMs()).toBe(HOUR_MS);
  clock.ms += HOUR_MS;
  wake();
  (await target.attempt(2)).response(200);
});

test("what was not taken for a day is given up, and its lane goes on", async () => {
  const { webhook, happen, target, clock, wake, settled, deliveries } = bench();
  const hook = await webhook();
  target.reply = () => 400;
  await happen("a", 1);
  await settled();
  for (let hour = 0; hour < 25; hour++) {
    clock.ms += HOUR_MS;
    wake();
    await settled();
  }
  expect(deliveries(hook)[0]).toMatchObject({ state: "failed", lastStatus: 400 });
  target.reply = () => 200;
  await happen("a", 2);
  await settled();
  expect(deliveries(hook)[0]).toMatchObject({ state: "delivered", attempts: 1 });
});

test("what a switched-off webhook holds is given up by the job", async () => {
  const { webhook, happen, target, clock, webhooks, user, writer, settled, deliveries } = bench();
  const hook = await webhook();
  await happen("a");
  (await target.attempt(1)).response(500);
  await settled();
  await webhooks.update(user, hook.publicId, { isActive: false });
  await happen("b");
  expect(deliveries(hook)).toHaveLength(1);
  clock.ms += 25 * HOUR_MS;
  expect(await writer.run((tx) => webhooks.sweep(tx, 100))).toBe(1);
  expect(deliveries(hook)[0]).toMatchObject({ state: "failed", lastStatus: 500 });
  expect(webhooks.get(user, hook.publicId).waiting).toBe(0);
  clock.ms += 31 * 24 * HOUR_MS;
  expect(await writer.run((tx) => webhooks.sweep(tx, 100))).toBe(1);
  expect(deliveries(hook)).toEqual([]);
});

test("after a crash what was under way is sent again, under the same id", async () => {
  const { webhook, happen, target, restart, settled, deliveries } = bench();
  const hook = await webhook();
  await happen("a");
  const first = await target.attempt(1);
  await restart();
  const again = await target.attempt(2);
  expect(again.id).toBe(first.id);
  again.response(200);
  await settled();
  expect(deliveries(hook)[0]).toMatchObject({ state: "delivered", attempts: 1 });
});

test("a clock that was ahead holds nothing up for ever", async () => {
  const { webhook, happen, target, clock, wake, settled } = bench();
  await webhook();
  clock.ms += 30 * 24 * HOUR_MS;
  await happen("a");
  (await target.attempt(1)).response(503);
  await settled();
  clock.ms -= 30 * 24 * HOUR_MS;
  wake();
  (await target.attempt(2)).response(200);
});

test("four at once to one target, and a dead one holds up no other", async () => {
  const { webhook, happenMany, target, settled } = bench();
  await webhook("https://dead.example.org/");
  await happenMany(10);
  await target.attempt(4);
  await settled();
  expect(target.attempts).toHaveLength(4);
  await webhook("https://good.example.org/");
  target.reply = (url) => (url.includes("good") ? 200 : 503);
  await happenMany(10);
  const good = () => target.attempts.filter(({ url }) => url.includes("good")).length;
  while (good() < 10) await settled();
  expect(target.attempts.filter(({ url }) => url.includes("dead"))).toHaveLength(4);
});

test("slow targets that always want more keep nobody from their turn", async () => {
  // The first ones took every place that became free, whoever waited behind them.
  const { webhook, happenMany, happen, target, settled } = bench();
  for (let n = 0; n < 8; n++) await webhook(`https://slow${n}.example.org/`);
  await happenMany(10);
  await target.attempt(32);
  await webhook("https://good.example.org/");
  await happen("new");
  await settled();
  expect(target.attempts).toHaveLength(32);
  target.attempts[0]?.response(200);
  expect((await target.attempt(33)).url).toContain("good");
});

test("of an account four trials run at once", async () => {
  // Any number of them held a connection each, and kept all other deliveries waiting.
  const { webhook, webhooks, user, target } = bench();
  const { publicId } = await webhook();
  const trials = Array.from({ length: 4 }, () => webhooks.test(user, publicId));
  await expect(webhooks.test(user, publicId)).rejects.toMatchObject({ reason: "overloaded" });
  for (let n = 1; n <= 4; n++) (await target.attempt(n)).response(204);
  expect((await Promise.all(trials)).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => "delivered"));
  const next = webhooks.test(user, publicId);
  (await target.attempt(5)).response(204);
  expect((await next).state).toBe("delivered");
});

test("one with very many deliveries is deleted piece by piece", async () => {
  // In one deed: half a second for fifty thousand, in which nobody else was served.
  const { webhook, happenMany, target, db, writer, webhooks, user, settled } = bench();
  const { publicId } = await webhook();
  await happenMany(1_200);
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

test("beyond so many that wait, events are counted and not kept", async () => {
  const { webhook, happenMany, db, webhooks, user } = bench();
  const hook = await webhook();
  db.sqlite.run("UPDATE webhooks SET waiting = ?1, paused_until = ?2", [WAITING_MAX - 1, Number.MAX_SAFE_INTEGER]);
  await happenMany(3);
  expect(webhooks.get(user, hook.publicId)).toMatchObject({ waiting: WAITING_MAX, dropped: 2 });
});

test("a disabled account's wait until it is enabled", async () => {
  const { webhook, happen, target, db, wake, settled } = bench();
  await webhook();
  const setDisabled = (at: number | null) => db.sqlite.run("UPDATE users SET disabled_at = ?1", [at]);
  setDisabled(1);
  await happen("a");
  await settled();
  expect(target.attempts).toEqual([]);
  setDisabled(null);
  wake();
  (await target.attempt(1)).response(200);
});

test("what was put off is tried at once when the webhook is changed", async () => {
  // It waited for up to an hour all the same, whatever the documentation said.
  const { webhook, webhooks, user, happen, target, settled } = bench();
  const { publicId } = await webhook();
  await happen("a");
  (await target.attempt(1)).response(404);
  await settled();
  expect(target.attempts).toHaveLength(1);
  await webhooks.update(user, publicId, { url: "https://hooks.example.org/right" });
  const again = await target.attempt(2);
  expect(again.url).toContain("right");
  again.response(200);
});

test("what was delivered leaves nothing of its content behind", async () => {
  // The log keeps it for a month: records of many kilobytes, and names of what was deleted since.
  const { webhook, happen, target, db, settled } = bench();
  await webhook();
  await happen("a");
  const bodies = () => db.sqlite.query<{ body: string }, []>("SELECT body FROM webhook_deliveries").all();
  expect(bodies()[0]?.body).toContain("folder.created");
  (await target.attempt(1)).response(200);
  await settled();
  expect(bodies()).toEqual([{ body: "" }]);
});

test("a refused deed tells nobody", async () => {
  const { webhook, happenAndThrow, target, settled, happen, deliveries } = bench();
  const hook = await webhook();
  expect(happenAndThrow("a")).rejects.toThrow("refused");
  await settled();
  expect(target.attempts).toEqual([]);
  await happen("b");
  await target.attempt(1);
  expect(deliveries(hook)).toHaveLength(1);
});
