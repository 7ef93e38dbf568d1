import { describe, expect, test } from "bun:test";
import { type Account, Client, type ApiResponse } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Creates an API key, which must succeed. */
async function createKey(
  { client }: Account,
  body: Record<string, unknown> = {},
): Promise<{ id: string; key: string }> {
  const response = await client.post("/api/users/api-keys", { name: "script", ...body });
  expectStatus(response, 201);
  return { id: response.string("data.id"), key: response.string("data.key") };
}

/** Sends a GET with X-API-Key. */
async function getWithApiKey(key: string, path = "/api/files"): Promise<ApiResponse> {
  return server().visitor.get(path, { "x-api-key": key });
}

describe("POST /api/users/api-keys", () => {
  test("creates a key that is shown once", async () => {
    const account = await confirmIdentity(await server().signUp());
    const response = await account.client.post("/api/users/api-keys", { name: " backup " });
    expectStatus(response, 201);
    const key = response.string("data.key");
    expect(key).toMatch(/^lk_[A-Za-z0-9_-]{32,}$/);
    expect(response.at("data")).toEqual({
      id: response.string("data.id"),
      name: "backup",
      key,
      prefix: key.slice(0, 9),
      scopes: ["files:read", "files:write"],
      createdAt: expect.stringMatching(timestampPattern),
      lastUsedAt: null,
      expiresAt: null,
    });
    const list = await account.client.get("/api/users/api-keys");
    expect(list.strings("data.apiKeys", "id")).toEqual([response.string("data.id")]);
    expect(list.text).not.toContain(key);
    expect(list.list("data.apiKeys")[0]).not.toHaveProperty("key");
  });

  test("stores no key in the data directory", async () => {
    await withServer({}, async (own) => {
      const { client } = await confirmIdentity(await own.signUp());
      const key = (await client.post("/api/users/api-keys", { name: "secret" })).string("data.key");
      await own.stop();
      for (const name of ["larder.db", "larder.db-wal"]) {
        const file = Bun.file(`${own.dataDir}/${name}`);
        if (await file.exists()) expect(Buffer.from(await file.arrayBuffer()).includes(key.slice(12))).toBe(false);
      }
    });
  });

  test("accepts scopes and an expiry", async () => {
    const account = await confirmIdentity(await server().signUp());
    const expiresAt = "2999-01-02T03:04:05.678Z";
    const response = await account.client.post("/api/users/api-keys", {
      name: "reader",
      scopes: ["shares", "files:read", "files:read"],
      expiresAt,
    });
    expectStatus(response, 201);
    expect(response.at("data.scopes")).toEqual(["files:read", "shares"]);
    expect(response.at("data.expiresAt")).toBe(expiresAt);
    expectStatus(await account.client.post("/api/users/api-keys", { name: "no end", expiresAt: null }), 201);
  });

  test.each([
    ["no name", {}, "name"],
    ["an empty name", { name: " " }, "name"],
    ["a name with a control character", { name: "a\u0007b" }, "name"],
    ["a long name", { name: "x".repeat(101) }, "name"],
    ["an unknown scope", { name: "x", scopes: ["everything"] }, "scopes.0"],
    ["no scope at all", { name: "x", scopes: [] }, "scopes"],
    ["scopes as text", { name: "x", scopes: "files:read" }, "scopes"],
    ["an expiry in the past", { name: "x", expiresAt: "2020-01-01T00:00:00.000Z" }, "expiresAt"],
    ["an invalid expiry", { name: "x", expiresAt: "tomorrow" }, "expiresAt"],
    ["an expiry as a number", { name: "x", expiresAt: 4_000_000_000 }, "expiresAt"],
  ])("rejects %s", async (_what, body, field) => {
    const { client } = await confirmIdentity(await server().signUp());
    expectError(await client.post("/api/users/api-keys", body), 400, "invalid_field", field);
    expect((await client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
  });

  test("grants the scope admin only to administrators", async () => {
    const { client } = await confirmIdentity(await server().signUp());
    expectError(await client.post("/api/users/api-keys", { name: "x", scopes: ["admin"] }), 403, "role");
    await createKey(await confirmIdentity(await server().addUser(["--admin"])), { scopes: ["admin"] });
  });

  test("creates at most 100", async () => {
    const account = await confirmIdentity(await server().signUp());
    const first = await createKey(account);
    for (let i = 1; i < 100; i++) await createKey(account);
    expectError(await account.client.post("/api/users/api-keys", { name: "x" }), 400, "invalid_request");
    expectStatus(await account.client.delete(`/api/users/api-keys/${first.id}`), 200);
    await createKey(account);
  });

  test("notifies the account's devices", async () => {
    const account = await confirmIdentity(await server().signUp());
    const phone = await registerDevice(server(), account);
    const { id } = await createKey(account, { name: "nightly" });
    const notifications = (await phone.client.get("/api/mobile/notifications")).list("data.notifications");
    expect(notifications).toContainEqual(
      expect.objectContaining({
        category: "security",
        data: expect.objectContaining({ event: "security.api_key_created", keyId: id }),
      }),
    );
  });

  test("is not for a viewer, whose earlier key reads but changes nothing", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { id, key } = await createKey(account);
    await server().change(account.id, { role: "viewer" });
    expectError(await account.client.post("/api/users/api-keys", { name: "one more" }), 403, "role");
    expectStatus(await getWithApiKey(key), 200);
    const folder = { name: "x", path: "/" };
    expectError(await server().visitor.post("/api/files/folders", folder, { "x-api-key": key }), 403, "role");
    expectStatus(await account.client.delete(`/api/users/api-keys/${id}`), 200);
  });

  test("rejects a name that is not text", async () => {
    const { client } = await confirmIdentity(await server().signUp());
    for (const name of ["", " ", "a\nb", "\ud800", "x".repeat(101)]) {
      expectError(await client.post("/api/users/api-keys", { name }), 400, "invalid_field", "name");
    }
  });
});

describe("a key", () => {
  test("works as a bearer token and as X-API-Key", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { key } = await createKey(account);
    const id = await account.client.storedId("content");
    for (const headers of [{ authorization: `Bearer ${key}` }, { "x-api-key": key }]) {
      const response = await server().visitor.get(`/api/files/${id}/download`, headers);
      expectStatus(response, 200);
      expect(response.text).toBe("content");
      expectStatus(await server().visitor.upload("more", { headers }), 201);
    }
  });

  test("never works in the query or in the cookie", async () => {
    const { key } = await createKey(await confirmIdentity(await server().signUp()));
    for (const query of [`api_key=${key}`, `key=${key}`, `access_token=${key}`]) {
      expectError(await server().visitor.get(`/api/files?${query}`), 401, "missing_token");
    }
    const response = await server().visitor.get("/api/files", { cookie: `larder_session=${key}` });
    expectError(response, 401, "invalid_token");
  });

  test("yields to an Authorization header, and takes precedence over the cookie", async () => {
    const [a, b] = [await confirmIdentity(await server().signUp()), await confirmIdentity(await server().signUp())];
    const { key } = await createKey(a);
    const both = await b.client.get("/api/auth/session", { "x-api-key": key });
    expect(both.at("user.id")).toBe(b.id);
    const cookie = `larder_session=${b.token}`;
    const overCookie = await server().visitor.get("/api/auth/session", { "x-api-key": key, cookie });
    expect(overCookie.at("user.id")).toBe(a.id);
    // Other sites cannot send this header, so it needs no CSRF check.
    const headers = { "x-api-key": key, cookie };
    expectStatus(await server().visitor.post("/api/files/folders", { name: "x", path: "/" }, headers), 201);
    // Other valid credentials do not make up for an invalid key.
    expectError(await server().visitor.get("/api/files", { "x-api-key": "lk_bad", cookie }), 401, "invalid_token");
    expectError(await server().visitor.get("/api/files", { "x-api-key": b.token }), 401, "invalid_token");
  });

  test("is 401 if altered, cut or malformed", async () => {
    const { key } = await createKey(await confirmIdentity(await server().signUp()));
    const last = key.endsWith("A") ? "B" : "A";
    for (const bad of [`${key}x`, key.slice(0, -1), `${key.slice(0, -1)}${last}`, key.toUpperCase(), "lk_", "lk_%00"]) {
      expectError(await getWithApiKey(bad), 401, "invalid_token");
      expectError(await server().visitor.get("/api/files", { authorization: `Bearer ${bad}` }), 401, "invalid_token");
    }
  });

  test("shows itself in the session", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { id, key } = await createKey(account, { scopes: ["files:read"], expiresAt: "2999-01-01T00:00:00.000Z" });
    const response = await getWithApiKey(key, "/api/auth/session");
    expectStatus(response, 200);
    expect(response.at("user.id")).toBe(account.id);
    expect(response.at("session")).toEqual({
      id,
      kind: "key",
      createdAt: expect.stringMatching(timestampPattern),
      expiresAt: "2999-01-01T00:00:00.000Z",
      scopes: ["files:read"],
    });
  });

  test("shows when it was last used", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { key } = await createKey(account);
    expectStatus(await getWithApiKey(key), 200);
    await eventually("the key shows its last use", async () => {
      const [entry] = (await account.client.get("/api/users/api-keys")).list("data.apiKeys");
      return typeof Object(entry)["lastUsedAt"] === "string";
    });
  });

  test("survives a password change and a sign-out everywhere", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { key } = await createKey(account);
    const change = { currentPassword: account.password, newPassword: "another long password" };
    expectStatus(await account.client.put("/api/users/profile", change), 200);
    expectStatus(await getWithApiKey(key), 200);
    expectStatus(await account.client.post("/api/auth/signout", { everywhere: true }), 200);
    expectStatus(await getWithApiKey(key), 200);
  });

  test("counts toward its user's rate limits in every header", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
      const { client } = await confirmIdentity(await own.signUp());
      const key = (await client.post("/api/users/api-keys", { name: "x" })).string("data.key");
      const before = (await client.get("/api/files")).header("x-ratelimit-remaining");
      await own.visitor.get("/api/files", { "x-api-key": key });
      await own.visitor.get("/api/files", { authorization: `Bearer ${key}` });
      const after = (await client.get("/api/files")).header("x-ratelimit-remaining");
      expect(Number(before) - Number(after)).toBe(3);
    });
  });

  test("of an administrator opens /metrics only with the scope admin", async () => {
    const admin = await confirmIdentity(await server().addUser(["--admin"]));
    const forwarded = { "x-forwarded-for": "192.0.2.1" };
    const { key } = await createKey(admin, { scopes: ["admin"] });
    expectStatus(await server().visitor.get("/metrics", { "x-api-key": key, ...forwarded }), 200);
    const reader = await createKey(admin);
    expectError(await server().visitor.get("/metrics", { "x-api-key": reader.key, ...forwarded }), 403, "role");
  });
});

