import { describe, expect, test } from "bun:test";
import { createECDH, randomBytes } from "node:crypto";
import type { Account, ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice, tryRefresh } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

/** An ntfy server on this machine that accepts all requests. */
const received: { path: string; body: string }[] = [];
const ntfy = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    received.push({ path: new URL(request.url).pathname, body: await request.text() });
    return Response.json({ id: "x" });
  },
});
const server = sharedServer({ hasAccounts: true, env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } });
const defaults = {
  uploads: true,
  shares: true,
  storage: true,
  security: true,
  quietHours: { enabled: false, start: "22:00", end: "07:00", timezone: "UTC" },
};

interface Household {
  account: Account;
  phone: TestDevice;
  tablet: TestDevice;
}

async function household(): Promise<Household> {
  const account = await server().signUp();
  return {
    account,
    phone: await registerDevice(server(), account, "phone"),
    tablet: await registerDevice(server(), account, "tablet"),
  };
}

/** A URL that the server may push to. */
function topic(name: string): string {
  return `http://127.0.0.1:${ntfy.port}/${name}-${crypto.randomUUID()}`;
}

/** A browser's subscription at that server. */
function subscription(name: string): string {
  const keys = createECDH("prime256v1");
  const p256dh = keys.generateKeys().toString("base64url");
  return JSON.stringify({ endpoint: topic(name), keys: { p256dh, auth: randomBytes(16).toString("base64url") } });
}

async function register(device: TestDevice, body: Record<string, unknown>): Promise<ApiResponse> {
  return device.client.post("/api/mobile/notifications/register", { deviceId: device.deviceId, ...body });
}

/** Titles in the inbox of a device, newest first. */
async function titles({ client }: { client: Client }): Promise<string[]> {
  const response = await client.get("/api/mobile/notifications?limit=100");
  expectStatus(response, 200);
  return response.strings("data.notifications", "title");
}

