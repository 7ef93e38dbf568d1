import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PushChannel, PushMessage } from "../../../../../src/features/messaging/notifications/channels/channel.ts";
import { openFcm } from "../../../../../src/features/messaging/notifications/channels/fcm.ts";
import { FcmService, googleError, publicPem } from "../../../../support/push-services.ts";

const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
const directory = mkdtempSync(join(tmpdir(), "larder-fcm-"));
afterAll(() => rmSync(directory, { recursive: true }));
const MESSAGE: PushMessage = {
  id: "ntf_1",
  category: "uploads",
  title: "Done",
  body: "3 files",
  data: { folder: "/" },
};

let service: FcmService;
let channel: PushChannel;
let nowMs = 0;

beforeEach(async () => {
  nowMs = Date.now();
  service = await new FcmService(publicPem(pem)).start();
  const serviceAccountFile = join(directory, "account.json");
  const account = {
    project_id: service.projectId,
    private_key_id: "key-1",
    private_key: pem,
    client_email: "larder@larder-test.example",
    token_uri: service.tokenUri,
  };
  writeFileSync(serviceAccountFile, JSON.stringify(account));
  const opened = await openFcm({
    settings: { serviceAccountFile, endpoint: service.url },
    clock: { nowMs: () => nowMs },
  });
  if (opened === undefined) throw new Error("not configured");
  channel = opened;
});
afterEach(() => service.stop());

function deliver(message = MESSAGE) {
  return channel.deliver({ token: "abc:APA91b", platform: "android" }, message, AbortSignal.timeout(20_000));
}

test("all messages share one access token, which is fetched once", async () => {
  await Promise.all(Array.from({ length: 10 }, () => deliver()));
  expect(await deliver()).toEqual({ state: "delivered" });
  expect([service.received.length, service.tokens.length, service.faults]).toEqual([11, 1, []]);
});

test("an access token is renewed before it expires", async () => {
  await deliver();
  nowMs += 50 * 60_000;
  await deliver();
  expect(service.tokens.length).toBe(1);
  nowMs += 6 * 60_000;
  await deliver();
  expect(service.tokens.length).toBe(2);
});

test("an access token that Google revokes early is renewed once, and the message delivered", async () => {
  await deliver();
  service.tokens.length = 0;
  expect(await deliver()).toEqual({ state: "delivered" });
  expect(service.tokens.length).toBe(1);
});

test("a message that the project may not send is retried later, after one new access token", async () => {
  service.behaviors = [googleError(403, "PERMISSION_DENIED")];
  expect(await deliver()).toEqual({ state: "retry", why: "FCM returned 403 PERMISSION_DENIED" });
  expect(service.received.length).toBe(2);
});

test.each([
  ["a rejection", { status: 400, body: '{"error":"invalid_grant","error_description":"secret words"}' }],
  ["a failure", { status: 500, body: "x" }],
  ["garbage", "garbage"],
  ["an invalid token", { status: 200, body: '{"access_token":"a\\r\\nb: c","expires_in":3600}' }],
  ["a token that never expires", { status: 200, body: '{"access_token":"a"}' }],
] as const)("after %s instead of an access token, the message waits", async (_, behaviour) => {
  service.tokenBehaviors = [behaviour];
  const outcome = await deliver();
  expect(outcome.state).toBe("retry");
  expect(JSON.stringify(outcome)).not.toContain("secret");
  service.tokenBehaviors = [];
  expect(await deliver()).toEqual({ state: "delivered" });
});

const FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
test.each([
  ["gone", googleError(404, "NOT_FOUND", { "@type": FCM_ERROR, errorCode: "UNREGISTERED" })],
  ["gone", googleError(404, "NOT_FOUND")],
  ["gone", googleError(403, "PERMISSION_DENIED", { "@type": FCM_ERROR, errorCode: "SENDER_ID_MISMATCH" })],
  ["gone", googleError(400, "INVALID_ARGUMENT", { fieldViolations: [{ field: "message.token" }] })],
  ["rejected", googleError(400, "INVALID_ARGUMENT", { fieldViolations: [{ field: "message.data" }] })],
  // A response in this form does not come from FCM, so the token is not dropped.
  ["retry", { status: 404, body: "<h1>Not found</h1>" }],
  ["retry", googleError(429, "RESOURCE_EXHAUSTED", { "@type": FCM_ERROR, errorCode: "QUOTA_EXCEEDED" })],
  ["retry", googleError(503, "UNAVAILABLE")],
  ["retry", googleError(500, "INTERNAL")],
  ["retry", googleError(401, "UNAUTHENTICATED", { "@type": FCM_ERROR, errorCode: "THIRD_PARTY_AUTH_ERROR" })],
] as const)("the outcome is %s after %j", async (state, behaviour) => {
  service.behaviors = [behaviour];
  expect((await deliver()).state).toBe(state);
});

test("data includes id and category as strings; keys that FCM reserves are left out", async () => {
  const data = { folder: "/", from: "me", "google.x": "1", "gcm.y": "2", message_type: "3" };
  await deliver({ ...MESSAGE, category: "security", data, collapseKey: "k" });
  expect(service.received[0]?.data).toEqual({ folder: "/", id: "ntf_1", category: "security" });
  expect(service.received[0]?.headers).toMatchObject({ priority: "HIGH", collapseKey: "k" });
});
