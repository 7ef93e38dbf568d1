// The contract of all push channels, tested for each one against a service with the real protocol, which verifies
// signatures and encryption.
import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { once } from "node:events";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApns } from "../../src/features/messaging/notifications/channels/apns.ts";
import type {
  PushChannel,
  PushMessage,
  PushTarget,
} from "../../src/features/messaging/notifications/channels/channel.ts";
import { openFcm } from "../../src/features/messaging/notifications/channels/fcm.ts";
import { UrlChannel } from "../../src/features/messaging/notifications/channels/url.ts";
import { vapidKeysOf, WebPushChannel } from "../../src/features/messaging/notifications/channels/web-push.ts";
import { CidrList } from "../../src/lib/cidr.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Outbound } from "../../src/net/outbound.ts";
import {
  ApnsService,
  type PushBehavior,
  findUnusedPort,
  FcmService,
  googleError,
  publicPem,
  type PushService,
  tlsCertificate,
  UrlPushService,
  WebPushService,
} from "../support/push-services.ts";

/** A channel and its service. */
interface Setup {
  readonly service: PushService;
  readonly channel: PushChannel;
  readonly target: PushTarget;
  /** The same channel with an address on which nothing listens. */
  readonly unreachable: () => Promise<{ channel: PushChannel; target: PushTarget }>;
  /** The target's secrets, which must never be logged. */
  readonly secrets: readonly string[];
  /** How this service reports a token that is no longer valid. */
  readonly gone: PushBehavior;
  /** How it rejects a message. */
  readonly rejected: PushBehavior;
  /** Whether the app receives the data. */
  readonly carriesData: boolean;
}

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const outbound = new Outbound({ allow: CidrList.parse(["127.0.0.1"]), ca: tlsCertificate });
const rsaKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const rsaPem = rsaKey.export({ type: "pkcs8", format: "pem" });
const ecKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const ecPem = ecKey.export({ type: "pkcs8", format: "pem" });

async function webPush(isTls: boolean): Promise<Setup> {
  const keys = vapidKeysOf(randomBytes(32).fill(1, 0, 1));
  const channel = new WebPushChannel({ outbound, clock: systemClock, keys, subject: "mailto:larder@example.org" });
  const service = await new WebPushService(keys.publicKey, isTls).start();
  const targetAt = (endpoint?: string) => ({ token: service.subscription(endpoint), platform: "web" });
  return {
    service,
    channel,
    target: targetAt(),
    unreachable: async () => ({ channel, target: targetAt(`http://127.0.0.1:${await findUnusedPort()}/send/x`) }),
    secrets: ["secret-of-one-browser", keys.privateKey],
    gone: { status: 410, body: "push subscription has unsubscribed or expired.\n" },
    rejected: { status: 413, body: "payload too large" },
    carriesData: true,
  };
}

async function url(platform: string): Promise<Setup> {
  const channel = new UrlChannel({ outbound, clock: systemClock });
  const service = await new UrlPushService().start();
  return {
    service,
    channel,
    target: { token: `${service.url}/secret-topic`, platform },
    unreachable: async () => ({ channel, target: { token: `http://127.0.0.1:${await findUnusedPort()}/x`, platform } }),
    secrets: ["secret-topic"],
    gone: { status: 404, body: "{}" },
    rejected: { status: 413, body: "{}" },
    carriesData: platform === "unifiedpush",
  };
}

async function fcm(): Promise<Setup> {
  const service = await new FcmService(publicPem(rsaPem)).start();
  const directory = mkdtempSync(join(tmpdir(), "larder-fcm-"));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const serviceAccountFile = join(directory, "account.json");
  writeFileSync(
    serviceAccountFile,
    JSON.stringify({
      type: "service_account",
      project_id: service.projectId,
      private_key_id: "key-1",
      private_key: rsaPem,
      client_email: "larder@larder-test.example",
      token_uri: service.tokenUri,
    }),
  );
  const open = async (endpoint: string) => {
    const channel = await openFcm({ settings: { serviceAccountFile, endpoint }, clock: systemClock });
    if (channel === undefined) throw new Error("not configured");
    return channel;
  };
  const target = { token: "secret:APA91b-of-a-phone", platform: "android" };
  const detail = { "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", errorCode: "UNREGISTERED" };
  return {
    service,
    channel: await open(service.url),
    target,
    unreachable: async () => ({ channel: await open(`http://127.0.0.1:${await findUnusedPort()}`), target }),
    secrets: [target.token, "PRIVATE KEY", "ya29."],
    gone: googleError(404, "NOT_FOUND", detail),
    rejected: googleError(400, "INVALID_ARGUMENT"),
    carriesData: true,
  };
}