describe("POST /api/mobile/notifications/register", () => {
  test("returns the registration, and merges the next one into it", async () => {
    const { phone } = await household();
    const first = await register(phone, {
      pushToken: "fcm-token",
      platform: "android",
      preferences: { shares: false },
    });
    expectStatus(first, 200);
    expect(first.at("data")).toEqual({
      deviceId: "phone",
      platform: "android",
      provider: null,
      preferences: { ...defaults, shares: false },
    });
    const second = await register(phone, {
      preferences: { quietHours: { enabled: true, timezone: "Asia/Kathmandu" } },
    });
    expect(second.at("data.preferences")).toEqual({
      ...defaults,
      shares: false,
      quietHours: { ...defaults.quietHours, enabled: true, timezone: "Asia/Kathmandu" },
    });
  });

  test("accepts other devices of the account, but none of other accounts", async () => {
    const [mine, other] = [await household(), await household()];
    const path = "/api/mobile/notifications/register";
    expectStatus(await mine.phone.client.post(path, { deviceId: "tablet", preferences: { uploads: false } }), 200);
    const stranger = await registerDevice(server(), other.account, "strangers-phone");
    expectError(await mine.phone.client.post(path, { deviceId: stranger.deviceId, pushToken: "x" }), 404, "not_found");
    expectError(await mine.phone.client.post(path, { deviceId: "unknown", pushToken: "x" }), 404, "not_found");
  });

  test("rejects invalid values, and names the field", async () => {
    const { phone, account } = await household();
    const cases: [Record<string, unknown>, string][] = [
      [{ pushToken: 7 }, "pushToken"],
      [{ pushToken: "" }, "pushToken"],
      [{ platform: {} }, "platform"],
      [{ deviceId: 7 }, "deviceId"],
      [{ preferences: { uploads: "yes" } }, "preferences.uploads"],
      [{ preferences: { quietHours: { start: "7:00" } } }, "preferences.quietHours.start"],
      [{ preferences: { quietHours: { end: "24:00" } } }, "preferences.quietHours.end"],
      [{ preferences: { quietHours: { timezone: "Mars/Olympus" } } }, "preferences.quietHours.timezone"],
    ];
    for (const [body, field] of cases) expectError(await register(phone, body), 400, "invalid_field", field);
    const absurd = await register(phone, { preferences: { quietHours: { timezone: "x".repeat(100_000) } } });
    expectError(absurd, 400, "invalid_field", "preferences.quietHours.timezone");
    expect(absurd.text.length).toBeLessThan(1_000);
    expectError(await phone.client.post("/api/mobile/notifications/register", {}), 400, "invalid_field", "deviceId");
    expectError(await register(phone, { pushToken: "https://10.0.0.1/topic" }), 400, "forbidden_target");
    expectError(await account.client.post("/api/mobile/notifications/register", { deviceId: "phone" }), 401);
    expectError(await server().visitor.post("/api/mobile/notifications/register", { deviceId: "phone" }), 401);
  });

  test("lets two accounts register the same plain URL: each gets its own messages there", async () => {
    const [first, second] = [await household(), await household()];
    const pushToken = topic("shared");
    const provider = async (device: TestDevice) => (await register(device, {})).at("data.provider");
    await register(first.phone, { pushToken });
    expect((await register(second.phone, { pushToken })).at("data.provider")).toBe("url");
    expect(await provider(first.phone)).toBe("url");
    const isPushed = (text: string) => received.some(({ path, body }) => pushToken.endsWith(path) && body === text);
    for (const [{ phone }, text] of [
      [first, "to the first"],
      [second, "to the second"],
    ] as const) {
      const response = await phone.client.post("/api/mobile/push", { title: "x", body: text, deviceId: "phone" });
      expect(response.strings("data.deliveries", "status")).toEqual(["queued"]);
      await eventually(text, () => isPushed(text));
    }
    // Within an account, the URL belongs to one device, so that no message arrives twice.
    await register(first.tablet, { pushToken });
    expect([await provider(first.phone), await provider(first.tablet)]).toEqual([null, "url"]);
    expect(await provider(second.phone)).toBe("url");
  });

  test("assigns a browser's subscription to the last account, without messages of the former one", async () => {
    const [before, after] = [await household(), await household()];
    const pushToken = subscription("handed-on");
    const now = Date.now();
    const [start, end] = [-60, -120].map((minutes) => new Date(now + minutes * 60_000).toISOString().slice(11, 16));
    await register(before.phone, { pushToken, preferences: { quietHours: { enabled: true, start, end } } });
    const deferred = await before.phone.client.post("/api/mobile/push", { title: "Old", body: "x", deviceId: "phone" });
    expect(deferred.strings("data.deliveries", "status")).toEqual(["held"]);
    expect((await register(after.phone, { pushToken })).at("data.provider")).toBe("web-push");
    expect(
      (await register(before.phone, { preferences: { quietHours: { enabled: false } } })).at("data.provider"),
    ).toBe(null);
    await after.phone.client.post("/api/mobile/push", { title: "New", body: "x", deviceId: "phone" });
    const requests = () => received.filter(({ path }) => path.includes("handed-on"));
    await eventually("the push of the new account", () => requests().length > 0);
    expect(requests()).toHaveLength(1);
    expect(await titles(before.phone)).toContain("Old");
  });

  test("is not needed for a token that the device registered with", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account, "phone", { pushToken: topic("along") });
    expect((await register(phone, {})).at("data.provider")).toBe("url");
  });
});

test("GET /api/mobile/notifications/config returns what an app needs to register", async () => {
  const { phone } = await household();
  const response = await phone.client.get("/api/mobile/notifications/config");
  expectStatus(response, 200);
  // An uncompressed point on P-256.
  expect(Buffer.from(response.string("data.vapidPublicKey"), "base64url")).toHaveLength(65);
  expect(response.list("data.providers")).toEqual(["web-push", "url"]);
});

