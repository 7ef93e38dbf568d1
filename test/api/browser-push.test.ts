// Web Push to sign-ins in browsers.
import { afterAll, describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { type Account, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { WebPushService } from "../support/push-services.ts";
import { sharedServer } from "../support/server.ts";

const CONFIG = "/api/users/notifications/config";
const PUSH = "/api/users/push-subscriptions";
const server = sharedServer({ hasAccounts: true, env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } });
const services: WebPushService[] = [];

afterAll(async () => {
  for (const service of services) await service.stop();
});

/** An account that is subscribed at a push service of its own. */
async function subscribed(account?: Account) {
  const known = account ?? (await server().signUp());
  const service = new WebPushService((await known.client.get(CONFIG)).string("data.vapidPublicKey"));
  await service.start();
  services.push(service);
  const response = await known.client.post(PUSH, { pushToken: service.subscription() });
  expectStatus(response, 200);
  expect(response.at("data")).toMatchObject({ platform: "browser", provider: "web-push" });
  expect((await known.client.get(CONFIG)).at("data.isSubscribed")).toBe(true);
  return { account: known, service };
}

/** Another sign-in of the same account. */
async function signInAgain(account: Account): Promise<Account> {
  const { email, password } = account;
  const signedIn = await server().visitor.post("/api/auth/signin", { email, password });
  return { ...account, client: new Client(server(), signedIn.string("token")) };
}

/** Causes a notification, and waits until every delivery of it is decided. */
async function notify(account: Account, name: string): Promise<void> {
  const owner = await server().signUp();
  await shareWith(owner.client, await owner.client.storedId("x", { name }), account);
}

describe("POST /api/users/notifications/read", () => {
  test("marks the named ones, or all, and none of others", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    for (const name of ["one.txt", "two.txt", "three.txt"]) await notify(account, name);
    const READ = "/api/users/notifications/read";
    const ids = (await account.client.get("/api/users/notifications")).strings("data.notifications", "id");
    expect(ids).toHaveLength(3);
    expect((await other.client.post(READ, { ids })).at("data")).toEqual({ read: 0, unread: 0 });
    expect((await account.client.post(READ, { ids: ids.slice(0, 1) })).at("data")).toEqual({ read: 1, unread: 2 });
    expectError(await account.client.post(READ, {}), 400, "invalid_field", "ids");
    expect((await account.client.post(READ, { all: true })).at("data")).toEqual({ read: 2, unread: 0 });
  });
});