async function apns(): Promise<Setup> {
  const service = await new ApnsService(publicPem(ecPem), "KEYKEYKEY1", "TEAMTEAM01", "org.example.larder").start();
  const directory = mkdtempSync(join(tmpdir(), "larder-apns-"));
  const keyFile = join(directory, "AuthKey.p8");
  writeFileSync(keyFile, ecPem);
  const open = async (endpoint: string) => {
    const channel = await openApns({
      settings: {
        keyFile,
        keyId: service.keyId,
        teamId: service.teamId,
        topic: service.topic,
        environment: "production",
        endpoint,
      },
      clock: systemClock,
      ca: tlsCertificate,
    });
    if (channel === undefined) throw new Error("not configured");
    cleanups.push(() => channel.close());
    return channel;
  };
  const target = { token: "5ec7e7".repeat(10) + "beef", platform: "ios" };
  const channel = await open(service.url);
  cleanups.push(() => rmSync(directory, { recursive: true }));
  return {
    service,
    channel,
    target,
    unreachable: async () => ({ channel: await open(`https://127.0.0.1:${await findUnusedPort()}`), target }),
    secrets: [target.token, "PRIVATE KEY"],
    gone: { status: 410, body: JSON.stringify({ reason: "Unregistered", timestamp: 1_700_000_000_000 }) },
    rejected: { status: 400, body: JSON.stringify({ reason: "BadTopic" }) },
    carriesData: true,
  };
}

const MESSAGE: PushMessage = {
  id: "ntf_01j9z3k8xq4w7v2m5n6p",
  category: "security",
  title: "Neues Gerät — 新しい端末",
  body: "“Ana’s phone” signed in. If it wasn't you, change your password. 🔐",
  data: { deviceId: "phone-1", url: "/devices" },
  collapseKey: "security:new device/phone-1",
};

const SETUPS: readonly [string, () => Promise<Setup>][] = [
  ["web push", () => webPush(false)],
  ["web push over TLS", () => webPush(true)],
  ["ntfy", () => url("android")],
  ["UnifiedPush", () => url("unifiedpush")],
  ["FCM", fcm],
  ["APNs", apns],
];

