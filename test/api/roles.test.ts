import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, toBytes } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { ApiDocument } from "../support/openapi.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** A viewer who was created as a user, so that there are files to view. */
let viewer: Account;
let file = "";
let folder = "";
let link = "";

beforeAll(async () => {
  viewer = await server().addUser([]);
  file = await viewer.client.storedId("content", { name: "a.txt", fields: { isPublic: "true" } });
  folder = await viewer.client.folderId("docs");
  link = new URL((await viewer.client.get(`/api/files/${file}`)).string("data.shareLink")).pathname;
  await server().change(viewer.id, { role: "viewer" });
});

/** Signs the viewer in again; whether a role change ends sessions is tested elsewhere. */
async function asViewer(): Promise<Client> {
  const { email, password } = viewer;
  const response = await server().visitor.post("/api/auth/signin", { email, password });
  return new Client(server(), response.string("token"));
}

describe("a viewer", () => {
  test("sees the role in the profile", async () => {
    expect((await (await asViewer()).get("/api/users/profile")).at("data.role")).toBe("viewer");
  });

  test("reads, lists and downloads", async () => {
    const client = await asViewer();
    for (const path of [
      "/api/files",
      "/api/files?search=a",
      `/api/files/${file}`,
      `/api/files/${file}/download`,
      `/api/files/${file}/checksum`,
      `/api/files/folders/${folder}`,
      "/api/users/profile",
      "/api/users/usage",
      "/api/users/usage/rate-limits",
      "/api/users/settings",
      "/api/users/sessions",
      "/api/auth/session",
    ])
      expect({ path, status: (await client.get(path)).status }).toEqual({ path, status: 200 });
    expectStatus(await server().visitor.get(link), 200);
  });

  test("changes their own profile, settings and sessions", async () => {
    const client = await asViewer();
    expectStatus(await client.put("/api/users/profile", { name: "Viewer" }), 200);
    expectStatus(await client.put("/api/users/settings", { versioning: { keep: 5 } }), 200);
    const refreshed = await client.post("/api/auth/refresh");
    expectStatus(refreshed, 200);
    const again = await asViewer();
    const sessions = (await again.get("/api/users/sessions")).strings("data.sessions", "id");
    const own = (await again.get("/api/auth/session")).string("session.id");
    const other = sessions.find((id) => id !== own);
    expectStatus(await again.delete(`/api/users/sessions/${other}`), 200);
    expectStatus(await again.post("/api/auth/signout"), 200);
  });

  const writes: [string, (client: Client) => ReturnType<Client["get"]>][] = [
    ["upload", (client) => client.upload("x")],
    ["create a folder", (client) => client.post("/api/files/folders", { name: "new", path: "/" })],
    ["update a file", (client) => client.put(`/api/files/${file}`, { name: "b.txt" })],
    ["make public", (client) => client.put(`/api/files/${file}`, { isPublic: false })],
    ["replace content", (client) => client.putContent(file, toBytes("x"))],
    ["delete a file", (client) => client.delete(`/api/files/${file}`)],
    ["update a folder", (client) => client.put(`/api/files/folders/${folder}`, { name: "b" })],
    ["delete a folder", (client) => client.delete(`/api/files/folders/${folder}`)],
    ["move", (client) => client.post("/api/files/move", { fileIds: [file], destinationFolder: "/docs" })],
    ["copy", (client) => client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/docs" })],
  ];

  test.each(writes)("can't %s: 403 role", async (_, write) => {
    const client = await asViewer();
    expectError(await write(client), 403, "role");
    expect(await client.names()).toEqual(["docs", "a.txt"]);
    expect((await client.get(`/api/files/${file}/download`)).text).toBe("content");
  });
});

/**
 * Requests that a viewer may send: those that only read, and those about their own profile, settings, sessions, devices
 * and ways to sign in. Any other documented write is expected to be rejected, without a change here.
 */
const viewersMay = [
  /^POST \/api\/auth\//,
  /^DELETE \/api\/auth\/oidc\/link$/,
  /^(PUT|DELETE) \/api\/users\/(profile|avatar)$/,
  /^PUT \/api\/users\/settings$/,
  /^DELETE \/api\/users\/sessions\//,
  /^DELETE \/api\/users\/devices\/\{deviceId\}$/,
  /^(POST|PATCH|DELETE) \/api\/users\/(two-factor|passkeys)/,
  // Deleting keys ends access; creating one is not allowed, as a key would be another way to sign in.
  /^DELETE \/api\/users\/api-keys\//,
  // A program of a viewer can only read.
  /^(POST|DELETE) \/api\/users\/(app-passwords|login-flows)\//,
  /^POST \/api\/users\/app-passwords$/,
  /^DELETE \/api\/users\/locks\//,
  /^DELETE \/api\/(shares|webhooks)\/\{id\}$/,
  /^POST \/api\/mobile\/auth/,
  /^(PUT|DELETE) \/api\/mobile\/devices\/\{deviceId\}(\/settings)?$/,
  /^POST \/api\/mobile\/notifications\//,
  /^POST \/api\/users\/notifications\/read$/,
  /^(POST|DELETE) \/api\/users\/push-subscriptions$/,
  // Read requests that use POST for their lists.
  /^POST \/api\/files\/archive$/,
  /^(PUT|DELETE) \/api\/pins\/\{id\}$/,
  // Notes what the viewer read.
  /^POST \/api\/files\/\{id\}\/opened$/,
  /^POST \/api\/mobile\/files\/durability$/,
  // Public: the token in the path decides.
  /^(POST|PATCH|DELETE) \/api\/public\//,
];

test("a user who becomes a viewer can delete their links and webhooks, but not change or create any", async () => {
  const { client, id: accountId } = await server().addUser([]);
  const stored = await client.stored("x", { fields: { isPublic: "true" } });
  const id = stored.string("data.id");
  const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
  const made = await client.post(`/api/files/${id}/shares`, {});
  expectStatus(made, 201);
  const hook = await client.post("/api/webhooks", { url: "https://example.org/hook", events: ["file.created"] });
  expectStatus(hook, 201);
  await server().change(accountId, { role: "viewer" });
  const [share, webhook] = [made.string("data.id"), hook.string("data.id")];
  expectError(await client.patch(`/api/shares/${share}`, { label: "new" }), 403, "role");
  expectError(await client.patch(`/api/webhooks/${webhook}`, { active: false }), 403, "role");
  expectError(await client.post(`/api/files/${id}/shares`, {}), 403, "role");
  const { client: other } = await server().signUp();
  expectError(await other.delete(`/api/shares/${share}`), 404, "not_found");
  expectError(await other.delete(`/api/webhooks/${webhook}`), 404, "not_found");
  const all = (await client.get("/api/shares")).strings("data.shares", "id");
  expect(all).toHaveLength(2);
  for (const one of all) expectStatus(await client.delete(`/api/shares/${one}`), 200);
  expectStatus(await client.delete(`/api/webhooks/${webhook}`), 200);
  expectStatus(await server().visitor.get(new URL(made.string("data.url")).pathname), 404);
  expectStatus(await server().visitor.get(new URL(link).pathname), 404);
  expect((await client.get(`/api/files/${id}`)).at("data.isPublic")).toBe(false);
  expect((await client.get("/api/webhooks")).at("data.webhooks")).toEqual([]);
});

describe("the OpenAPI document", () => {
  test("has no other write that a viewer may send: 403 role", async () => {
    const document = await ApiDocument.load();
    const client = await asViewer();
    const phone = await registerDevice(server(), viewer);
    const open: string[] = [];
    let requests = 0;
    for (const { method, template } of document.operations) {
      const isRead = method === "GET" || method === "HEAD";
      if (isRead || !template.startsWith("/api/") || viewersMay.some((may) => may.test(`${method} ${template}`)))
        continue;
      const path = template.replaceAll(/\{[^}]+\}/g, "1");
      const by = template.startsWith("/api/mobile/") ? phone.client : client;
      const response = await by.request(method, path, { json: {} });
      requests++;
      const isRole = response.status === 403 && response.at("error.details.reason") === "role";
      if (!isRole) open.push(`${method} ${template}: ${response.status} ${response.text.slice(0, 120)}`);
    }
    expect(open).toEqual([]);
    expect(requests).toBeGreaterThan(40);
  });

  test("has no administrator route that a user may call: 403 role", async () => {
    const document = await ApiDocument.load();
    const { client } = await server().signUp();
    const open: string[] = [];
    for (const { method, template } of document.operations) {
      if (!template.startsWith("/api/admin/")) continue;
      const path = template.replaceAll(/\{[^}]+\}/g, "1");
      const response = await client.request(method, path, method === "GET" ? {} : { json: {} });
      const isRole = response.status === 403 && response.at("error.details.reason") === "role";
      if (!isRole) open.push(`${method} ${template}: ${response.status}`);
      const stranger = await server().visitor.request(method, path, method === "GET" ? {} : { json: {} });
      if (stranger.status !== 401) open.push(`${method} ${template} without a token: ${stranger.status}`);
    }
    expect(open).toEqual([]);
  });
});

test("larder user add creates users of every role and plan", async () => {
  const admin = await server().addUser(["--admin", "--name", "Root"]);
  expect((await admin.client.get("/api/users/profile")).json).toMatchObject({ data: { role: "admin", name: "Root" } });
  const user = await server().addUser(["--role", "user", "--plan", "pro"]);
  expect((await user.client.get("/api/users/profile")).json).toMatchObject({ data: { role: "user", plan: "pro" } });
});

test("an administrator has files of their own", async () => {
  const { client } = await server().addUser(["--admin"]);
  await client.stored("x");
  expect(await client.names()).toEqual(["file.txt"]);
});

testAllResponses(server);
