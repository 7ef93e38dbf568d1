import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { Account, ApiResponse } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer, type TestServer } from "../support/server.ts";

const PROGRAM = "Mozilla/5.0 (Linux) mirall/3.7.3 (Nextcloud)";
const server = sharedServer({ hasAccounts: true });

/** A sign-in of a program that has begun. */
interface Flow {
  readonly pollToken: string;
  readonly pollPath: string;
  readonly token: string;
}

/** The files of the database, as they are now. */
async function readDatabase({ dataDir }: TestServer): Promise<Buffer> {
  const files = ["larder.db", "larder.db-wal"].map((name) => Bun.file(`${dataDir}/${name}`).bytes());
  return Buffer.concat(await Promise.all(files));
}

function begin(own: TestServer, path = "/index.php/login/v2"): Promise<ApiResponse> {
  return own.visitor.request("POST", path, { headers: { "user-agent": PROGRAM } });
}

async function beginFlow(own: TestServer, path?: string): Promise<Flow> {
  const begun = await begin(own, path);
  expectStatus(begun, 200);
  const login = begun.string("login");
  expect(login).toStartWith(`${own.url}/connect/`);
  const endpoint = begun.string("poll.endpoint");
  expect(endpoint).toStartWith(own.url);
  return {
    pollToken: begun.string("poll.token"),
    pollPath: endpoint.slice(own.url.length),
    token: login.slice(`${own.url}/connect/`.length),
  };
}

