// Web Push to sign-ins in browsers.
import { afterAll, describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { type Account, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { WebPushService } from "../support/push-services.ts";
import { sharedServer } from "../support/server.ts";

const PUSH = "/api/users/notifications/push";
const server = sharedServer({ hasAccounts: true, env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } });
const services: WebPushService[] = [];

afterAll(async () => {
  for (const service of services) await service.stop();
});

/** An account that is subscribed at a push service of its own. */
async function subscribed(account?: Account) {
  const known = account ?? (await server().signUp());
  const service = new WebPushService((await known.client.get(PUSH)).string("data.vapidPublicKey"));
  await service.start();
  services.push(service);
  const response = await known.client.put(PUSH, { subscription: service.subscription() });
  expectStatus(response, 200);
  expect(response.at("data.isSubscribed")).toBe(true);
  return { account: known, service };
}

/** Causes a notification, and waits until every delivery of it is decided. */
async function notify(account: Account, name: string): Promise<void> {
  const owner = await server().signUp();
  await shareWith(owner.client, await owner.client.storedId("x", { name }), account);
}

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
    expect((await client.get(PUSH)).at("data.isSubscribed")).toBe(true);
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

  test("adds no device to the list, and none that the mobile API can name", async () => {
    const { account } = await subscribed();
    expect((await account.client.get("/api/users/devices")).at("data.devices")).toEqual([]);
  });

  test("accepts only subscriptions at allowed addresses", async () => {
    const account = await server().signUp();
    for (const subscription of ["fcm-token", "https://ntfy.example/topic", "{}", 7]) {
      expectError(await account.client.put(PUSH, { subscription }), 400, "invalid_field", "subscription");
    }
    const service = new WebPushService("");
    const inside = service.subscription("https://10.0.0.1/send");
    expectError(await account.client.put(PUSH, { subscription: inside }), 400, "forbidden_target");
    expect((await account.client.get(PUSH)).at("data.isSubscribed")).toBe(false);
  });
});
