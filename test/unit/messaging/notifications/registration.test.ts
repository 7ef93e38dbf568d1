import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { canonicalToken, concurrencyGroupOf } from "../../../../src/features/messaging/notifications/token.ts";
import { notificationBench } from "./support.ts";

const EVENING = Date.parse("2026-01-10T22:30:00Z");

test("a push token belongs to the device that registered it last, of any account", async () => {
  const bench = notificationBench();
  const [ann, bob] = [bench.account("ann"), bench.account("bob")];
  await bench.reachable(ann, "shared");
  await bench.push(ann, "for ann alone");
  bench.device(bob, "bobs");
  await bench.notifications.register(bob, { deviceId: "bobs", pushToken: "shared" });
  bench.dispatcher.start();
  await bench.idle();
  // Messages that waited for the former owner don't reach the new one.
  expect(bench.channels.sent).toEqual([]);
  expect((await bench.push(ann, "x")).deliveries[0]?.status).toBe("inbox_only");
  expect((await bench.push(bob, "y")).deliveries[0]?.status).toBe("queued");
  await bench.idle();
  expect(bench.channels.sent).toEqual(["shared: y"]);
});

test("all preferences are true at first, and each registration is merged into them", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  bench.device(ann, "phone");
  const register = async (preferences?: object) =>
    (await bench.notifications.register(ann, { deviceId: "phone", preferences })).preferences;
  const quietHours = { enabled: false, start: "22:00", end: "07:00", timezone: "UTC" };
  expect(await register()).toEqual({ uploads: true, shares: true, storage: true, security: true, quietHours });
  expect(await register({ shares: false })).toMatchObject({ uploads: true, shares: false });
  expect(await register({ quietHours: { enabled: true, timezone: "Asia/Tokyo" } })).toEqual({
    uploads: true,
    shares: false,
    storage: true,
    security: true,
    quietHours: { enabled: true, start: "22:00", end: "07:00", timezone: "Asia/Tokyo" },
  });
});

test("the user's settings apply until the device registers preferences of its own", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.settings.set(ann.user.id, JSON.stringify({ notifications: { uploads: false } }));
  expect((await bench.push(ann, "x")).deliveries[0]?.status).toBe("muted");
  // Empty preferences change nothing.
  await bench.notifications.register(ann, { deviceId: "phone", preferences: { quietHours: {} } });
  expect((await bench.push(ann, "x")).deliveries[0]?.status).toBe("muted");
  await bench.notifications.register(ann, { deviceId: "phone", preferences: { shares: false } });
  expect((await bench.push(ann, "x")).deliveries[0]?.status).toBe("queued");
});

test("quiet hours in the user's settings apply too", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  await bench.reachable(ann, "phone");
  bench.clock.ms = EVENING;
  const quietHours = { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" };
  bench.settings.set(ann.user.id, JSON.stringify({ notifications: { quietHours } }));
  expect((await bench.push(ann, "x")).deliveries[0]?.status).toBe("held");
});

test("an unknown time zone is rejected by name", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  bench.device(ann, "phone");
  const preferences = { quietHours: { timezone: "Mars/Olympus" } };
  const registration = bench.notifications.register(ann, { deviceId: "phone", preferences });
  await expect(registration).rejects.toMatchObject({
    reason: "invalid_field",
    details: { field: "preferences.quietHours.timezone" },
  });
});

test("devices of other accounts and removed devices are not found", async () => {
  const bench = notificationBench();
  const [ann, bob] = [bench.account("ann"), bench.account("bob")];
  bench.device(bob, "bobs");
  const gone = bench.device(ann, "gone");
  bench.db.sqlite.query("UPDATE devices SET removed_at = 1 WHERE id = ?1").run(gone.id);
  for (const deviceId of ["bobs", "gone", "never"]) {
    const registration = bench.notifications.register(ann, { deviceId, pushToken: "t" });
    await expect(registration).rejects.toMatchObject({ reason: "not_found" });
    await expect(bench.push(ann, "x", deviceId)).rejects.toMatchObject({ reason: "not_found" });
  }
});

test("a message to one device is only in its inbox", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  const [phone, tablet] = [await bench.reachable(ann, "phone"), await bench.reachable(ann, "tablet")];
  const { deliveries } = await bench.push(ann, "only you", "phone");
  expect(deliveries.map(({ deviceId }) => deviceId)).toEqual(["phone"]);
  expect(bench.inbox(ann, phone)).toEqual(["only you"]);
  expect(bench.inbox(ann, tablet)).toEqual([]);
  expect(await bench.notifications.markRead(ann, tablet, "all")).toEqual({ read: 0, unread: 0 });
});

/** A browser's subscription: its keys are a point on P-256 and 16 bytes. */
function subscriptionOf(host: string) {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  const keys = { p256dh: point.toString("base64url"), auth: Buffer.alloc(16).toString("base64url") };
  return { endpoint: `https://${host}/abc`, expirationTime: null, keys };
}

test("the canonical form of a subscription does not depend on how its JSON is written", () => {
  const { endpoint, expirationTime, keys } = subscriptionOf("push.example");
  const { p256dh, auth } = keys;
  const one = JSON.stringify({ endpoint, expirationTime, keys });
  const other = JSON.stringify({ keys: { auth, p256dh }, endpoint }, null, 2).replaceAll("/", "\\/");
  expect(canonicalToken(other)).toBe(canonicalToken(one));
  expect(canonicalToken(" https://ntfy.example/topic\n")).toBe("https://ntfy.example/topic");
});

test("the concurrency group is the host of an address, otherwise the platform", () => {
  expect(concurrencyGroupOf("https://ntfy.example:8443/topic", "android")).toBe("ntfy.example:8443");
  expect(concurrencyGroupOf(JSON.stringify(subscriptionOf("push.example")), "web")).toBe("push.example");
  expect(concurrencyGroupOf("fcm-token:APA91", "Android")).toBe("android");
  expect(concurrencyGroupOf("{}", "web")).toBe("web");
});