function poll(own: TestServer, { pollPath, pollToken }: Pick<Flow, "pollPath" | "pollToken">): Promise<ApiResponse> {
  return own.visitor.request("POST", pollPath, {
    body: `token=${encodeURIComponent(pollToken)}`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
}

/** The older sign-in: the token in the address that the program is sent to. */
async function beginOlderFlow(own: TestServer, path = "/index.php/login/flow"): Promise<string> {
  const headers = { "user-agent": PROGRAM, "ocs-apirequest": "true" };
  const begun = await own.visitor.request("GET", path, { headers });
  expectStatus(begun, 303);
  const location = begun.header("location");
  expect(location).toStartWith(`${own.url}/connect/`);
  return location.slice(`${own.url}/connect/`.length);
}

function cloudUser(own: TestServer, loginName: string, password: string): Promise<ApiResponse> {
  const authorization = `Basic ${Buffer.from(`${loginName}:${password}`).toString("base64")}`;
  return own.visitor.get("/ocs/v2.php/cloud/user?format=json", { authorization });
}

function agree({ client, password }: Account, token: string, body: object = {}): Promise<ApiResponse> {
  return client.post(`/api/users/login-flows/${token}`, { currentPassword: password, ...body });
}

describe("login flow v2", () => {
  test("gives the program an app password once the person agreed, and only once", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expectStatus(await poll(server(), flow), 404);
    const shown = await account.client.get(`/api/users/login-flows/${flow.token}`);
    expect(shown.at("data")).toEqual({
      program: PROGRAM,
      address: "127.0.0.1",
      createdAt: expect.stringMatching(timestampPattern),
      expiresAt: expect.stringMatching(timestampPattern),
    });
    const minutes = (Date.parse(shown.string("data.expiresAt")) - Date.parse(shown.string("data.createdAt"))) / 60_000;
    expect(minutes).toBe(20);

    const agreed = await agree(account, flow.token, { name: "My laptop" });
    expectStatus(agreed, 200);
    expect(agreed.at("data")).toEqual({ redirect: null });

    const results = await Promise.all([poll(server(), flow), poll(server(), flow), poll(server(), flow)]);
    expect(sortedStatuses(results)).toEqual([200, 404, 404]);
    const result = results.find(({ status }) => status === 200);
    expect(result?.at("server")).toBe(server().url);
    expect(result?.at("loginName")).toBe(account.email);
    const password = result?.string("appPassword") ?? "";
    expect((await cloudUser(server(), account.email, password)).status).toBe(200);
    const list = await account.client.get("/api/users/app-passwords");
    expect(list.strings("data.appPasswords", "name")).toEqual(["My laptop"]);
    expectError(await account.client.get(`/api/users/login-flows/${flow.token}`), 404, "not_found");
  });

  test("also works without /index.php, and with a body in JSON", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server(), "/login/v2");
    expectStatus(await agree(account, flow.token, { access: "read" }), 200);
    const result = await server().visitor.post("/login/v2/poll", { token: flow.pollToken });
    expectStatus(result, 200);
    const list = await account.client.get("/api/users/app-passwords");
    expect(list.at("data.appPasswords.0.access")).toBe("read");
    expect(list.at("data.appPasswords.0.name")).toBe(PROGRAM);
  });

  test("the iOS client sends the token in the query, without a body", async () => {
    const account = await server().signUp();
    const { token, pollPath, pollToken } = await beginFlow(server());
    const ask = () => server().visitor.request("POST", `${pollPath}?token=${pollToken}`);
    expectStatus(await ask(), 404);
    expectStatus(await agree(account, token), 200);
    const result = await ask();
    expectStatus(result, 200);
    expect(result.string("loginName")).toBe(account.email);
    expectStatus(await ask(), 404);
  });

  test("the tokens differ, and one does not replace the other", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expect(flow.token).not.toBe(flow.pollToken);
    expect(flow.token).toMatch(/^[\w-]{22,}$/);
    expectError(await account.client.get(`/api/users/login-flows/${flow.pollToken}`), 404, "not_found");
    expectError(await agree(account, flow.pollToken), 404, "not_found");
    expectStatus(await agree(account, flow.token), 200);
    expectStatus(await poll(server(), { ...flow, pollToken: flow.token }), 404);
    expectStatus(await poll(server(), flow), 200);
  });

  test("needs proof, and a session of the person", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    const path = `/api/users/login-flows/${flow.token}`;
    expectError(await account.client.post(path, {}), 401, "password_required");
    expectError(await account.client.post(path, { currentPassword: "wrong password" }), 401, "bad_credentials");
    expectStatus(await server().visitor.post(path, { currentPassword: account.password }), 401);
    expectStatus(await server().visitor.get(path), 401);
    expectStatus(await poll(server(), flow), 404);
    expectStatus(await (await confirmIdentity(account)).client.post(path, {}), 200);
    expectStatus(await poll(server(), flow), 200);
  });

  test("a denied sign-in ends", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expectStatus(await account.client.delete(`/api/users/login-flows/${flow.token}`), 200);
    expectError(await agree(account, flow.token), 404, "not_found");
    expectStatus(await poll(server(), flow), 404);
    expectError(await account.client.delete(`/api/users/login-flows/${flow.token}`), 404, "not_found");
  });

  test("only the first person can agree", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const flow = await beginFlow(server());
    const responses = await Promise.all([agree(account, flow.token), agree(other, flow.token)]);
    expect(sortedStatuses(responses)).toEqual([200, 404]);
    const winner = responses[0]?.status === 200 ? account : other;
    expect((await poll(server(), flow)).string("loginName")).toBe(winner.email);
  });

  test("wrong choices are rejected while the person can correct them", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expectError(await agree(account, flow.token, { folder: "/missing" }), 404, "not_found");
    expectError(await agree(account, flow.token, { name: "" }), 400, "invalid_field", "name");
    expectError(await agree(account, flow.token, { access: "all" }), 400, "invalid_field");
    await account.client.post("/api/files/folders", { name: "Phone", parentPath: "/" });
    expectStatus(await agree(account, flow.token, { folder: "/Phone" }), 200);
    expectStatus(await poll(server(), flow), 200);
    const list = await account.client.get("/api/users/app-passwords");
    expect(list.at("data.appPasswords.0.folder")).toBe("/Phone");
  });

  test("nobody agrees who has too many app passwords already", async () => {
    const account = await confirmIdentity(await server().signUp());
    const path = "/api/users/app-passwords";
    const first = await account.client.post(path, { name: "x" });
    for (let count = 1; count < 50; count++) expectStatus(await account.client.post(path, { name: "x" }), 201);
    const flow = await beginFlow(server());
    expectError(await agree(account, flow.token), 400, "invalid_request");
    expectStatus(await account.client.delete(`${path}/${first.string("data.id")}`), 200);
    expectStatus(await agree(account, flow.token), 200);
    expectStatus(await poll(server(), flow), 200);
  });

  test("the audit log names the app password, also when the program ends it", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expectStatus(await agree(account, flow.token), 200);
    const password = (await poll(server(), flow)).string("appPassword");
    expectStatus(await agree(account, await beginOlderFlow(server())), 200);
    const made = await account.client.get("/api/users/app-passwords");
    const [older, newer] = made.strings("data.appPasswords", "id");
    const authorization = `Basic ${Buffer.from(`${account.email}:${password}`).toString("base64")}`;
    const end = { headers: { authorization } };
    expectStatus(await server().visitor.request("DELETE", "/ocs/v2.php/core/apppassword", end), 200);
    const admin = await server().addUser(["--admin"]);
    const audit = await admin.client.get(`/api/admin/audit?limit=100&user=${account.id}`);
    const entries = audit.list("data.entries").map((entry) => Object(entry));
    for (const [action, id] of [
      ["app_password.create", older],
      ["app_password.create", newer],
      ["app_password.delete", newer],
    ]) {
      expect(entries).toContainEqual(expect.objectContaining({ action, target: { type: "app_password", id } }));
    }
  });

  test("a new password ends a sign-in that was agreed to", async () => {
    const account = await server().signUp();
    const flow = await beginFlow(server());
    expectStatus(await agree(account, flow.token), 200);
    const changes = { currentPassword: account.password, newPassword: "another long password" };
    expectStatus(await account.client.put("/api/users/profile", changes), 200);
    expectStatus(await poll(server(), flow), 404);
  });

  test("the data directory contains neither a token nor the app password", async () => {
    await withServer({}, async (own) => {
      const account = await own.signUp();
      const flow = await beginFlow(own);
      expectStatus(await agree(account, flow.token), 200);
      const waiting = await readDatabase(own);
      const result = await poll(own, flow);
      const stored = Buffer.concat([waiting, await readDatabase(own)]);
      for (const secret of [flow.token, flow.pollToken, result.string("appPassword")]) {
        expect(stored.includes(secret)).toBeFalse();
      }
    });
  });

  test("at most ten sign-ins of an address wait, ask without limit, expire, and survive a restart", async () => {
    const env = { LARDER_RATE_LIMITS: "", LARDER_PLANS_FREE_LIMIT_GENERAL: "20" };
    await withServer({ env }, async (own) => {
      const account = await own.signUp();
      const flows: Flow[] = [];
      for (let number = 0; number < 10; number++) flows.push(await beginFlow(own));
      expectStatus(await begin(own), 503);
      await own.stop();
      const sqlite = new Database(`${own.dataDir}/larder.db`);
      sqlite.run("UPDATE login_flows SET expires_at = 1 WHERE id = (SELECT min(id) FROM login_flows)");
      sqlite.close();
      await own.start();
      const [expired, flow] = flows;
      if (expired === undefined || flow === undefined) throw new Error("no sign-in was begun");
      expectError(await account.client.get(`/api/users/login-flows/${expired.token}`), 404, "not_found");
      expectError(await agree(account, expired.token), 404, "not_found");
      expectStatus(await poll(own, expired), 404);
      await beginFlow(own);
      expectStatus(await begin(own), 503);
      // Programs ask each second, and several can wait at one address.
      for (let count = 0; count < 30; count++) expectStatus(await poll(own, flow), 404);
      expectStatus(await agree(account, flow.token), 200);
      expectStatus(await poll(own, flow), 200);
      await beginFlow(own);
      expectStatus(await begin(own), 503);
    });
  });

  test("a page of another site begins nothing", async () => {
    for (const path of ["/login/v2", "/index.php/login/v2"]) {
      const headers = { "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" };
      expectStatus(await server().visitor.request("POST", path, { headers }), 403);
    }
  });

  test("wrong bodies are rejected", async () => {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const send = (body: string) => server().visitor.request("POST", "/login/v2/poll", { body, headers: type });
    expectStatus(await send("other=1"), 400);
    expectStatus(await send(`token=${"a".repeat(10_000)}`), 413);
    expectStatus(await send("token="), 404);
    expectStatus(await send("token=%00%ff"), 404);
  });
});

