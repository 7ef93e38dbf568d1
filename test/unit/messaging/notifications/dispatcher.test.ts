import { expect, test } from "bun:test";
import { notificationBench } from "./support.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test("a message goes to every device of the account, and to no other device", async () => {
  const bench = notificationBench();
  const [ann, bob] = [bench.account("ann"), bench.account("bob")];
  await bench.reachable(ann, "phone");
  await bench.reachable(ann, "tablet");
  await bench.reachable(bob, "other");
  bench.dispatcher.start();
  const { publicId } = await bench.push(ann, "hello");
  await bench.channels.attempt(2);
  await bench.idle();
  expect(bench.channels.sent.toSorted()).toEqual(["phone: hello", "tablet: hello"]);
  expect(bench.channels.attempts[0]?.message).toEqual({
    id: publicId,
    category: "uploads",
    title: "t",
    body: "hello",
    data: {},
  });
  expect(bench.states()).toEqual(["delivered", "delivered"]);
});

test("a push service that does not respond delays neither the request nor other devices", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "dead");
  await bench.reachable(ann, "alive");
  bench.channels.reply = ({ token }) => (token === "dead" ? undefined : { state: "delivered" });
  bench.dispatcher.start();
  for (const body of ["one", "two", "three"]) await bench.push(ann, body);
  await bench.channels.attempt(4);
  expect(bench.channels.sent.filter((line) => line.startsWith("alive"))).toEqual([
    "alive: one",
    "alive: two",
    "alive: three",
  ]);
  expect(bench.channels.sent.filter((line) => line.startsWith("dead"))).toEqual(["dead: one"]);
  await bench.dispatcher.close();
});

test("a host that does not respond occupies only a few attempts, however many devices use it", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  for (let i = 0; i < 80; i++) await bench.reachable(ann, `https://hangs.example/${i}`);
  await bench.reachable(ann, "https://works.example/topic");
  bench.channels.reply = ({ token }) => (token.includes("hangs") ? undefined : { state: "delivered" });
  bench.dispatcher.start();
  await bench.push(ann, "hello");
  await bench.channels.attempt(9);
  expect(bench.channels.sent).toContain("https://works.example/topic: hello");
  expect(bench.channels.sent.filter((line) => line.includes("hangs"))).toHaveLength(8);
  await bench.dispatcher.close();
});

test("a device gets one message at a time, in order", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => undefined;
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  const first = await bench.channels.attempt(1);
  expect(bench.channels.attempts).toHaveLength(1);
  first.response({ state: "delivered" });
  const second = await bench.channels.attempt(2);
  expect([first.message.body, second.message.body]).toEqual(["one", "two"]);
  second.response({ state: "delivered" });
  await bench.idle();
  expect(bench.states()).toEqual(["delivered", "delivered"]);
});

test("a failed attempt is repeated with growing delays, before later messages", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => ({ state: "retry", why: "503" });
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one"]);
  bench.clock.ms += 10_000;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one", "phone: one"]);
  // The second delay is 10 to 20 seconds.
  bench.clock.ms += 9_000;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.sent).toHaveLength(2);
  bench.channels.reply = () => ({ state: "delivered" });
  bench.clock.ms += 11_000;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one", "phone: one", "phone: one", "phone: two"]);
});

test("a message is retried no earlier than the push service asks for", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => ({ state: "retry", why: "429", afterMs: 2 * HOUR_MS });
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.idle();
  bench.clock.ms += 2 * HOUR_MS - 1;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.attempts).toHaveLength(1);
  bench.clock.ms += 1;
  bench.dispatcher.wake();
  await bench.channels.attempt(2);
});

test("a message that fails for two days is dropped, and the next one is sent", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  const phone = await bench.reachable(ann, "phone");
  bench.channels.reply = (_target, { body }) =>
    body === "one" ? { state: "retry", why: "503" } : { state: "delivered" };
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  await bench.idle();
  bench.clock.ms += 48 * HOUR_MS;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["failed", "queued"]);
  bench.clock.ms += HOUR_MS;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["failed", "delivered"]);
  expect(bench.inbox(ann, phone)).toEqual(["two", "one"]);
});

test("a rejected message is not sent again, and does not block the next one", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = (_target, { body }) =>
    body === "one" ? { state: "rejected", why: "400" } : { state: "delivered" };
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  await bench.idle();
  expect(bench.states()).toEqual(["failed", "delivered"]);
});

