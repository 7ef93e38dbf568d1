import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { type Account, type ApiResponse, signUp } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** The body, parsed. */
  readonly event: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** A target on this machine. It responds to these paths as set, to all others with 204. */
const received: Received[] = [];
const responses = new Map<string, () => Response | Promise<Response>>();
const target = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname: path } = new URL(request.url);
    const body = await request.text();
    received.push({ path, headers: request.headers, body, event: JSON.parse(body) as Received["event"] });
    return responses.get(path)?.() ?? new Response(null, { status: 204 });
  },
});
afterAll(() => target.stop(true));

const server = sharedServer({ hasAccounts: true, env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } });
let account: Account;
beforeEach(async () => {
  account = await server().signUp();
});

/** A new address of the target. */
function address(): { url: string; path: string } {
  const path = `/${crypto.randomUUID()}`;
  return { url: `http://127.0.0.1:${target.port}${path}`, path };
}

async function create(
  events: string[],
  more: Record<string, unknown> = {},
): Promise<{ path: string; response: ApiResponse }> {
  const { url, path } = address();
  const response = await account.client.post("/api/webhooks", { url, events, ...more });
  expectStatus(response, 201);
  return { path, response };
}

const at = (path: string) => received.filter((one) => one.path === path);

/** Waits until `look` returns something. */
async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  msMax?: number,
): Promise<T> {
  let found: T | undefined;
  const hasFound = async () => {
    found = await look();
    return found !== undefined;
  };
  await eventually(what, hasFound, msMax);
  if (found === undefined) throw new Error(`${what} is missing`);
  return found;
}

async function waitForDeliveries(path: string, count: number, msMax?: number): Promise<Received[]> {
  return waitFor(`${count} deliveries`, () => (at(path).length >= count ? at(path) : undefined), msMax);
}

