import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { ApiDocument, asObject } from "../support/openapi.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const scopes = ["files:read", "files:write", "shares", "profile", "admin"];

/** The scope that an endpoint needs: the first matching row. An endpoint without a row is closed to every key. */
const rules: [methods: RegExp, path: RegExp, rule: string][] = [
  [/./, /^\/api\/mobile\//, "device"],
  [/./, /^\/api\/(files|files\/folders|albums)\/\{\w+\}\/shares(\/|$)/, "shares"],
  [/./, /^\/api\/shares(\/|$)/, "shares"],
  [/GET|HEAD/, /^\/api\/(files|photos|albums|favorites|pins|imports)(\/|$)/, "files:read"],
  [/POST/, /^\/api\/files\/archive$/, "files:read"],
  [/POST/, /^\/api\/files\/\{id\}\/opened$/, "files:read"],
  [/./, /^\/api\/(files|albums|favorites|pins|imports)(\/|$)/, "files:write"],
  [/./, /^\/api\/tus(\/|$)/, "files:write"],
  [/GET|PUT/, /^\/api\/users\/(profile|settings)$/, "profile"],
  [/GET/, /^\/api\/users\/(usage|usage\/rate-limits|devices)$/, "profile"],
  [/./, /^\/api\/users\/locks(\/|$)/, "profile"],
  [/./, /^\/api\/webhooks(\/|$)/, "profile"],
  // With a key, accounts can be listed, read, created and partly changed. Requests that would let the key sign in are
  // closed.
  [/GET/, /^\/api\/admin\/users(\/\{id\}(\/usage)?)?$/, "admin"],
  [/POST/, /^\/api\/admin\/users$/, "admin"],
  [/PATCH/, /^\/api\/admin\/users\/\{id\}$/, "admin"],
  [/./, /^\/api\/admin\/users\//, "never"],
  // Members of a group see the files that are shared with it.
  [/PUT/, /^\/api\/admin\/groups\/\{id\}\/members\//, "never"],
  // Settings decide who gets in: keys only read them.
  [/PATCH|POST/, /^\/api\/admin\/settings(\/|$)/, "never"],
  [/./, /^\/api\/admin\//, "admin"],
  [/GET/, /^\/api\/auth\/session$/, "any"],
];

function ruleOf(method: string, path: string): string {
  return rules.find(([methods, paths]) => methods.test(method) && paths.test(path))?.[2] ?? "never";
}

let admin: Account;
const keys = new Map<string, string>();

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
  for (const scope of scopes) keys.set(scope, await newKey(admin, [scope]));
});

async function newKey({ client, password: currentPassword }: Account, of: string[]): Promise<string> {
  const response = await client.post("/api/users/api-keys", { name: of.join(" "), scopes: of, currentPassword });
  expectStatus(response, 201);
  return response.string("data.key");
}

/**
 * The result of the scope check: `open` if the key may call the endpoint, regardless of other errors, or the rejection.
 */
function accessOf(response: ApiResponse): string {
  const reason = response.status < 400 || response.text === "" ? undefined : response.at("error.details.reason");
  if (response.status === 401) return `401 ${String(reason)}`;
  return reason === "scope" ? `403 scope ${String(response.at("error.details.scope"))}` : "open";
}

function expectedAccess(rule: string, scope: string): string {
  if (rule === "device") return "401 invalid_token";
  if (rule === "never") return "403 scope null";
  return rule === "any" || rule === scope ? "open" : `403 scope ${rule}`;
}

test("every documented endpoint is open to keys with its scope, and to no others", async () => {
  const { operations, document } = await ApiDocument.load();
  const paths = asObject(document["paths"]) ?? {};
  const [seen, expected]: [string[], string[]] = [[], []];
  for (const { method, template } of operations) {
    const security = asObject(asObject(paths[template])?.[method.toLowerCase()])?.["security"];
    const isPublic = Array.isArray(security) && security.length === 0;
    if (!template.startsWith("/api/") || isPublic) continue;
    const path = template.replaceAll(/\{\w+\}/g, "nothing_1");
    for (const [scope, key] of keys) {
      const options = method === "GET" || method === "HEAD" ? {} : { json: {} };
      const response = await server().visitor.request(method, path, { headers: { "x-api-key": key }, ...options });
      seen.push(`${scope}: ${method} ${template}: ${accessOf(response)}`);
      expected.push(`${scope}: ${method} ${template}: ${expectedAccess(ruleOf(method, template), scope)}`);
    }
  }
  expect(seen.filter((line, index) => line !== expected[index])).toEqual([]);
  expect(seen.length).toBeGreaterThan(5 * 40);
});

test("an unusual spelling of a path opens nothing more", async () => {
  const key = keys.get("files:read") ?? "";
  const id = await admin.client.storedId("content");
  const send = (method: string, path: string) =>
    server().visitor.request(method, path, { headers: { "x-api-key": key }, json: {} });
  for (const path of [`/api/files/${id}/`, `/api/files/${id}?method=GET`, `/api/files/${id}#x`]) {
    expectError(await send("PUT", path), 403, "scope");
    expectError(await send("DELETE", path), 403, "scope");
  }
  const strange = [
    `/api//files/${id}`,
    `/api/files/../users/api-keys`,
    `/api/%75sers/api-keys`,
    `/api/users/api%2Dkeys`,
  ];
  for (const path of strange) expect([403, 404, 405]).toContain((await send("DELETE", path)).status);
  expectStatus(await admin.client.get(`/api/files/${id}`), 200);
});

describe("profile", () => {
  const url = "https://93.184.215.14/hook";

  test("a webhook reports only what the key may read", async () => {
    // It once reported every file, and continued after the key was deleted.
    const account = await server().addUser(["--admin"]);
    const client = new Client(server(), await newKey(account, ["profile"]));
    const create = (as: Client, event: string) =>
      as.post("/api/webhooks", { url, events: ["device.registered", event] });
    for (const [event, scope] of [
      ["file.created", "files:read"],
      ["folder.deleted", "files:read"],
      ["share.created", "shares"],
      ["user.created", "admin"],
    ] as const) {
      const refused = await create(client, event);
      expectError(refused, 403, "scope");
      expect(refused.at("error.details.scope")).toBe(scope);
      const able = new Client(server(), await newKey(account, ["profile", scope]));
      expectStatus(await create(able, event), 201);
    }
    const own = await create(client, "storage.warning");
    expectStatus(own, 201);
    const path = `/api/webhooks/${own.string("data.id")}`;
    expectError(await client.patch(path, { events: ["file.created"] }), 403, "scope");
    const byAccount = await create(account.client, "file.created");
    expectStatus(byAccount, 201);
    expectError(await client.patch(`/api/webhooks/${byAccount.string("data.id")}`, { url: `${url}2` }), 403, "scope");
    expectStatus(await client.patch(path, { url: `${url}2` }), 200);
  });
});

describe("files:write", () => {
  test("alone reads nothing", async () => {
    const id = await admin.client.storedId("content");
    const client = new Client(server(), keys.get("files:write"));
    const paths = ["/api/files", `/api/files/${id}`, `/api/files/${id}/download`, `/api/files/${id}/checksum`];
    for (const path of paths) {
      const response = await client.get(path);
      expectError(response, 403, "scope");
      expect(response.at("error.details.scope")).toBe("files:read");
    }
    expectError(await client.head(`/api/files/${id}/download`), 403);
    expectStatus(await client.upload("more"), 201);
    expectStatus(await client.delete(`/api/files/${id}`), 200);
  });

  test("publishes nothing without shares", async () => {
    const account = await server().signUp();
    const client = new Client(server(), await newKey(account, ["files:read", "files:write"]));
    const form = { fields: { isPublic: "true" }, name: "public.txt" };
    const upload = await client.upload("x", form);
    expectError(upload, 403, "scope");
    expect(upload.at("error.details.scope")).toBe("shares");
    expect(await client.names()).toEqual([]);
    const id = await client.storedId("x", { name: "private.txt" });
    const publish = (as: Client, isPublic: boolean) => as.put(`/api/files/${id}`, { isPublic });
    expectError(await publish(client, true), 403, "scope");
    expect((await client.get(`/api/files/${id}`)).at("data.isPublic")).toBe(false);
    expectStatus(await publish(account.client, true), 200);
    // Revoking a link needs only files:write.
    expectStatus(await publish(client, false), 200);
    const sharing = new Client(server(), await newKey(account, ["files:write", "shares"]));
    expectStatus(await sharing.upload("x", form), 201);
    expectStatus(await publish(sharing, true), 200);
  });
});

describe("profile", () => {
  test("changes the name, but neither email nor password", async () => {
    const account = await server().signUp();
    const client = new Client(server(), await newKey(account, ["profile"]));
    expectStatus(await client.put("/api/users/profile", { name: "Grace" }), 200);
    const { password: currentPassword } = account;
    for (const change of [{ newPassword: "another long password" }, { email: "new@example.com" }]) {
      expectError(await client.put("/api/users/profile", { currentPassword, ...change }), 403, "scope");
      expectError(await client.put("/api/users/profile", change), 403, "scope");
    }
    expectError(await client.delete("/api/users/profile", { password: currentPassword }), 403, "scope");
    const profile = (await account.client.get("/api/users/profile")).at("data");
    expect(profile).toMatchObject({ name: "Grace", email: account.email });
  });
});

describe("admin", () => {
  test("works only while its owner is an administrator", async () => {
    const account = await server().addUser(["--admin"]);
    const client = new Client(server(), await newKey(account, ["admin", "files:read"]));
    expectStatus(await client.get("/api/admin/users"), 200);
    await server().change(account.id, { role: "user" });
    expectError(await client.get("/api/admin/users"), 403, "role");
    expectStatus(await client.get("/api/files"), 200);
  });

  test("can't take over an account, neither the owner's nor another one", async () => {
    const [owner, other] = [await server().addUser(["--admin"]), await server().signUp()];
    const key = new Client(server(), await newKey(owner, ["admin"]));
    for (const id of [owner.id, other.id]) {
      const path = `/api/admin/users/${id}`;
      for (const change of [
        { password: "another long password" },
        { email: "taken-over@example.com" },
        { role: "admin" },
        { role: "user" },
        { name: "Renamed", password: "another long password" },
      ]) {
        const refused = await key.patch(path, change);
        expectError(refused, 403, "scope");
      }
      expectError(await key.post(`${path}/reset-link`), 403, "scope");
      expectError(await key.delete(`${path}/two-factor`), 403, "scope");
      expectError(await key.get(`${path}/sessions`), 403, "scope");
      expectError(await key.delete(`${path}/sessions`), 403, "scope");
      expectError(await key.delete(`${path}/sessions/ses_1`), 403, "scope");
      expectError(await key.delete(`${path}/devices/phone`), 403, "scope");
      expectError(await key.delete(path), 403, "scope");
    }
    const password = "another long password";
    expectError(await key.post("/api/admin/users", { email: freshEmail(), password, role: "admin" }), 403, "scope");
    expectError(await key.post("/api/admin/invites", { role: "admin" }), 403, "scope");
    // None of the rejected requests had an effect.
    expectStatus(await other.client.get("/api/files"), 200);
    const account = (await key.get(`/api/admin/users/${other.id}`)).at("data");
    expect(account).toMatchObject({ email: other.email, role: "user", name: other.name, disabled: false });
  });

  test("creates and disables accounts, and changes plan, quota and name", async () => {
    const key = new Client(server(), keys.get("admin"));
    const email = freshEmail();
    const made = await key.post("/api/admin/users", { email });
    expectStatus(made, 201);
    expect(made.at("data")).toMatchObject({ email, role: "user" });
    // With the link, the key could set the password and take over the account.
    expect(made.at("data.passwordLink")).toBeUndefined();
    const viewer = { email: freshEmail(), password: "another long password", role: "viewer" };
    expectStatus(await key.post("/api/admin/users", viewer), 201);
    const path = `/api/admin/users/${made.string("data.id")}`;
    const changed = await key.patch(path, { plan: "pro", quota: 1000, name: "Grace", disabled: true });
    expectStatus(changed, 200);
    expect(changed.at("data")).toMatchObject({ plan: "pro", quota: 1000, name: "Grace", disabled: true });
    expectStatus(await key.get("/api/admin/users"), 200);
    expectStatus(await key.get(`${path}/usage`), 200);
    expectStatus(await key.post("/api/admin/invites", { role: "viewer" }), 201);
  });

  test("reads no files and creates no keys", async () => {
    const client = new Client(server(), keys.get("admin"));
    expectError(await client.get("/api/files"), 403, "scope");
    expectError(await client.post("/api/users/api-keys", { name: "x" }), 403, "scope");
    expectError(await client.get("/api/users/sessions"), 403, "scope");
    expectError(await client.post("/api/auth/refresh"), 403, "scope");
    expectError(await client.post("/api/auth/signout"), 403, "scope");
  });
});

testAllResponses(server);