test("a token that is gone is dropped with all messages that wait for it", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => ({ state: "gone", why: "410" });
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  bench.dispatcher.start();
  await bench.idle();
  expect(bench.channels.attempts).toHaveLength(1);
  expect(bench.states()).toEqual(["gone", "gone"]);
  const { deliveries } = await bench.push(ann, "three");
  expect(deliveries).toEqual([{ deviceId: "phone", status: "inbox_only", provider: null, deliverAtMs: null }]);
});

test("a token that replaces one that is gone stays, and gets the message", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => undefined;
  bench.dispatcher.start();
  await bench.push(ann, "one");
  const old = await bench.channels.attempt(1);
  await bench.notifications.register(ann, { deviceId: "phone", pushToken: "fresh" });
  old.response({ state: "gone", why: "410" });
  const fresh = await bench.channels.attempt(2);
  expect(fresh.target.token).toBe("fresh");
  fresh.response({ state: "delivered" });
  await bench.idle();
  expect(bench.states()).toEqual(["delivered"]);
});

test("an attempt that exceeds the time limit is aborted and repeated", async () => {
  const bench = notificationBench({ attemptMs: 1 });
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => undefined;
  bench.dispatcher.start();
  await bench.push(ann, "one");
  const hanging = await bench.channels.attempt(1);
  await bench.idle();
  expect(hanging.signal.aborted).toBe(true);
  bench.clock.ms += 10_000;
  bench.channels.reply = () => ({ state: "delivered" });
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["delivered"]);
});

test("after a restart all queued messages are sent, and interrupted ones again with the same id", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.channels.reply = () => undefined;
  bench.dispatcher.start();
  const { publicId } = await bench.push(ann, "one");
  await bench.push(ann, "two");
  const cut = await bench.channels.attempt(1);
  bench.channels.reply = () => ({ state: "delivered" });
  await bench.restart();
  expect(cut.signal.aborted).toBe(true);
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one", "phone: one", "phone: two"]);
  expect(bench.channels.attempts.slice(0, 2).map(({ message }) => message.id)).toEqual([publicId, publicId]);
});

test("a message in quiet hours is deferred until they end", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  const phone = await bench.reachable(ann, "phone");
  bench.clock.ms = Date.parse("2026-01-10T22:30:00Z");
  const quietHours = { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" };
  await bench.notifications.register(ann, { deviceId: "phone", preferences: { quietHours } });
  bench.dispatcher.start();
  const { deliveries } = await bench.push(ann, "one");
  const endMs = Date.parse("2026-01-11T07:00:00Z");
  expect(deliveries).toEqual([{ deviceId: "phone", status: "held", provider: "fcm", deliverAtMs: endMs }]);
  expect(bench.inbox(ann, phone)).toEqual(["one"]);
  bench.clock.ms = endMs - 1;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.attempts).toHaveLength(0);
  bench.clock.ms = endMs;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one"]);
});

test("changed preferences apply to waiting messages: sooner, later, or not at all", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.clock.ms = Date.parse("2026-01-10T22:30:00Z");
  const register = (preferences: object) => bench.notifications.register(ann, { deviceId: "phone", preferences });
  await register({ quietHours: { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" } });
  bench.dispatcher.start();
  await bench.push(ann, "later");
  await register({ quietHours: { end: "09:00" } });
  bench.clock.ms = Date.parse("2026-01-11T08:00:00Z");
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["held"]);
  await register({ uploads: false });
  await bench.idle();
  bench.clock.ms = Date.parse("2026-01-11T09:00:00Z");
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["dropped"]);
  bench.clock.ms = Date.parse("2026-01-11T23:00:00Z");
  await register({ uploads: true });
  await bench.push(ann, "sooner");
  await register({ quietHours: { enabled: false } });
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: sooner"]);
});

test("after the clock is set back, waiting messages are sent at once", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  await bench.reachable(ann, "tablet");
  const rightMs = bench.clock.ms;
  bench.clock.ms += 365 * 24 * 60 * 60_000;
  bench.channels.reply = ({ token }) => (token === "phone" ? { state: "retry", why: "busy" } : undefined);
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.channels.attempt(2);
  await bench.dispatcher.close();
  bench.clock.ms = rightMs;
  bench.channels.attempts.length = 0;
  bench.channels.reply = () => ({ state: "delivered" });
  await bench.push(ann, "two");
  await bench.restart();
  const responded = [1, 2, 3, 4].map((count) => bench.channels.attempt(count));
  await Promise.all(responded);
  await bench.idle();
  expect(bench.channels.sent.toSorted()).toEqual(["phone: one", "phone: two", "tablet: one", "tablet: two"]);
});

