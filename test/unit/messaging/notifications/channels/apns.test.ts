import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApnsChannel, openApns } from "../../../../../src/features/messaging/notifications/channels/apns.ts";
import type { PushMessage } from "../../../../../src/features/messaging/notifications/channels/channel.ts";
import { ApnsService, publicPem, tlsCertificate } from "../../../../support/push-services.ts";

const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const directory = mkdtempSync(join(tmpdir(), "larder-apns-"));
afterAll(() => rmSync(directory, { recursive: true }));
const keyFile = join(directory, "key.p8");
writeFileSync(keyFile, pem);
const MESSAGE: PushMessage = {
  id: "ntf_1",
  category: "uploads",
  title: "Done",
  body: "3 files",
  data: { folder: "/" },
};
const EXPIRED = { status: 403, body: '{"reason":"ExpiredProviderToken"}' };

let service: ApnsService;
let channel: ApnsChannel;
let nowMs = 0;

beforeEach(async () => {
  nowMs = Date.now();
  service = await new ApnsService(publicPem(pem), "KEYKEYKEY1", "TEAMTEAM01", "org.example.larder").start();
  const { keyId, teamId, topic, url } = service;
  const opened = await openApns({
    settings: { keyFile, keyId, teamId, topic, environment: "sandbox", endpoint: url },
    clock: { nowMs: () => nowMs },
    ca: tlsCertificate,
  });
  if (opened === undefined) throw new Error("not configured");
  channel = opened;
});
afterEach(async () => {
  await channel.close();
  await service.stop();
});

function deliver(message = MESSAGE, token = "beef".repeat(16)) {
  return channel.deliver({ token, platform: "ios" }, message, AbortSignal.timeout(20_000));
}

test("all messages share one connection and one provider token", async () => {
  await Promise.all(Array.from({ length: 50 }, () => deliver()));
  await deliver();
  expect([service.received.length, service.connections, service.tokens.length, service.faults]).toEqual([51, 1, 1, []]);
});

test("a closed connection is opened again", async () => {
  await deliver();
  service.cutAll();
  // This message may still use the old connection.
  await deliver();
  expect(await deliver()).toEqual({ state: "delivered" });
  expect(service.connections).toBe(2);
});

test("the provider token is renewed within an hour, and not more often", async () => {
  await deliver();
  nowMs += 49 * 60_000;
  await deliver();
  expect(service.tokens.length).toBe(1);
  nowMs += 2 * 60_000;
  await deliver();
  expect(service.tokens.length).toBe(2);
});

test("a provider token that Apple reports as expired is renewed, once in twenty minutes", async () => {
  await deliver();
  for (const token of service.tokens) service.expired.add(token);
  nowMs += 1000;
  expect(await Promise.all([deliver(), deliver()])).toEqual([{ state: "delivered" }, { state: "delivered" }]);
  expect(service.tokens.length).toBe(2);
  service.behaviors = [EXPIRED];
  expect(await deliver()).toMatchObject({ state: "retry" });
  expect(service.tokens.length).toBe(2);
});

test.each([
  [410, "Unregistered", "gone"],
  [410, "ExpiredToken", "gone"],
  [400, "BadDeviceToken", "gone"],
  [400, "DeviceTokenNotForTopic", "rejected"],
  [400, "BadTopic", "rejected"],
  [400, "PayloadEmpty", "rejected"],
  [403, "InvalidProviderToken", "retry"],
  [403, "BadCertificateEnvironment", "retry"],
  [404, "BadPath", "rejected"],
  [413, "PayloadTooLarge", "rejected"],
  [429, "TooManyRequests", "retry"],
  [429, "TooManyProviderTokenUpdates", "retry"],
  [500, "InternalServerError", "retry"],
  [503, "Shutdown", "retry"],
])("the response %d %s means: %s", async (status, reason, state) => {
  service.behaviors = [{ status, body: JSON.stringify({ reason }) }];
  expect(await deliver()).toMatchObject({ state, why: `APNs returned ${status} ${reason}` });
});

test("headers and payload follow Apple's rules, and a message always has the same id", async () => {
  await deliver({ ...MESSAGE, category: "security", collapseKey: "a b" });
  await deliver({ ...MESSAGE, category: "security" });
  await deliver({ ...MESSAGE, id: "ntf_2" });
  const [first, second, third] = service.received.map(({ headers }) => headers);
  expect(first).toMatchObject({ "apns-priority": "10", "apns-push-type": "alert" });
  expect(first?.["apns-collapse-id"]).toMatch(/^[\w-]{1,64}$/);
  expect(second?.["apns-id"]).toBe(first?.["apns-id"] ?? "");
  expect(third?.["apns-id"]).not.toBe(first?.["apns-id"] ?? "");
  expect(third?.["apns-priority"]).toBe("5");
  expect(service.received[0]?.data).toEqual({ id: "ntf_1", category: "security", data: { folder: "/" } });
});

test.each([["../../admin"], ["not hexadecimal"], [""], ["be ef"]])(
  "a token that is not an APNs token (%j) is gone, and nothing is sent",
  async (token) => {
    expect(await deliver(MESSAGE, token)).toMatchObject({ state: "gone" });
    expect(service.connections).toBe(0);
  },
);