describe("DELETE /api/users/api-keys/{id}", () => {
  test("ends the key at once", async () => {
    const account = await confirmIdentity(await server().signUp());
    const [one, other] = [await createKey(account), await createKey(account)];
    expectStatus(await getWithApiKey(one.key), 200);
    expectStatus(await account.client.delete(`/api/users/api-keys/${one.id}`), 200);
    expectError(await getWithApiKey(one.key), 401, "revoked_token");
    expectStatus(await getWithApiKey(other.key), 200);
    expect((await account.client.get("/api/users/api-keys")).strings("data.apiKeys", "id")).toEqual([other.id]);
    expectError(await account.client.delete(`/api/users/api-keys/${one.id}`), 404, "not_found");
  });

  test("is 404 for another user's keys", async () => {
    const [a, b] = [await confirmIdentity(await server().signUp()), await confirmIdentity(await server().signUp())];
    const { id, key } = await createKey(a);
    expectError(await b.client.delete(`/api/users/api-keys/${id}`), 404, "not_found");
    expectError(await b.client.delete("/api/users/api-keys/key_nothing"), 404, "not_found");
    expect((await b.client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
    expectStatus(await getWithApiKey(key), 200);
  });
});

test("a key ends with its revocation and with its account on the command line", async () => {
  const account = await confirmIdentity(await server().signUp());
  const { key } = await createKey(account);
  expectStatus(await getWithApiKey(key), 200);
  await server().change(account.id, { disabled: true });
  expectError(await getWithApiKey(key), 401, "revoked_token");
  await server().change(account.id, { disabled: false });
  expectStatus(await getWithApiKey(key), 200);
});

test("creating, listing and deleting keys requires a sign-in", async () => {
  expectError(await server().visitor.post("/api/users/api-keys", { name: "x" }), 401, "missing_token");
  expectError(await server().visitor.get("/api/users/api-keys"), 401, "missing_token");
  expectError(await server().visitor.delete("/api/users/api-keys/key_x"), 401, "missing_token");
  const cookie = `larder_session=${(await confirmIdentity(await server().signUp())).token}`;
  expectError(await new Client(server()).post("/api/users/api-keys", { name: "x" }, { cookie }), 403, "csrf");
});

testAllResponses(server);