test("quiet hours in a time zone that is no longer known don't apply", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  const quietHours = { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" };
  await bench.notifications.register(ann, { deviceId: "phone", preferences: { quietHours } });
  bench.db.sqlite.run("UPDATE push_targets SET preferences = replace(preferences, 'UTC', 'Mars/Olympus')");
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.idle();
  expect(bench.channels.sent).toEqual(["phone: one"]);
});

test("quiet hours that begin between two attempts defer the message", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.clock.ms = Date.parse("2026-01-10T21:59:59Z");
  const quietHours = { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" };
  await bench.notifications.register(ann, { deviceId: "phone", preferences: { quietHours } });
  bench.channels.reply = () => ({ state: "retry", why: "503" });
  bench.dispatcher.start();
  await bench.push(ann, "one");
  await bench.push(ann, "two");
  await bench.idle();
  bench.clock.ms += MINUTE_MS;
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.states()).toEqual(["held", "held"]);
  expect(bench.channels.attempts).toHaveLength(1);
  bench.channels.reply = () => ({ state: "delivered" });
  bench.clock.ms = Date.parse("2026-01-11T07:00:00Z");
  bench.dispatcher.wake();
  await bench.idle();
  expect(bench.channels.sent.slice(1)).toEqual(["phone: one", "phone: two"]);
});

test("nothing is sent to a removed device, to a disabled account, or to a signed-out device", async () => {
  const bench = notificationBench();
  const [ann, bob, eve] = [bench.account("ann"), bench.account("bob"), bench.account("eve")];
  const gone = await bench.reachable(ann, "gone");
  await bench.reachable(bob, "disabled");
  await bench.reachable(eve, "out");
  for (const who of [ann, bob, eve]) await bench.push(who, "secret");
  await bench.transaction((tx) => {
    bench.triggers.deviceRemoved(tx, { accountId: ann.user.id, device: gone });
    bench.db.sqlite.run("UPDATE users SET disabled_at = 1 WHERE name = 'bob'");
    bench.db.sqlite.run("DELETE FROM sessions WHERE user_id = 3");
  });
  bench.dispatcher.start();
  await bench.idle();
  expect(bench.channels.attempts).toHaveLength(0);
  expect(bench.states()).toEqual(["dropped", "dropped", "dropped"]);
});

test("a signed-out device is still notified that the password was changed", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.db.sqlite.run("DELETE FROM sessions");
  await bench.transaction((tx) =>
    bench.triggers.credentialsChanged(tx, { accountId: ann.user.id, what: "password", deviceId: null }),
  );
  bench.dispatcher.start();
  expect((await bench.channels.attempt(1)).message).toMatchObject({ category: "security", title: "Password changed" });
});

test("at most a hundred messages wait for a device; older ones are only in the inbox", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  const phone = await bench.reachable(ann, "phone");
  for (let i = 1; i <= 103; i++) await bench.push(ann, String(i));
  expect(bench.states().filter((state) => state === "queued")).toHaveLength(100);
  expect(bench.states().slice(0, 4)).toEqual(["dropped", "dropped", "dropped", "queued"]);
  expect(bench.notifications.list(ann, phone, 1, 1).total).toBe(103);
});

test("a failed database write does not cause a delivered message to be sent again", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  await bench.push(ann, "one");
  bench.channels.reply = () => undefined;
  bench.dispatcher.start();
  const attempt = await bench.channels.attempt(1);
  // As if another program locks the database for too long.
  let failures = 0;
  const original = bench.writer.run.bind(bench.writer);
  bench.writer.run = (...given) => {
    failures++;
    bench.writer.run = original;
    void given;
    return Promise.reject(new Error("database is busy"));
  };
  attempt.response({ state: "delivered" });
  await bench.idle();
  expect(failures).toBe(1);
  expect(bench.channels.attempts).toHaveLength(1);
  expect(bench.states()).toEqual(["delivered"]);
});
