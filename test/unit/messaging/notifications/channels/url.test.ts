import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PushMessage } from "../../../../../src/features/messaging/notifications/channels/channel.ts";
import { UrlChannel } from "../../../../../src/features/messaging/notifications/channels/url.ts";
import { CidrList } from "../../../../../src/lib/cidr.ts";
import { systemClock } from "../../../../../src/lib/clock.ts";
import { Outbound } from "../../../../../src/net/outbound.ts";
import { UrlPushService } from "../../../../support/push-services.ts";

const channel = new UrlChannel({
  outbound: new Outbound({ allow: CidrList.parse(["127.0.0.1"]) }),
  clock: systemClock,
});
const MESSAGE: PushMessage = {
  id: "ntf_1",
  category: "storage",
  title: "Almost full",
  body: "95 % of 5 GB are used.",
  data: { percent: "95" },
  collapseKey: "storage",
};

let service: UrlPushService;
beforeEach(async () => {
  service = await new UrlPushService().start();
});
afterEach(() => service.stop());

async function received(path: string, platform: string, message = MESSAGE) {
  const target = { token: service.url + path, platform };
  expect(await channel.deliver(target, message, AbortSignal.timeout(20_000))).toEqual({ state: "delivered" });
  const push = service.received.at(-1);
  if (push === undefined) throw new Error("nothing arrived");
  return push;
}

test("ntfy gets readable text", async () => {
  const { body, headers } = await received("/topic", "android");
  expect(body).toBe("95 % of 5 GB are used.");
  expect(headers).toMatchObject({ title: "Almost full", priority: "default", tags: "storage" });
  expect((await received("/topic", "ios", { ...MESSAGE, category: "security" })).headers["priority"]).toBe("high");
});

test("a title with non-ASCII characters is sent as encoded words of at most 75 characters (RFC 2047 §2)", async () => {
  const title = "Прекрасный снимок — 素晴らしい写真 🔐 ".repeat(4).trim();
  const push = await received("/topic", "android", { ...MESSAGE, title });
  expect(push.title).toBe(title);
  const words = (push.headers["title"] ?? "").split(" ");
  expect(words.every((word) => word.length <= 75 && /^=\?UTF-8\?B\?[A-Za-z0-9+/=]+\?=$/.test(word))).toBe(true);
});

test("a message without a body has its title as the body", async () => {
  expect((await received("/topic", "android", { ...MESSAGE, body: "" })).body).toBe("Almost full");
});

test.each([
  ["/endpoint", "unifiedpush"],
  ["/endpoint", "UnifiedPush"],
  ["/upABC?up=1", "android"],
])("UnifiedPush (%s, %s) gets the message as JSON for its app", async (path, platform) => {
  const { title, body, data, headers } = await received(path, platform);
  expect<Record<string, unknown>>({ title, body, ...data }).toEqual({
    id: "ntf_1",
    category: "storage",
    title: "Almost full",
    body: "95 % of 5 GB are used.",
    data: { percent: "95" },
  });
  expect(headers).toMatchObject({ ttl: "604800", urgency: "normal", topic: "storage" });
  expect(headers).not.toHaveProperty("title");
});