describe("POST /api/mobile/push", () => {
  test("adds the message to every device's inbox at once, and returns the status per device", async () => {
    const { phone, tablet } = await household();
    await register(tablet, { preferences: { shares: false } });
    const push = { title: "Dinner", body: "is ready", category: "shares", data: { room: "kitchen" } };
    const response = await phone.client.post("/api/mobile/push", push);
    expectStatus(response, 200);
    expect(response.list("data.deliveries")).toEqual([
      { deviceId: "phone", status: "inbox_only", provider: null },
      { deviceId: "tablet", status: "muted", provider: null },
    ]);
    for (const { client } of [phone, tablet]) {
      const inbox = await client.get("/api/mobile/notifications");
      const createdAt = inbox.string("data.notifications.0.createdAt");
      expect(createdAt).toMatch(timestampPattern);
      expect(inbox.at("data.notifications.0")).toEqual({
        id: response.string("data.notificationId"),
        ...push,
        createdAt,
        readAt: null,
      });
    }
  });

  test("delivers to reachable devices, or defers until their quiet hours end", async () => {
    const { phone, tablet } = await household();
    const [phoneTopic, tabletTopic] = [topic("phone"), topic("tablet")];
    await register(phone, { pushToken: phoneTopic });
    // The quiet hours include the next 22 hours.
    const now = Date.now();
    const [start, end] = [-60, -120].map((minutes) => new Date(now + minutes * 60_000).toISOString().slice(11, 16));
    await register(tablet, { pushToken: tabletTopic, preferences: { quietHours: { enabled: true, start, end } } });
    const response = await phone.client.post("/api/mobile/push", { title: "Hello", body: "from afar" });
    const deliverAt = response.string("data.deliveries.1.deliverAt");
    expect(response.list("data.deliveries")).toEqual([
      { deviceId: "phone", status: "queued", provider: "url" },
      { deviceId: "tablet", status: "held", provider: "url", deliverAt },
    ]);
    expect(deliverAt.slice(11, 16)).toBe(String(end));
    await eventually("the push to the phone", () => received.some(({ path }) => phoneTopic.endsWith(path)));
    expect(received.find(({ path }) => phoneTopic.endsWith(path))?.body).toContain("from afar");
    // Without quiet hours, the tablet gets the message at once.
    await register(tablet, { preferences: { quietHours: { enabled: false } } });
    await eventually("the push to the tablet", () => received.some(({ path }) => tabletTopic.endsWith(path)));
    expect(received.filter(({ path }) => phoneTopic.endsWith(path))).toHaveLength(1);
  });

  test("delivers a deferred message when the user's settings change, to devices that use them", async () => {
    const { account, phone, tablet } = await household();
    const [phoneTopic, tabletTopic] = [topic("follows"), topic("decides")];
    const now = Date.now();
    const [start, end] = [-60, -120].map((minutes) => new Date(now + minutes * 60_000).toISOString().slice(11, 16));
    const quietHours = { enabled: true, start, end, timezone: "UTC" };
    await register(phone, { pushToken: phoneTopic });
    await register(tablet, { pushToken: tabletTopic, preferences: { quietHours } });
    expectStatus(await account.client.put("/api/users/settings", { notifications: { quietHours } }), 200);
    const response = await phone.client.post("/api/mobile/push", { title: "Hello", body: "from afar" });
    expect(response.strings("data.deliveries", "status")).toEqual(["held", "held"]);
    const change = { notifications: { quietHours: { enabled: false } } };
    expectStatus(await account.client.put("/api/users/settings", change), 200);
    await eventually("the push to the phone", () => received.some(({ path }) => phoneTopic.endsWith(path)));
    expect(received.some(({ path }) => tabletTopic.endsWith(path))).toBe(false);
  });

  test("sends a waiting message after a restart", async () => {
    const { phone } = await household();
    const pushToken = topic("restart");
    const now = Date.now();
    const [start, end] = [-60, -120].map((minutes) => new Date(now + minutes * 60_000).toISOString().slice(11, 16));
    await register(phone, { pushToken, preferences: { quietHours: { enabled: true, start, end } } });
    await phone.client.post("/api/mobile/push", { title: "Hello", body: "again" });
    await server().kill9();
    await server().start();
    await register(phone, { preferences: { quietHours: { enabled: false } } });
    await eventually("the push to the phone", () => received.some(({ path }) => pushToken.endsWith(path)));
  });

  test("sends to one device if it is named", async () => {
    const { phone, tablet } = await household();
    const body = { title: "Only you", body: "x", deviceId: "tablet" };
    const response = await phone.client.post("/api/mobile/push", body);
    expect(response.strings("data.deliveries", "deviceId")).toEqual(["tablet"]);
    expect(await titles(tablet)).toContain("Only you");
    expect(await titles(phone)).not.toContain("Only you");
    expectError(await phone.client.post("/api/mobile/push", { ...body, deviceId: "unknown" }), 404, "not_found");
  });

  test("sends nothing to a removed device, which has default preferences when it registers again", async () => {
    const { account, phone, tablet } = await household();
    await register(tablet, { pushToken: topic("removed"), preferences: { uploads: false } });
    expectStatus(await phone.client.delete("/api/mobile/devices/tablet"), 200);
    const push = { title: "After", body: "x" };
    expect((await phone.client.post("/api/mobile/push", push)).strings("data.deliveries", "deviceId")).toEqual([
      "phone",
    ]);
    expectError(await phone.client.post("/api/mobile/push", { ...push, deviceId: "tablet" }), 404, "not_found");
    const again = await registerDevice(server(), account, "tablet");
    expect((await register(again, {})).at("data")).toMatchObject({ provider: null, preferences: defaults });
  });

  test("sends only to the caller's own devices", async () => {
    const [mine, others] = [await household(), await household()];
    await mine.phone.client.post("/api/mobile/push", { title: "Private", body: "x" });
    expect(await titles(others.phone)).not.toContain("Private");
  });

  test("rejects invalid messages, and names the field", async () => {
    const { phone, account } = await household();
    const push = { title: "a", body: "b" };
    const cases: [Record<string, unknown>, string][] = [
      [{ body: "b" }, "title"],
      [{ title: "a" }, "body"],
      [{ ...push, title: " " }, "title"],
      [{ ...push, title: "x".repeat(201) }, "title"],
      [{ ...push, body: "é".repeat(1_600) }, "body"],
      [{ ...push, category: "jokes" }, "category"],
      [{ ...push, data: { a: 1 } }, "data.a"],
      [{ ...push, data: { "a\nb": 1 } }, "data.a\nb"],
      [{ ...push, data: ["a"] }, "data"],
      [{ ...push, deviceId: 7 }, "deviceId"],
    ];
    for (const [body, field] of cases) {
      expectError(await phone.client.post("/api/mobile/push", body), 400, "invalid_field", field);
    }
    expectError(await account.client.post("/api/mobile/push", push), 401);
  });

  test("rejects viewers, who can read the inbox", async () => {
    const viewer = await server().addUser(["--role", "viewer"]);
    const phone = await registerDevice(server(), viewer);
    expectStatus(await phone.client.get("/api/mobile/notifications"), 200);
    expectError(await phone.client.post("/api/mobile/push", { title: "a", body: "b" }), 403, "role");
  });
});