describe("Web Push to browsers", () => {
  test("sends notifications to each subscribed sign-in, until it unsubscribes", async () => {
    const { account, service } = await subscribed();
    await notify(account, "one.txt");
    await eventually("the message arrives", async () => service.received.length === 1);
    expect(service.received[0]).toMatchObject({ title: "File shared with you", data: { category: "shares" } });
    expect(service.faults).toEqual([]);
    expect((await account.client.delete(PUSH)).at("data.isSubscribed")).toBe(false);
    // Another account's message shows that the queue was processed.
    const other = await subscribed();
    await notify(account, "two.txt");
    await notify(other.account, "three.txt");
    await eventually("the other message arrives", async () => other.service.received.length === 1);
    expect(service.received).toHaveLength(1);
  });

  test("ends with the sign-in, also for security messages, and not with a refresh", async () => {
    const { account, service } = await subscribed();
    const refreshed = await account.client.post("/api/auth/refresh");
    const client = new Client(server(), refreshed.string("token"));
    expect((await client.get(CONFIG)).at("data.isSubscribed")).toBe(true);
    await notify(account, "one.txt");
    await eventually("the message arrives", async () => service.received.length === 1);

    const { email, password } = account;
    const signedIn = await server().visitor.post("/api/auth/signin", { email, password });
    const second = new Client(server(), signedIn.string("token"));
    const other = await subscribed({ ...account, client: second });
    expectStatus(await second.post("/api/auth/signout", {}), 200);
    const key = { name: "backup", scopes: ["files:read"], currentPassword: password };
    expectStatus(await client.post("/api/users/api-keys", key), 201);
    await eventually("the message arrives", async () => service.received.length === 2);
    expect(service.received[1]?.title).toBe("New API key");
    expect(other.service.received).toEqual([]);
  });

  test.each<[string, (account: Account, admin: Account) => Promise<unknown>]>([
    [
      "when it is ended from elsewhere",
      async (account) => {
        const other = await signInAgain(account);
        const sessions = await other.client.get("/api/users/sessions");
        const ids = sessions.list("data.sessions") as { id: string; isCurrent: boolean }[];
        for (const { id, isCurrent } of ids) if (!isCurrent) await other.client.delete(`/api/users/sessions/${id}`);
      },
    ],
    [
      "when the password is changed elsewhere",
      async (account) => {
        const other = await signInAgain(account);
        const change = { newPassword: "another set of words", currentPassword: account.password };
        expectStatus(await other.client.put("/api/users/profile", change), 200);
      },
    ],
    [
      "when everything is signed out",
      async (account) => expectStatus(await account.client.post("/api/auth/signout", { everywhere: true }), 200),
    ],
    [
      "when an administrator disables the account, also after it is enabled again",
      async (account, admin) => {
        for (const disabled of [true, false])
          expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, { disabled }), 200);
      },
    ],
  ])("ends with the sign-in: %s", async (_how, end) => {
    const admin = await server().addUser(["--admin"]);
    const { account, service } = await subscribed(await server().signUp());
    await end(account, admin);
    await notify(account, "after.txt");
    // Another account's message shows that the queue was processed.
    const other = await subscribed();
    await notify(other.account, "other.txt");
    await eventually("the other message arrives", async () => other.service.received.length === 1);
    expect(service.received.filter(({ data }) => data["category"] === "shares")).toEqual([]);
  });

  test("belongs to one sign-in: no other can see, use or end it", async () => {
    const { account, service } = await subscribed();
    const other = await signInAgain(account);
    expect((await other.client.get(CONFIG)).at("data.isSubscribed")).toBe(false);
    expectStatus(await other.client.delete(PUSH), 200);
    expect((await account.client.get(CONFIG)).at("data.isSubscribed")).toBe(true);
    // A browser that is now somebody else's gets no more messages of its former owner.
    const next = await server().signUp();
    expectStatus(await next.client.post(PUSH, { pushToken: service.subscription() }), 200);
    expect((await account.client.get(CONFIG)).at("data.isSubscribed")).toBe(false);
    expectError(await server().visitor.post(PUSH, { pushToken: service.subscription() }), 401);
  });

  test("has preferences of its own, without a device; without them, those of the account apply", async () => {
    const account = await server().signUp();
    const preferences = { shares: false, quietHours: { enabled: true, timezone: "Europe/Berlin" } };
    expectStatus(await account.client.put("/api/users/settings", { notifications: { storage: false } }), 200);
    expect((await account.client.get(CONFIG)).at("data.preferences")).toMatchObject({ shares: true, storage: false });
    const service = await new WebPushService((await account.client.get(CONFIG)).string("data.vapidPublicKey")).start();
    services.push(service);
    const registered = await account.client.post(PUSH, { pushToken: service.subscription(), preferences });
    expect(registered.at("data.preferences")).toMatchObject({ shares: false, quietHours: { enabled: true } });
    expect((await account.client.get(CONFIG)).at("data.preferences")).toMatchObject({ shares: false });
    const wrong = { quietHours: { timezone: "Mars/Olympus" } };
    const rejected = await account.client.post(PUSH, { pushToken: service.subscription(), preferences: wrong });
    expectError(rejected, 400, "invalid_field", "preferences.quietHours.timezone");
  });

  test("goes to at most 20 browsers of an account: a new one replaces the oldest", async () => {
    const { account, service } = await subscribed();
    let newest = account;
    for (let count = 0; count < 20; count += 1) {
      newest = await signInAgain(account);
      const pushToken = service.subscription(`${service.url}/send/${count}`);
      expectStatus(await newest.client.post(PUSH, { pushToken }), 200);
    }
    expect((await account.client.get(CONFIG)).at("data.isSubscribed")).toBe(false);
    expect((await newest.client.get(CONFIG)).at("data.isSubscribed")).toBe(true);
  });

  test("adds no device to the list, and none that the mobile API can name", async () => {
    const { account } = await subscribed();
    expect((await account.client.get("/api/users/devices")).at("data.devices")).toEqual([]);
  });

  test("accepts only subscriptions at allowed addresses", async () => {
    const account = await server().signUp();
    for (const pushToken of ["fcm-token", "https://ntfy.example/topic", "{}", 7]) {
      expectError(await account.client.post(PUSH, { pushToken }), 400, "invalid_field", "pushToken");
    }
    const service = new WebPushService("");
    const inside = service.subscription("https://10.0.0.1/send");
    expectError(await account.client.post(PUSH, { pushToken: inside }), 400, "forbidden_target");
    expect((await account.client.get(CONFIG)).at("data.isSubscribed")).toBe(false);
  });
});