describe.each(SETUPS)("%s", (_, open) => {
  async function set(...behaviors: PushBehavior[]): Promise<Setup> {
    const setup = await open();
    cleanups.push(() => setup.service.stop());
    setup.service.behaviors = behaviors;
    return setup;
  }

  /** Delivers once, and checks what applies to every result. */
  async function deliver(
    setup: Pick<Setup, "channel" | "target" | "secrets">,
    message = MESSAGE,
    signal = longTimeout(),
  ) {
    const outcome = await setup.channel.deliver(setup.target, message, signal);
    if (outcome.state !== "delivered") {
      expect(outcome.why).toMatch(/^[^\n]{5,200}$/);
      for (const secret of [...setup.secrets, message.title, message.body]) expect(outcome.why).not.toContain(secret);
    }
    return outcome;
  }

  test("delivers a message unchanged, signed and encrypted as the service requires", async () => {
    const setup = await set();
    expect(await deliver(setup)).toEqual({ state: "delivered" });
    expect(setup.service.faults).toEqual([]);
    expect(setup.service.received).toHaveLength(1);
    const [received] = setup.service.received;
    expect([received?.title, received?.body]).toEqual([MESSAGE.title, MESSAGE.body]);
    if (setup.carriesData) {
      expect(received?.data).toMatchObject({ id: MESSAGE.id, category: MESSAGE.category });
      expect(JSON.stringify(received?.data)).toContain('"deviceId":"phone-1"');
    }
  });

  test("delivers many messages concurrently, each once", async () => {
    const setup = await set();
    const messages = Array.from({ length: 20 }, (_entry, index) => ({ ...MESSAGE, title: `Message ${index}` }));
    const outcomes = await Promise.all(messages.map((message) => deliver(setup, message)));
    expect(outcomes.every(({ state }) => state === "delivered")).toBe(true);
    expect(setup.service.faults).toEqual([]);
    expect(setup.service.received.map(({ title }) => title).toSorted()).toEqual(
      messages.map(({ title }) => title).toSorted(),
    );
  });

  test("shortens text that is too long, and omits data that is too long", async () => {
    const setup = await set();
    const long = { ...MESSAGE, title: "t".repeat(3000), body: 'ö🔐"\n'.repeat(3000) };
    expect(await deliver(setup, long)).toEqual({ state: "delivered" });
    expect(await deliver(setup, { ...MESSAGE, data: { big: "x".repeat(5000) } })).toEqual({ state: "delivered" });
    expect(setup.service.faults).toEqual([]);
    const [first, second] = setup.service.received;
    expect(first?.body.endsWith("…")).toBe(true);
    expect(first?.body.isWellFormed()).toBe(true);
    expect(long.body.startsWith(first?.body.slice(0, -1) ?? "?")).toBe(true);
    expect(second?.body).toBe(MESSAGE.body);
  });

  test("accepts empty text and text that looks like headers", async () => {
    const setup = await set();
    expect(await deliver(setup, { ...MESSAGE, body: "", title: "=?UTF-8?B?eA==?= \r\nX-Injected: yes" })).toEqual({
      state: "delivered",
    });
    expect(setup.service.faults).toEqual([]);
    expect(setup.service.received[0]?.headers).not.toHaveProperty("x-injected");
    expect(setup.service.received[0]?.title).toBe("=?UTF-8?B?eA==?= \r\nX-Injected: yes");
  });

  test("returns gone when the token is no longer valid", async () => {
    const setup = await set();
    setup.service.behaviors = [setup.gone];
    expect(await deliver(setup)).toMatchObject({ state: "gone" });
  });

  test("returns rejected when the service rejects the message", async () => {
    const setup = await set();
    setup.service.behaviors = [setup.rejected];
    expect(await deliver(setup)).toMatchObject({ state: "rejected" });
  });

  test("retries after the time that the service requests when it is rate-limited", async () => {
    const setup = await set({ status: 429, headers: { "retry-after": "7" }, body: "{}" });
    expect(await deliver(setup)).toMatchObject({ state: "retry", afterMs: 7000 });
    setup.service.behaviors = [{ status: 503, headers: { "retry-after": "soon" } }];
    expect(await deliver(setup)).not.toHaveProperty("afterMs");
  });

  test.each([[500], [502], [503]])("retries when the service responds with %d and any text", async (status) => {
    const setup = await set({ status, body: "<html>\u0000 broken {" });
    expect(await deliver(setup)).toMatchObject({ state: "retry" });
  });

  test.each([["garbage"], ["cut"]] as const)("retries after %s, and then succeeds", async (behavior) => {
    const setup = await set(behavior);
    expect(await deliver(setup)).toMatchObject({ state: "retry" });
    setup.service.behaviors = [];
    expect(await deliver(setup)).toEqual({ state: "delivered" });
  });

  test("retries when nothing listens", async () => {
    const setup = await set();
    expect(await deliver({ ...setup, ...(await setup.unreachable()) })).toMatchObject({ state: "retry" });
  });

  test("aborts a slow request at the signal, and delivers the next message", async () => {
    const setup = await set("silence");
    const giveUp = new AbortController();
    setup.service.onRequest = () => {
      if (setup.service.received.length > 0) giveUp.abort();
    };
    expect(await deliver(setup, MESSAGE, giveUp.signal)).toMatchObject({ state: "retry" });
    expect(await deliver(setup, MESSAGE, AbortSignal.abort())).toMatchObject({ state: "retry" });
    setup.service.behaviors = [];
    expect(await deliver(setup)).toEqual({ state: "delivered" });
  });

  test("does not read an endless response", async () => {
    const setup = await set({ status: 200, body: () => "x".repeat(16_384) });
    expect(await deliver(setup)).toEqual({ state: "delivered" });
    setup.service.behaviors = [{ status: 500, body: () => "x".repeat(16_384) }];
    expect(await deliver(setup)).toMatchObject({ state: "retry" });
  });

  test("follows no redirect", async () => {
    const reached: string[] = [];
    const elsewhere = createServer((request, response) => {
      reached.push(String(request.url));
      response.end();
    }).listen(0, "127.0.0.1");
    cleanups.push(() => void elsewhere.close());
    await once(elsewhere, "listening");
    const address = elsewhere.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const setup = await set({ status: 307, headers: { location: `http://127.0.0.1:${port}/caught` } });
    expect(await deliver(setup)).toMatchObject({ state: "rejected" });
    expect(reached).toEqual([]);
  });
});

/** A timeout that is longer than any of these tests needs. */
function longTimeout(): AbortSignal {
  return AbortSignal.timeout(20_000);
}