describe("the inbox", () => {
  test("is paged, newest first, and counts unread messages", async () => {
    const { phone } = await household();
    await phone.client.post("/api/mobile/notifications/read", { all: true });
    for (const title of ["one", "two", "three"]) await phone.client.post("/api/mobile/push", { title, body: "x" });
    const first = await phone.client.get("/api/mobile/notifications?limit=2");
    expect(first.strings("data.notifications", "title")).toEqual(["three", "two"]);
    expect(first.number("data.unread")).toBe(3);
    expect(first.at("data.pagination")).toMatchObject({ page: 1, limit: 2, hasNext: true, hasPrev: false });
    const second = await phone.client.get("/api/mobile/notifications?limit=2&page=2");
    expect(second.string("data.notifications.0.title")).toBe("one");
    for (const query of ["limit=101", "limit=0", "page=0", "page=x"]) {
      expectError(await phone.client.get(`/api/mobile/notifications?${query}`), 400, "invalid_field");
    }
  });

  test("marks a message that is read on one device as read on all", async () => {
    const { phone, tablet } = await household();
    await phone.client.post("/api/mobile/notifications/read", { all: true });
    const ids: string[] = [];
    for (const title of ["one", "two"]) {
      const response = await phone.client.post("/api/mobile/push", { title, body: "x" });
      ids.push(response.string("data.notificationId"));
    }
    const read = async (body: object) => phone.client.post("/api/mobile/notifications/read", body);
    expect((await read({ ids: [ids[0], "ntf_unknown"] })).at("data")).toEqual({ read: 1, unread: 1 });
    expect((await read({ ids: [ids[0]] })).at("data")).toEqual({ read: 0, unread: 1 });
    const seen = await tablet.client.get("/api/mobile/notifications");
    expect(seen.at("data.notifications.0.readAt")).toBeNull();
    expect(seen.string("data.notifications.1.readAt")).toMatch(timestampPattern);
    expect((await read({ all: true })).at("data")).toEqual({ read: 1, unread: 0 });
    expectError(await read({}), 400, "invalid_field", "ids");
    expectError(await read({ ids: "all" }), 400, "invalid_field", "ids");
  });

  test("does not mark messages of other accounts as read", async () => {
    const [mine, others] = [await household(), await household()];
    const response = await mine.phone.client.post("/api/mobile/push", { title: "Private", body: "x" });
    const ids = [response.string("data.notificationId")];
    const theirs = await others.phone.client.post("/api/mobile/notifications/read", { ids });
    expect(theirs.at("data.read")).toBe(0);
  });

  test("reports a new device", async () => {
    const { account, phone } = await household();
    await registerDevice(server(), account, "burglar", { model: "Unknown phone" });
    const response = await phone.client.get("/api/mobile/notifications");
    expect(response.at("data.notifications.0")).toMatchObject({
      category: "security",
      title: "New device",
      data: { deviceId: "burglar", deviceName: "Unknown phone" },
    });
  });

  test("reports a new password", async () => {
    const { account, phone } = await household();
    const change = { currentPassword: account.password, newPassword: "another long password" };
    expectStatus(await phone.client.put("/api/users/profile", change), 200);
    expect((await titles(phone))[0]).toBe("Password changed");
  });

  test("reports only the first download of a link", async () => {
    const { account, phone } = await household();
    const record = await account.client.stored("shared", { name: "report.pdf", fields: { isPublic: "true" } });
    const info = await account.client.get(`/api/files/${record.string("data.id")}`);
    const link = new URL(info.string("data.shareLink")).pathname;
    for (let i = 0; i < 2; i++) expectStatus(await server().visitor.get(`${link}/download`), 200);
    await eventually("the message", async () => (await titles(phone)).includes("Public link used"));
    expect((await titles(phone)).filter((title) => title === "Public link used")).toHaveLength(1);
  });

  test("reports uploads only to the other devices", async () => {
    const { phone, tablet } = await household();
    const form = new FormData();
    form.append("file", new File(["picture"], "IMG_1.jpg"));
    expectStatus(await phone.client.request("POST", "/api/mobile/upload", { body: form }), 201);
    const response = await tablet.client.get("/api/mobile/notifications");
    expect(response.at("data.notifications.0")).toMatchObject({
      category: "uploads",
      data: { fileName: "IMG_1.jpg", folder: "/", deviceId: "phone" },
    });
    expect(await titles(phone)).not.toContain("File uploaded");
  });

  test("reports many uploads in one message", async () => {
    const { phone, tablet } = await household();
    for (const name of ["1.jpg", "2.jpg", "3.jpg"]) {
      const form = new FormData();
      form.append("file", new File([name], name));
      expectStatus(await phone.client.request("POST", "/api/mobile/upload", { body: form }), 201);
    }
    const response = await tablet.client.get("/api/mobile/notifications");
    expect(
      response.strings("data.notifications", "category").filter((category) => category === "uploads"),
    ).toHaveLength(1);
    expect(response.at("data.notifications.0")).toMatchObject({
      title: "Files uploaded",
      body: "3 files were uploaded from Pixel 9. The most recent is 3.jpg.",
      data: { fileName: "3.jpg", files: "3" },
    });
  });

  test("reports a failed upload", async () => {
    const { phone, tablet } = await household();
    const files = [{ localId: "1", name: "IMG_2.jpg", size: 10, mimeType: "image/jpeg", folder: "/" }];
    const begun = await phone.client.post("/api/mobile/upload/init", { files });
    expectStatus(begun, 200);
    const uploadId = begun.string("data.files.0.uploadId");
    const report = { uploadId, completedChunks: [], bytesUploaded: 0, status: "failed" };
    expectStatus(await phone.client.post("/api/mobile/upload/progress", report), 200);
    const response = await tablet.client.get("/api/mobile/notifications");
    expect(response.at("data.notifications.0")).toMatchObject({
      category: "uploads",
      title: "Upload failed",
      data: { fileName: "IMG_2.jpg", uploadId, deviceId: "phone" },
    });
  });

  test("reports that a refresh token was used twice", async () => {
    const { phone, tablet } = await household();
    const stolen = phone.tokens.refreshToken;
    const next = (await tryRefresh(server(), stolen, "phone")).string("tokens.refreshToken");
    expectStatus(await tryRefresh(server(), next, "phone"), 200);
    expectError(await tryRefresh(server(), stolen, "phone"), 401);
    const response = await tablet.client.get("/api/mobile/notifications");
    expect(response.at("data.notifications.0")).toMatchObject({
      category: "security",
      title: "A device was signed out",
      data: { deviceId: "phone" },
    });
  });

  test("reports only the highest storage mark that was crossed", async () => {
    const account = await server().addUser(["--quota", "1000"]);
    const phone = await registerDevice(server(), account);
    await account.client.stored(new Uint8Array(790), { name: "most" });
    expect(await titles(phone)).not.toContain("Storage is 80% full");
    await account.client.stored(new Uint8Array(170), { name: "more" });
    expect((await titles(phone))[0]).toBe("Storage is 95% full");
    expect(await titles(phone)).not.toContain("Storage is 80% full");
  });
});

testAllResponses(server);