describe("the webhook API", () => {
  test("shows the secret only once", async () => {
    const { response } = await create(["file.created"]);
    expect(response.string("data.secret")).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(response.string("data.id")).toMatch(/^whk_/);
    expect(response.string("data.createdAt")).toMatch(timestampPattern);
    expect(response.at("data.active")).toBe(true);
    const list = await account.client.get("/api/webhooks");
    expect(list.list("data.webhooks")).toHaveLength(1);
    expect(list.text).not.toContain("whsec_");
    const one = await account.client.get(`/api/webhooks/${response.string("data.id")}`);
    expect(one.at("data.url")).toBe(response.at("data.url"));
    expect(one.text).not.toContain("whsec_");
  });

  test("applies changes from then on, and rejects an empty change", async () => {
    const { path, response } = await create(["file.created"]);
    const id = response.string("data.id");
    expectError(await account.client.patch(`/api/webhooks/${id}`, {}), 400, "invalid_field", "body");
    const changed = await account.client.patch(`/api/webhooks/${id}`, { events: ["file.deleted"], active: false });
    expect(changed.at("data.events")).toEqual(["file.deleted"]);
    const file = await account.client.upload("x", { name: "a.txt" });
    await account.client.delete(`/api/files/${file.string("data.id")}`);
    expect((await account.client.patch(`/api/webhooks/${id}`, { active: true })).at("data.active")).toBe(true);
    const second = await account.client.upload("x", { name: "b.txt" });
    await account.client.delete(`/api/files/${second.string("data.id")}`);
    const [only] = await waitForDeliveries(path, 1);
    expect(only?.event.type).toBe("file.deleted");
    expect(only?.event.data["name"]).toBe("b.txt");
  });

  test("sends nothing to a deleted webhook", async () => {
    const { path, response } = await create(["file.created"]);
    const { path: other } = await create(["file.created"]);
    const id = response.string("data.id");
    expectStatus(await account.client.delete(`/api/webhooks/${id}`), 200);
    expectError(await account.client.get(`/api/webhooks/${id}`), 404, "not_found");
    await account.client.upload("x", { name: "a.txt" });
    await waitForDeliveries(other, 1);
    expect(at(path)).toEqual([]);
  });

  test.each([
    ["no address", { events: ["file.created"] }, "invalid_field"],
    ["no events", { url: "http://127.0.0.1/x", events: [] }, "invalid_field"],
    ["an unknown event", { url: "http://127.0.0.1/x", events: ["file.eaten"] }, "invalid_field"],
    ["the test event", { url: "http://127.0.0.1/x", events: ["webhook.test"] }, "invalid_field"],
    ["another scheme", { url: "ftp://127.0.0.1/x", events: ["file.created"] }, "forbidden_target"],
    ["credentials", { url: "http://a:b@127.0.0.1/x", events: ["file.created"] }, "forbidden_target"],
    ["a private address", { url: "https://192.168.1.1/x", events: ["file.created"] }, "forbidden_target"],
    ["the metadata service", { url: "http://169.254.169.254/x", events: ["file.created"] }, "forbidden_target"],
    ["an IPv6 form of one", { url: "https://[::ffff:10.0.0.1]/x", events: ["file.created"] }, "forbidden_target"],
    ["a line break", { url: "http://127.0.0.1/\r\nx-evil: 1", events: ["file.created"] }, "invalid_field"],
    ["a number as address", { url: 7, events: ["file.created"] }, "invalid_field"],
    [
      "a string instead of a boolean",
      { url: "http://127.0.0.1/x", events: ["file.created"], active: "yes" },
      "invalid_field",
    ],
  ])("rejects %s", async (_what, body, reason) => {
    expectError(await account.client.post("/api/webhooks", body), 400, reason);
  });

  test("checks a changed address too", async () => {
    const { response } = await create(["file.created"]);
    const changed = await account.client.patch(`/api/webhooks/${response.string("data.id")}`, {
      url: "https://10.1.2.3/x",
    });
    expectError(changed, 400, "forbidden_target", "url");
  });

  test("limits an account to twenty webhooks, also with concurrent requests", async () => {
    const made = await Promise.all(
      Array.from({ length: 25 }, () =>
        account.client.post("/api/webhooks", { url: address().url, events: ["file.created"] }),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
    expect((await account.client.get("/api/webhooks")).list("data.webhooks")).toHaveLength(20);
  });

  test("does not find webhooks of other accounts", async () => {
    const { response } = await create(["file.created"]);
    const path = `/api/webhooks/${response.string("data.id")}`;
    const { client } = await server().signUp();
    expectError(await client.get(path), 404, "not_found");
    expectError(await client.patch(path, { active: false }), 404, "not_found");
    expectError(await client.delete(path), 404, "not_found");
    expectError(await client.get(`${path}/deliveries`), 404, "not_found");
    expectError(await client.post(`${path}/test`), 404, "not_found");
    expectError(await client.post(`${path}/secret`), 404, "not_found");
    expect((await account.client.get(path)).at("data.active")).toBe(true);
  });
});

describe("deliveries", () => {
  test("follow Standard Webhooks, and can be verified with its library or manually", async () => {
    const { path, response } = await create(["file.created"]);
    const secret = response.string("data.secret");
    const file = await account.client.upload("content", { name: "größe.txt", fields: { tags: "a,b", folder: "/x" } });
    const [one] = await waitForDeliveries(path, 1);
    if (one === undefined) throw new Error("nothing arrived");
    const headers = Object.fromEntries(one.headers);
    expect(new Webhook(secret).verify(one.body, headers)).toEqual(one.event);
    const id = one.headers.get("webhook-id") ?? "";
    const timestamp = one.headers.get("webhook-timestamp") ?? "";
    const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
      .update(`${id}.${timestamp}.${one.body}`)
      .digest("base64");
    expect(one.headers.get("webhook-signature")).toBe(`v1,${signature}`);
    expect(one.headers.get("content-type")).toBe("application/json");
    expect(Object.keys(one.event)).toEqual(["type", "timestamp", "data"]);
    expect(one.event.timestamp).toMatch(timestampPattern);
    expect(one.event.data).toMatchObject({
      id: file.string("data.id"),
      type: "file",
      name: "größe.txt",
      folder: "/x",
      size: 7,
      tags: ["a", "b"],
      checksum: file.string("data.checksum"),
      version: 1,
    });
    expect(() => new Webhook(secret).verify(`${one.body} `, headers)).toThrow();
  });

  test("report each kind of event of the account", async () => {
    const { path } = await create([
      "file.created",
      "file.updated",
      "file.moved",
      "file.deleted",
      "file.downloaded",
      "folder.created",
      "folder.deleted",
      "device.registered",
      "device.removed",
    ]);
    const { client } = account;
    const id = (await client.upload("one", { name: "a.txt" })).string("data.id");
    await client.request("PUT", `/api/files/${id}/content`, { body: "two" });
    await client.put(`/api/files/${id}`, { name: "b.txt" });
    await client.get(`/api/files/${id}/download`);
    await waitForDeliveries(path, 4);
    await client.delete(`/api/files/${id}`);
    const folder = await client.post("/api/files/folders", { name: "new" });
    await client.delete(`/api/files/folders/${folder.string("data.id")}`);
    const { deviceId } = await registerDevice(server(), account, "phone");
    await client.delete(`/api/users/devices/${deviceId}`);
    const events = (await waitForDeliveries(path, 9)).map(({ event }) => event);
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      "device.registered",
      "device.removed",
      "file.created",
      "file.deleted",
      "file.downloaded",
      "file.moved",
      "file.updated",
      "folder.created",
      "folder.deleted",
    ]);
    const of = (type: string) => events.find((event) => event.type === type)?.data;
    expect(of("file.updated")).toMatchObject({ id, name: "a.txt", version: 2 });
    expect(of("file.deleted")).toMatchObject({ id, name: "b.txt" });
    expect(of("folder.deleted")).toMatchObject({ id: folder.string("data.id"), name: "new", type: "folder" });
    expect(of("device.registered")).toMatchObject({ id: deviceId });
  });

  test("of one file arrive in order, even if the target fails sometimes", async () => {
    const { path } = await create(["file.created", "file.updated", "file.deleted"]);
    let requests = 0;
    responses.set(path, () => new Response(null, { status: ++requests % 2 === 1 ? 500 : 200 }));
    const { client } = account;
    const ids: string[] = [];
    for (const name of ["a.txt", "b.txt"]) ids.push((await client.upload("0", { name })).string("data.id"));
    for (const id of ids) await client.request("PUT", `/api/files/${id}/content`, { body: "1" });
    // Each failure pauses the target for a second or two, so don't wait for all deliveries.
    const seen = await waitForDeliveries(path, 4, 60_000);
    for (const id of ids) {
      const types = seen.filter(({ event }) => event.data["id"] === id).map(({ event }) => event.type);
      expect(types).toEqual(types.toSorted());
    }
    responses.delete(path);
  }, 120_000);

  test("keep their id when they are retried; the log shows the attempts and the last status", async () => {
    const { path, response } = await create(["file.created"]);
    const log = `/api/webhooks/${response.string("data.id")}/deliveries`;
    responses.set(path, () => new Response("no, and never shown", { status: 503 }));
    await account.client.upload("x", { name: "a.txt" });
    await waitForDeliveries(path, 1);
    const failing = await waitFor("the first attempt in the log", async () => {
      const seen = await account.client.get(log);
      return seen.at("data.deliveries.0.attempts") === 1 ? seen : undefined;
    });
    expect(failing.at("data.deliveries.0")).toMatchObject({
      event: "file.created",
      status: "queued",
      responseStatus: 503,
      error: "The target returned status 503.",
      finishedAt: null,
    });
    expect(failing.text).not.toContain("never shown");
    responses.delete(path);
    const [first, second] = await waitForDeliveries(path, 2, 30_000);
    expect(second?.headers.get("webhook-id")).toBe(first?.headers.get("webhook-id") ?? "");
    expect(second?.body).toBe(first?.body ?? "");
    const done = await waitFor("the delivery in the log", async () => {
      const seen = await account.client.get(`${log}?status=delivered`);
      return seen.number("data.pagination.total") === 1 ? seen : undefined;
    });
    expect(done.at("data.deliveries.0")).toMatchObject({ attempts: 2, responseStatus: 204, error: null });
  }, 120_000);

  test("do not follow redirects", async () => {
    const { path, response } = await create(["file.created"]);
    const elsewhere = address();
    responses.set(path, () => Response.redirect(elsewhere.url, 307));
    const tried = await account.client.post(`/api/webhooks/${response.string("data.id")}/test`);
    expect(tried.at("data.status")).toBe("failed");
    await account.client.storedId("x");
    const log = `/api/webhooks/${response.string("data.id")}/deliveries`;
    const status = async () => (await account.client.get(log)).at("data.deliveries.0.responseStatus");
    await eventually("the first attempt", async () => (await status()) === 307);
    expect(at(elsewhere.path)).toEqual([]);
    responses.delete(path);
  });

  test("stop after the target responds with 410", async () => {
    const { path, response } = await create(["file.created"]);
    responses.set(path, () => new Response(null, { status: 410 }));
    await account.client.upload("x", { name: "a.txt" });
    const id = response.string("data.id");
    const stopped = await waitFor("the end of the webhook", async () => {
      const seen = await account.client.get(`/api/webhooks/${id}`);
      return seen.at("data.active") === false ? seen : undefined;
    });
    expect(stopped.string("data.stoppedBecause")).toContain("410");
    responses.delete(path);
  });

  test("are signed with both the new and the former secret", async () => {
    const { path, response } = await create(["file.created"]);
    const id = response.string("data.id");
    const renewed = await account.client.post(`/api/webhooks/${id}/secret`);
    expect(renewed.string("data.secret")).not.toBe(response.string("data.secret"));
    expectStatus(await account.client.post(`/api/webhooks/${id}/test`), 200);
    const [one] = await waitForDeliveries(path, 1);
    if (one === undefined) throw new Error("nothing arrived");
    const headers = Object.fromEntries(one.headers);
    for (const secret of [renewed.string("data.secret"), response.string("data.secret")]) {
      expect(new Webhook(secret).verify(one.body, headers)).toEqual(one.event);
    }
  });

  test("of the test event return the result, also if the target is down", async () => {
    const { path, response } = await create(["file.created"], { active: false });
    const good = await account.client.post(`/api/webhooks/${response.string("data.id")}/test`);
    expect(good.at("data")).toMatchObject({
      event: "webhook.test",
      status: "delivered",
      attempts: 1,
      responseStatus: null,
      error: null,
    });
    expect(at(path)[0]?.event).toMatchObject({ type: "webhook.test", data: { id: response.string("data.id") } });
    const dead = await account.client.post("/api/webhooks", { url: "http://127.0.0.1:9/x", events: ["file.created"] });
    const bad = await account.client.post(`/api/webhooks/${dead.string("data.id")}/test`);
    const failed = {
      status: "failed",
      attempts: 1,
      responseStatus: null,
      error: "The target did not accept the delivery.",
    };
    expect(bad.at("data")).toMatchObject(failed);
    responses.set(path, () => new Response("what is there", { status: 418 }));
    const rejected = await account.client.post(`/api/webhooks/${response.string("data.id")}/test`);
    expect(rejected.at("data")).toMatchObject(failed);
    responses.delete(path);
    for (const id of [response.string("data.id"), dead.string("data.id")]) {
      const log = await account.client.get(`/api/webhooks/${id}/deliveries?status=failed`);
      expect(log.at("data.deliveries.0")).toMatchObject({ event: "webhook.test", ...failed });
      expect(log.text).not.toContain("ECONNREFUSED");
    }
  });

  test("reach only the allowed port of an address", async () => {
    await withServer({ env: { LARDER_OUTBOUND_ALLOW: `127.0.0.1:${target.port}` } }, async (own) => {
      const { client } = await own.signUp();
      const { url, path } = address();
      const events = ["file.created"];
      const made = await client.post("/api/webhooks", { url, events });
      expectStatus(made, 201);
      const tried = await client.post(`/api/webhooks/${made.string("data.id")}/test`);
      expect([tried.at("data.status"), at(path).length]).toEqual(["delivered", 1]);
      const other = `http://127.0.0.1:${own.port}/`;
      expectError(await client.post("/api/webhooks", { url: other, events }), 400, "forbidden_target", "url");
      const change = await client.patch(`/api/webhooks/${made.string("data.id")}`, { url: "https://127.0.0.1/" });
      expectError(change, 400, "forbidden_target", "url");
    });
  });

  test("do not reveal why a private target is unreachable", async () => {
    const dead = await account.client.post("/api/webhooks", { url: "http://127.0.0.1:9/y", events: ["file.created"] });
    await account.client.storedId("x");
    const deliveries = `/api/webhooks/${dead.string("data.id")}/deliveries`;
    const first = async () => (await account.client.get(deliveries)).at("data.deliveries.0.error");
    await eventually("the first attempt", async () => typeof (await first()) === "string");
    expect(await first()).toBe("The target could not be reached.");
    expectStatus(await account.client.delete(`/api/webhooks/${dead.string("data.id")}`), 200);
  });

  test("that wait are sent after a restart", async () => {
    const { path } = await create(["file.created"]);
    responses.set(path, () => new Response(null, { status: 500 }));
    await account.client.upload("x", { name: "a.txt" });
    await waitForDeliveries(path, 1);
    const [before] = at(path);
    await server().restart();
    responses.delete(path);
    const again = await waitForDeliveries(path, 2, 60_000);
    expect(again.at(-1)?.headers.get("webhook-id")).toBe(before?.headers.get("webhook-id") ?? "");
  }, 120_000);

  test("of a disabled account continue when it is enabled, without another event", async () => {
    // They used to wait until the next event of any account, or a restart.
    const { path, response } = await create(["file.created"]);
    const admin = await server().addUser(["--admin"]);
    const setDisabled = async (disabled: boolean) =>
      expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, { disabled }), 200);
    responses.set(path, () => new Response(null, { status: 503 }));
    await account.client.upload("x", { name: "a.txt" });
    const log = `/api/webhooks/${response.string("data.id")}/deliveries`;
    const dueAt = await waitFor("the failed attempt", async () => {
      const deliveries = await account.client.get(log);
      return deliveries.number("data.deliveries.0.attempts") === 1
        ? deliveries.string("data.deliveries.0.nextAttemptAt")
        : undefined;
    });
    await setDisabled(true);
    responses.delete(path);
    await eventually("the delivery is overdue", () => Date.now() > Date.parse(dueAt) + 200, 20_000);
    expect(at(path)).toHaveLength(1);
    await setDisabled(false);
    expect((await waitForDeliveries(path, 2)).map(({ event }) => event.type)).toEqual(["file.created", "file.created"]);
  });
});

describe("a webhook receives", () => {
  test("only events of its own account", async () => {
    const { path } = await create(["file.created"]);
    const other = await server().signUp();
    await other.client.upload("x", { name: "theirs.txt" });
    await account.client.upload("x", { name: "mine.txt" });
    const events = await waitForDeliveries(path, 1);
    expect(events.map(({ event }) => event.data["name"])).toEqual(["mine.txt"]);
  });

  test("new accounts only if an administrator owns it", async () => {
    const { url, path } = address();
    expectError(await account.client.post("/api/webhooks", { url, events: ["user.created"] }), 403, "role");
    const { client } = await server().addUser(["--admin"]);
    expectStatus(await client.post("/api/webhooks", { url, events: ["user.created"] }), 201);
    const somebody = await signUp(server());
    const [one] = await waitForDeliveries(path, 1);
    expect(one?.event).toMatchObject({ type: "user.created", data: { id: somebody.id, email: somebody.email } });
    expect(one?.body).not.toContain(somebody.password);
  });
});

testAllResponses(server);