describe("the older login flow", () => {
  test("the page gets the address that hands the app password to the program", async () => {
    const account = await server().signUp({ email: `with+plus.${crypto.randomUUID()}@example.com` });
    const token = await beginOlderFlow(server());
    const agreed = await agree(account, token);
    expectStatus(agreed, 200);
    const redirect = agreed.string("data.redirect");
    // As the Android client reads it: parts separated by &, each decoded after its name.
    const parts = new Map(
      redirect
        .slice("nc://login/".length)
        .split("&")
        .map(
          (part) => [part.slice(0, part.indexOf(":")), decodeURIComponent(part.slice(part.indexOf(":") + 1))] as const,
        ),
    );
    expect(redirect).toStartWith("nc://login/server:");
    expect(parts.get("server")).toBe(server().url);
    expect(parts.get("user")).toBe(account.email);
    expect(redirect).not.toContain("+");
    expect((await cloudUser(server(), account.email, parts.get("password") ?? "")).status).toBe(200);
    expectError(await agree(account, token), 404, "not_found");
  });

  test("a link of another site begins nothing", async () => {
    expectStatus(await server().visitor.get("/index.php/login/flow"), 403);
    expectStatus(await server().visitor.get("/login/flow"), 403);
    expect(await beginOlderFlow(server(), "/login/flow")).toMatch(/^[\w-]{22,}$/);
  });

  test("the server in the result is that of the page, not one that the request for it named", async () => {
    const account = await server().signUp();
    const headers = { "ocs-apirequest": "true", host: "evil.example" };
    const begun = await server().visitor.request("GET", "/login/flow", { headers });
    const token = begun.header("location").split("/connect/")[1] ?? "";
    const agreed = await agree(account, token);
    expect(agreed.string("data.redirect")).toStartWith(`nc://login/server:${server().url}&`);
  });
});

testAllResponses(server);
