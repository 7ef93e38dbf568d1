import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import type { PushMessage } from "../../../../../src/features/messaging/notifications/channels/channel.ts";
import { vapidKeysOf, WebPushChannel } from "../../../../../src/features/messaging/notifications/channels/web-push.ts";
import { CidrList } from "../../../../../src/lib/cidr.ts";
import { systemClock } from "../../../../../src/lib/clock.ts";
import { Outbound } from "../../../../../src/net/outbound.ts";
import { WebPushService } from "../../../../support/push-services.ts";

const keys = vapidKeysOf(randomBytes(32).fill(1, 0, 1));
const outbound = new Outbound({ allow: CidrList.parse(["127.0.0.1"]) });
const channel = new WebPushChannel({ outbound, clock: systemClock, keys, subject: "https://files.example.org" });
const MESSAGE: PushMessage = { id: "ntf_1", category: "shares", title: "Shared", body: "A file", data: {} };

let service: WebPushService;
beforeEach(async () => {
  service = await new WebPushService(keys.publicKey).start();
});
afterEach(() => service.stop());

async function headersOf(message: PushMessage): Promise<Record<string, string>> {
  const target = { token: service.subscription(), platform: "web" };
  expect(await channel.deliver(target, message, AbortSignal.timeout(20_000))).toEqual({ state: "delivered" });
  return service.received.at(-1)?.headers ?? {};
}

test("only security messages wake a device", async () => {
  expect((await headersOf(MESSAGE))["urgency"]).toBe("normal");
  expect((await headersOf({ ...MESSAGE, category: "security" }))["urgency"]).toBe("high");
});

test("a collapse key becomes a topic: unchanged, or as its digest, the same each time", async () => {
  expect(await headersOf(MESSAGE)).not.toHaveProperty("topic");
  expect((await headersOf({ ...MESSAGE, collapseKey: "uploads_1" }))["topic"]).toBe("uploads_1");
  const long = { ...MESSAGE, collapseKey: "storage: 95 % of everything that there is" };
  const topic = (await headersOf(long))["topic"] ?? "";
  expect(topic).toMatch(/^[\w-]{32}$/);
  expect((await headersOf(long))["topic"]).toBe(topic);
});

test("the push service learns the contact address", async () => {
  const { authorization = "" } = await headersOf(MESSAGE);
  const claims = decodeJwt(authorization.replace(/^vapid t=/, "").replace(/,.*$/, ""));
  expect([claims.aud, claims.sub]).toEqual([service.url, "https://files.example.org"]);
});

test("each attempt encrypts the message differently, so that duplicates are not recognizable", async () => {
  const bodies = new Set<string>();
  const spying = new WebPushChannel({
    outbound: Object.assign(new Outbound({ allow: CidrList.parse([]) }), {
      send: async (_address: string, { body }: { body?: Uint8Array }) => {
        bodies.add(Buffer.from(body ?? []).toString("hex"));
        return { status: 201, header: () => undefined, body: Buffer.alloc(0) };
      },
    }),
    clock: systemClock,
    keys,
    subject: "mailto:a@example.org",
  });
  const target = { token: service.subscription(), platform: "web" };
  for (let i = 0; i < 3; i++) await spying.deliver(target, MESSAGE, new AbortController().signal);
  expect(bodies.size).toBe(3);
});

test.each([
  [401, "rejected"],
  [403, "rejected"],
  [404, "gone"],
  [408, "retry"],
  [410, "gone"],
  [413, "rejected"],
  [429, "retry"],
  [507, "retry"],
])("status %d means: %s", async (status, state) => {
  service.behaviors = [{ status }];
  const target = { token: service.subscription(), platform: "web" };
  expect(await channel.deliver(target, MESSAGE, AbortSignal.timeout(20_000))).toMatchObject({ state });
});

test("a forbidden address is rejected at delivery too, and an invalid subscription is gone", async () => {
  const strict = new WebPushChannel({
    outbound: new Outbound({ allow: CidrList.parse([]), resolve: async () => ["10.0.0.1"] }),
    clock: systemClock,
    keys,
    subject: "mailto:a@example.org",
  });
  const signal = new AbortController().signal;
  const inside = { token: service.subscription("https://rebound.example.org/x"), platform: "web" };
  expect((await strict.deliver(inside, MESSAGE, signal)).state).toBe("rejected");
  expect((await strict.deliver({ token: '{"endpoint":1}', platform: "web" }, MESSAGE, signal)).state).toBe("gone");
  expect(service.received).toEqual([]);
});

test("a secret that is not a private key is reported, but not shown", () => {
  expect(() => vapidKeysOf(new Uint8Array(32))).toThrow("secrets/vapid.json is damaged");
  expect(() => vapidKeysOf(new Uint8Array(32).fill(255))).toThrow("secrets/vapid.json is damaged");
});
