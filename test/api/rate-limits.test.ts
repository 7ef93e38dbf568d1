import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Account, type ApiResponse, Client, freshEmail, randomContent } from "../support/client.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { clockFails, createMovableClock } from "../support/faults/preload.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { dispose, sharedServer, startServer, type TestServer, withServer } from "../support/server.ts";

const unlimited = 9_007_199_254_740_991;
/** Allows requests from any address: the server trusts the forwarding header of this machine. */
const anywhere = { LARDER_TRUSTED_PROXIES: "127.0.0.1" };
/** The default limits of the API. */
const env = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "free", ...anywhere };
const server = sharedServer({ env });
const password = "correct horse battery";
const forwardedFor = (address: string) => ({ "x-forwarded-for": address });
let addresses = 0;

/** Headers with an address that no other test uses, so that its windows are empty. */
function fromFreshAddress(): Record<string, string> {
  addresses += 1;
  return forwardedFor(`203.0.${addresses >> 8}.${addresses % 256}`);
}

/** Creates an account from a new address, because each may create three an hour. */
async function signUp(target: TestServer = server()): Promise<Account> {
  const email = freshEmail();
  const response = await target.visitor.post(
    "/api/auth/signup",
    { email, password, name: "Test User" },
    fromFreshAddress(),
  );
  expectStatus(response, 201);
  const token = response.string("token");
  return {
    id: response.string("user.id"),
    email,
    password,
    name: "Test User",
    token,
    client: new Client(target, token),
  };
}

/** Gives all accounts or links a password hash that is cheap to check, because these tests only count attempts. */
async function makeTriesCheap({ dataDir }: TestServer, table: "users" | "shares", given: string): Promise<void> {
  const hash = await Bun.password.hash(given, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  const db = new Database(join(dataDir, "larder.db"));
  db.run("PRAGMA busy_timeout = 10000");
  db.run(`UPDATE ${table} SET password_hash = ? WHERE password_hash IS NOT NULL`, [hash]);
  db.close();
}

let admin: Account;
beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

/** Creates an account on another plan than free. */
async function signUpOn(plan: string): Promise<Account> {
  const account = await signUp();
  expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, { plan }), 200);
  return account;
}

interface LimitHeaders {
  resource: string;
  limit: number;
  remaining: number;
  window: number;
}

function readLimitHeaders(response: ApiResponse): LimitHeaders {
  return {
    resource: response.header("x-ratelimit-resource"),
    limit: Number(response.header("x-ratelimit-limit")),
    remaining: Number(response.header("x-ratelimit-remaining")),
    window: Number(response.header("x-ratelimit-window")),
  };
}

describe("headers", () => {
  test("are on every response, each with its category", async () => {
    const { client } = await signUp();
    const id = await client.storedId("x");
    const folder = await client.folderId("docs");
    const download = `/api/files/${id}/download`;
    const requests: [string, string, string, number, number][] = [
      ["GET", "/api/auth/session", "general", 1000, 3600],
      ["GET", "/api/nothing/here", "general", 1000, 3600],
      ["GET", "/api/users/profile", "profile", 100, 3600],
      ["PUT", "/api/users/profile", "profile", 100, 3600],
      ["GET", "/api/users/usage", "usage", 50, 3600],
      ["GET", "/api/users/usage/rate-limits", "usage", 50, 3600],
      ["GET", "/api/files", "listing", 100, 3600],
      ["GET", `/api/files/${id}`, "operations", 50, 3600],
      ["PUT", `/api/files/${id}`, "operations", 50, 3600],
      ["GET", `/api/files/${id}/checksum`, "operations", 50, 3600],
      ["POST", "/api/files/folders", "operations", 50, 3600],
      ["PUT", `/api/files/folders/${folder}`, "operations", 50, 3600],
      ["POST", "/api/files/move", "operations", 50, 3600],
      ["POST", "/api/files/copy", "operations", 50, 3600],
      ["DELETE", "/api/files/file_00000000000000000000", "operations", 50, 3600],
      ["POST", "/api/files/upload", "uploads", 10, 3600],
      ["PUT", `/api/files/${id}/content`, "uploads", 10, 3600],
      ["GET", download, "downloads", 50, 3600],
      ["GET", `${download}?thumbnail=true`, "general", 1000, 3600],
      ["POST", "/api/auth/refresh", "refresh", 10, 3600],
    ];
    for (const [method, path, resource, limit, window] of requests) {
      const response = await client.request(method, path, method === "GET" ? {} : { json: { name: "x" } });
      const { resource: r, limit: l, window: w } = readLimitHeaders(response);
      expect({ method, path, resource: r, limit: l, window: w }).toEqual({ method, path, resource, limit, window });
      const reset = Number(response.header("x-ratelimit-reset"));
      const now = Date.now() / 1000;
      expect(reset).toBeGreaterThan(now - 2);
      expect(reset).toBeLessThanOrEqual(now + window + 2);
      expect(response.headers.get("retry-after")).toBeNull();
    }
    const credentials = { email: freshEmail(), password };
    const signin = await server().visitor.post("/api/auth/signin", credentials, fromFreshAddress());
    expect(readLimitHeaders(signin)).toMatchObject({ resource: "signin", limit: 5, window: 60 });
    const signup = await server().visitor.post("/api/auth/signup", {}, fromFreshAddress());
    expect(readLimitHeaders(signup)).toMatchObject({ resource: "signup", limit: 3, window: 3600 });
    const nobody = await server().visitor.get("/api/files");
    expect(readLimitHeaders(nobody)).toMatchObject({ limit: expect.any(Number) });
  });

  test("count down by one", async () => {
    const { client } = await signUp();
    const remaining: number[] = [];
    for (let index = 0; index < 4; index++)
      remaining.push(readLimitHeaders(await client.get("/api/users/profile")).remaining);
    expect(remaining).toEqual([99, 98, 97, 96]);
  });

  test("are absent outside /api", async () => {
    for (const path of ["/health/live", "/openapi.json", "/s/nothing"]) {
      const response = await server().visitor.get(path);
      expect({ path, header: response.headers.get("x-ratelimit-limit") }).toEqual({ path, header: null });
    }
  });

  test.each([
    [
      "pro",
      { uploads: 100, downloads: 500, listing: 1000, operations: 500, profile: 1000, usage: 500, general: 10_000 },
    ],
    [
      "enterprise",
      {
        uploads: 1000,
        downloads: unlimited,
        listing: 10_000,
        operations: 5000,
        profile: 10_000,
        usage: 5000,
        general: 100_000,
      },
    ],
  ])("show the limits of the plan %s", async (plan, limits) => {
    const { client } = await signUpOn(plan);
    const stored = await client.stored("x");
    const id = stored.string("data.id");
    const responses = [
      stored,
      await client.get(`/api/files/${id}/download`),
      await client.get("/api/files"),
      await client.get(`/api/files/${id}`),
      await client.get("/api/users/profile"),
      await client.get("/api/users/usage"),
      await client.get("/api/auth/session"),
    ];
    const shown = Object.fromEntries(
      responses.map((response) => [readLimitHeaders(response).resource, readLimitHeaders(response).limit]),
    );
    expect(shown).toEqual(limits);
    if (plan === "enterprise") expect(readLimitHeaders(responses[1] ?? stored).remaining).toBe(unlimited);
  });
});

describe("the limit", () => {
  test("is exact, and beyond it responses are 429 with Retry-After and details", async () => {
    const { client } = await signUp();
    for (let index = 0; index < 10; index++) {
      const response = await client.upload("x");
      expectStatus(response, 201);
      expect(readLimitHeaders(response)).toEqual({
        resource: "uploads",
        limit: 10,
        remaining: 9 - index,
        window: 3600,
      });
    }
    const before = Date.now() / 1000;
    const rejected = await client.upload("x");
    const after = Date.now() / 1000;
    expectError(rejected, 429);
    const retryAfter = Number(rejected.header("retry-after"));
    expect(rejected.at("error.code")).toBe("RATE_LIMIT_EXCEEDED");
    expect(rejected.at("error.details")).toMatchObject({ resource: "uploads", limit: 10, retryAfter });
    expect(readLimitHeaders(rejected)).toEqual({ resource: "uploads", limit: 10, remaining: 0, window: 3600 });
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(3600);
    const respondedAt = Number(rejected.header("x-ratelimit-reset")) - retryAfter;
    expect(respondedAt).toBeGreaterThanOrEqual(before - 2);
    expect(respondedAt).toBeLessThanOrEqual(after + 2);
    expectStatus(await client.get("/api/files"), 200);
    expect(await client.names()).toHaveLength(10);
  });

  test("allows exactly as many of many concurrent requests", async () => {
    const { client } = await signUp();
    const responses = await Promise.all(
      Array.from({ length: 25 }, (_, index) => client.upload("x", { name: `${index}` })),
    );
    expect(sortedStatuses(responses).filter((status) => status === 201)).toHaveLength(10);
    expect(sortedStatuses(responses).filter((status) => status === 429)).toHaveLength(15);
    expect(await client.names()).toHaveLength(10);
  });

  test("applies to the user with every token", async () => {
    const { client, email } = await signUp();
    for (let index = 0; index < 9; index++) await client.stored("x");
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    const headers = { authorization: `Bearer ${other.string("token")}` };
    expectStatus(await server().visitor.upload("x", { headers }), 201);
    expectError(await server().visitor.upload("x", { headers }), 429);
    expectError(await client.upload("x"), 429);
    const stranger = await signUp();
    expectStatus(await stranger.client.upload("x"), 201);
  });

  test("rejects an upload before reading its body", async () => {
    const { client } = await signUp();
    const id = await client.storedId("x");
    for (let index = 0; index < 9; index++) expectStatus(await client.putContent(id, `${index}`), 200);
    expectError(await client.putContent(id, randomContent(1_000_000)), 429);
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("8");
  });

  test("of downloads counts further ranges and thumbnails as general", async () => {
    const { client } = await signUp();
    const id = await client.storedId("0123456789");
    const path = `/api/files/${id}/download`;
    const first = await client.get(path, { range: "bytes=0-1" });
    expect(readLimitHeaders(first)).toMatchObject({ resource: "downloads", remaining: 49 });
    const further = await client.get(path, { range: "bytes=2-" });
    expect(readLimitHeaders(further)).toMatchObject({ resource: "general" });
    const whole = await client.get(path);
    expect(readLimitHeaders(whole)).toMatchObject({ resource: "downloads", remaining: 48 });
    expect(readLimitHeaders(await client.get(`${path}?thumbnail=small`)).resource).toBe("general");
    const other = await client.storedId("other");
    expect(readLimitHeaders(await client.get(`/api/files/${other}/download`, { range: "bytes=0-1" })).resource).toBe(
      "downloads",
    );
  });

  test("of downloads applies to every way to the whole content", async () => {
    // ?thumbnail=true on a file without one, or a meaningless Range, once returned the file 1,000 times, not 50.
    await withServer({ env: { ...env, LARDER_PLANS_FREE_LIMIT_DOWNLOADS: "3" } }, async (own) => {
      const content = "no picture";
      const ways: [string, Record<string, string>][] = [
        ["?thumbnail=true", {}],
        ["", { range: "junk" }],
        ["", { range: `bytes=${Array.from({ length: 17 }, () => "0-0").join()}` }],
      ];
      for (const [query, headers] of ways) {
        const { client } = await signUp(own);
        const id = await client.storedId(content);
        const responses: ApiResponse[] = [];
        for (let index = 0; index < 4; index++)
          responses.push(await client.get(`/api/files/${id}/download${query}`, headers));
        const statuses = responses.map((response) => response.status);
        expect({ query, headers, statuses }).toEqual({ query, headers, statuses: [200, 200, 200, 429] });
        expect(responses[2]?.text).toBe(content);
        expect(responses[3]?.at("error.details.resource")).toBe("downloads");
      }
      // Anonymous downloads by link share one window per address.
      const { client } = await signUp(own);
      const id = await client.storedId(content, { fields: { isPublic: "true" } });
      const page = new URL((await client.get(`/api/files/${id}`)).string("data.shareLink")).pathname;
      const paths = [`${page}/download`, page.replace("/s/", "/api/public/") + "/download"];
      const statuses: number[] = [];
      for (const path of [...paths, ...paths]) statuses.push((await own.visitor.get(`${path}?thumbnail=true`)).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    });
  });

  test("of a new account starts unused, even after another account is erased", async () => {
    // A reused row id once kept the windows of the erased account.
    const { client, password: word } = await signUp();
    for (let index = 0; index < 4; index++) await client.stored("x");
    await client.get("/api/files");
    await client.get("/api/users/profile");
    expectStatus(await client.delete("/api/users/profile", { password: word }), 200);
    await runJob(admin.client, "reap-deleted");
    const newcomer = await signUp();
    const response = await newcomer.client.get("/api/users/usage/rate-limits");
    const used = Object.fromEntries(
      response.list("data.endpoints").map((record) => [Object(record).resource, Object(record).used]),
    );
    expect(used).toMatchObject({
      downloads: 0,
      general: 0,
      listing: 0,
      operations: 0,
      profile: 0,
      sync: 0,
      uploads: 0,
    });
    expect(readLimitHeaders(await newcomer.client.stored("x"))).toMatchObject({ resource: "uploads", remaining: 9 });
  });

  test("survives a restart", async () => {
    const { client } = await signUp();
    for (let index = 0; index < 10; index++) await client.stored("x");
    expectError(await client.upload("x"), 429);
    await server().restart();
    const response = await client.upload("x");
    expectError(response, 429);
    expect(Number(response.header("retry-after"))).toBeGreaterThan(3000);
  });
});

/** Tries to sign in. */
const signIn = (email: string, given: string, headers: Record<string, string>) =>
  server().visitor.post("/api/auth/signin", { email, password: given }, headers);

describe("sign-in", () => {
  test("allows five attempts a minute per address and account, also for unknown accounts", async () => {
    const known = await signUp();
    const address = fromFreshAddress();
    const shown: Record<string, unknown[]> = { known: [], unknown: [] };
    for (const [kind, email] of [
      ["known", known.email],
      ["unknown", freshEmail()],
    ] as const)
      for (let index = 0; index < 7; index++) {
        const response = await signIn(email, "wrong password", address);
        const { resource, limit, remaining, window } = readLimitHeaders(response);
        shown[kind]?.push([response.status, resource, limit, remaining, window]);
      }
    expect(shown["known"]).toEqual([
      [401, "signin", 5, 4, 60],
      [401, "signin", 5, 3, 60],
      [401, "signin", 5, 2, 60],
      [401, "signin", 5, 1, 60],
      [401, "signin", 5, 0, 60],
      [429, "signin", 5, 0, 60],
      [429, "signin", 5, 0, 60],
    ]);
    expect(shown["unknown"]).toEqual(shown["known"]);
  });

  test("rejects the right password too after too many wrong ones", async () => {
    const { email } = await signUp();
    const address = fromFreshAddress();
    for (let index = 0; index < 5; index++) await signIn(email, "wrong password", address);
    const response = await signIn(email, password, address);
    expectError(response, 429);
    expect(Number(response.header("retry-after"))).toBeLessThanOrEqual(60);
  });

  test("of a larger plan shows only the limits of free to wrong passwords", async () => {
    const { email } = await signUpOn("pro");
    const address = fromFreshAddress();
    // A successful sign-in counts toward the plan's limit, not toward wrong passwords.
    expectStatus(await signIn(email, password, address), 200);
    const statuses: [number, number][] = [];
    for (let index = 0; index < 6; index++) {
      const response = await signIn(email, "wrong password", address);
      statuses.push([response.status, readLimitHeaders(response).limit]);
    }
    expect(statuses).toEqual([
      [401, 5],
      [401, 5],
      [401, 5],
      [401, 5],
      [401, 5],
      [429, 5],
    ]);
  });

  test("with the right password has the limit of the account's plan", async () => {
    const { email } = await signUpOn("pro");
    await makeTriesCheap(server(), "users", password);
    const address = fromFreshAddress();
    const responses: ApiResponse[] = [];
    for (let index = 0; index < 11; index++) responses.push(await signIn(email, password, address));
    expect(responses.map((response) => response.status)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(responses.slice(0, 10).map((response) => readLimitHeaders(response).limit)).toEqual(
      Array.from({ length: 10 }, () => 10),
    );
  });

  test("allows 20 attempts a minute per address for all accounts together", async () => {
    const address = fromFreshAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 22; index++)
      statuses.push((await signIn(freshEmail(), "wrong password", address)).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
  });

  test("shares its window with wrong passwords at the profile", async () => {
    const { client, email } = await signUp();
    const address = fromFreshAddress();
    for (let index = 0; index < 5; index++) {
      const body = { newPassword: "another password", currentPassword: "wrong password" };
      expectError(await client.put("/api/users/profile", body, address), 401, "bad_credentials");
    }
    expectError(await signIn(email, password, address), 429);
  });

  test.skipIf(clockFails !== undefined)("succeeds after the time in Retry-After, and not before", async () => {
    const clock = await createMovableClock();
    await withServer({ env: { ...env, ...clock.env } }, async (own) => {
      const { email } = await signUp(own);
      const tryPassword = (given: string) =>
        own.visitor.post("/api/auth/signin", { email, password: given }, forwardedFor("198.51.100.7"));
      for (let index = 0; index < 5; index++) await tryPassword("wrong password");
      const retryAfter = Number((await tryPassword(password)).header("retry-after"));
      await clock.set(retryAfter - 10);
      expectError(await tryPassword(password), 429);
      await clock.set(retryAfter);
      expectStatus(await tryPassword(password), 200);
    });
  });
});

describe("wrong passwords", () => {
  test.each([
    ["the household preset", { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "", LARDER_PRESET: "household" }],
    ["a scale", { LARDER_RATE_LIMITS: "", LARDER_RATE_LIMIT_SCALE: "1000" }],
    ["no rate limits", { LARDER_RATE_LIMITS: "off" }],
  ])("stay limited with %s", async (name, changed) => {
    // The household preset once allowed 500 a minute, even for a link with a password of four digits.
    await withServer({ env: { ...changed, ...anywhere } }, async (own) => {
      // The household preset closes sign-up.
      const { client, email } = name === "the household preset" ? await own.addUser([]) : await signUp(own);
      const id = await client.storedId("x");
      const share = await client.post(`/api/files/${id}/shares`, { password: "4321" });
      await makeTriesCheap(own, "users", password);
      await makeTriesCheap(own, "shares", "4321");
      const path = `/api/public/${share.string("data.token")}/unlock`;
      const guesses: Record<string, () => Promise<ApiResponse>> = {
        account: () =>
          own.visitor.post("/api/auth/signin", { email, password: "wrong password" }, forwardedFor("198.51.100.1")),
        unknown: () =>
          own.visitor.post(
            "/api/auth/signin",
            { email: "x@y.org", password: "wrong password" },
            forwardedFor("198.51.100.2"),
          ),
        link: () => own.visitor.post(path, { password: "1234" }, forwardedFor("198.51.100.3")),
        page: () =>
          own.visitor.request("POST", `/s/${share.string("data.token")}/unlock`, {
            body: "password=1234",
            headers: { ...forwardedFor("198.51.100.4"), "content-type": "application/x-www-form-urlencoded" },
          }),
      };
      for (const [kind, guess] of Object.entries(guesses)) {
        const responses: ApiResponse[] = [];
        for (let index = 0; index < 6; index++) responses.push(await guess());
        const statuses = responses.map(({ status }) => status);
        expect({ kind, statuses }).toEqual({ kind, statuses: [401, 401, 401, 401, 401, 429] });
        expect(responses.slice(5).map(readLimitHeaders)).toMatchObject([{ resource: "signin", limit: 5, window: 60 }]);
      }
      const right = await own.visitor.post("/api/auth/signin", { email, password }, forwardedFor("203.0.113.9"));
      expectStatus(right, 200);
      expectStatus(await own.visitor.post(path, { password: "4321" }, forwardedFor("203.0.113.9")), 200);
    });
  });
});

describe("wrong passwords by the hour", () => {
  let own: TestServer;
  beforeAll(async () => {
    own = await startServer({ env: { ...env, LARDER_PLANS_FREE_LIMIT_SIGNIN: "1000" } });
  });
  afterAll(() => dispose(own));

  test("are limited to 50 for an address and an account", async () => {
    const { email } = await signUp(own);
    await makeTriesCheap(own, "users", password);
    const guess = () =>
      own.visitor.post("/api/auth/signin", { email, password: "wrong password" }, forwardedFor("198.51.100.1"));
    for (let index = 0; index < 50; index++) expectError(await guess(), 401, "bad_credentials");
    const rejected = await guess();
    expectError(rejected, 429);
    expect(readLimitHeaders(rejected)).toEqual({ resource: "signin", limit: 50, remaining: 0, window: 3600 });
    const retryAfter = Number(rejected.header("retry-after"));
    expect(retryAfter).toBeGreaterThan(3500);
    expect(rejected.at("error.details")).toMatchObject({ resource: "signin", limit: 50, retryAfter });
    await own.restart();
    expectError(await guess(), 429);
    expectStatus(await own.visitor.post("/api/auth/signin", { email, password }, forwardedFor("198.51.100.2")), 200);
  });

  test("of a link, from many addresses makes new addresses wait, but not those that opened it, and notifies the owner once", async () => {
    await own.restart({ env: { LARDER_RATE_LIMITS: "off" } });
    const account = await signUp(own);
    const id = await account.client.storedId("x");
    const share = await account.client.post(`/api/files/${id}/shares`, { password: "4321" });
    const path = `/api/public/${share.string("data.token")}/unlock`;
    await makeTriesCheap(own, "shares", "4321");
    const unlock = (address: string, given: string) =>
      own.visitor.post(path, { password: given }, forwardedFor(address));
    expectStatus(await unlock("203.0.113.1", "4321"), 200);
    const guesses = await Promise.all(Array.from({ length: 60 }, (_, at) => unlock(`198.51.100.${at}`, "1234")));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(50);
    const rejected = guesses.find(({ status }) => status === 429) ?? expect.unreachable();
    expectError(rejected, 429, "rate_limited");
    expect(readLimitHeaders(rejected)).toEqual({ resource: "signin", limit: 50, remaining: 0, window: 3600 });
    expect(rejected.at("error.details")).toMatchObject({ resource: "signin", limit: 50, retryAfter: 1 });
    expect(rejected.header("retry-after")).toBe("1");
    expectError(await unlock("203.0.113.1", "1234"), 401, "bad_credentials");
    expectStatus(await unlock("203.0.113.1", "4321"), 200);
    // Both survive a restart: the addresses that opened it, and the number of wrong passwords.
    await own.restart();
    expectError(await unlock("198.51.100.99", "4321"), 429);
    expectStatus(await unlock("203.0.113.1", "4321"), 200);
    const phone = await registerDevice(own, account);
    const inbox = (await phone.client.get("/api/mobile/notifications")).list("data.notifications");
    const notices = inbox.filter((message) => Object(message).data?.event === "share.guessed");
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatchObject({ category: "security", title: "Wrong passwords for a public link" });
  });
});

describe("sign-up and refresh", () => {
  test("sign-up is limited to three an hour per address", async () => {
    const address = fromFreshAddress();
    const responses: ApiResponse[] = [];
    for (let index = 0; index < 4; index++)
      responses.push(await server().visitor.post("/api/auth/signup", { email: freshEmail(), password }, address));
    expect(responses.map((response) => response.status)).toEqual([201, 201, 201, 429]);
    expect(responses.map((response) => readLimitHeaders(response))).toMatchObject([
      { resource: "signup", limit: 3, remaining: 2, window: 3600 },
      { remaining: 1 },
      { remaining: 0 },
      { remaining: 0 },
    ]);
  });

  test("refresh is limited to ten an hour per user", async () => {
    const account = await signUp();
    let token = account.token;
    for (let index = 0; index < 10; index++) {
      const response = await server().visitor.post("/api/auth/refresh", undefined, {
        authorization: `Bearer ${token}`,
      });
      expectStatus(response, 200);
      expect(readLimitHeaders(response)).toMatchObject({
        resource: "refresh",
        limit: 10,
        remaining: 9 - index,
        window: 3600,
      });
      token = response.string("token");
    }
    const rejected = await server().visitor.post("/api/auth/refresh", undefined, { authorization: `Bearer ${token}` });
    expectError(rejected, 429);
    expectStatus(await server().visitor.get("/api/auth/session", { authorization: `Bearer ${token}` }), 200);
  });

  test("refresh without a valid token is counted per address", async () => {
    const address = fromFreshAddress();
    const responses: ApiResponse[] = [];
    for (let index = 0; index < 11; index++)
      responses.push(await server().visitor.post("/api/auth/refresh", undefined, address));
    expect(responses.map((response) => response.status)).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  });
});

describe("configuration", () => {
  test("replaces a limit", async () => {
    const changed = { ...env, LARDER_PLANS_FREE_LIMIT_LISTING: "2", LARDER_PLANS_FREE_LIMIT_OPERATIONS: "3" };
    await withServer({ env: changed }, async (own) => {
      const { client } = await own.signUp();
      expect(readLimitHeaders(await client.get("/api/files"))).toMatchObject({ limit: 2, remaining: 1 });
      expectStatus(await client.get("/api/files"), 200);
      expectError(await client.get("/api/files"), 429);
      expect(readLimitHeaders(await client.get("/api/files/file_00000000000000000000"))).toMatchObject({
        limit: 3,
        remaining: 2,
      });
    });
  });

  test("turns all limits off, and the headers stay", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "off", LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
      const { client } = await own.signUp();
      const responses = await Promise.all(
        Array.from({ length: 15 }, (_, index) => client.upload("x", { name: `${index}` })),
      );
      expect(new Set(sortedStatuses(responses))).toEqual(new Set([201]));
      expect(responses[0]?.header("x-ratelimit-resource")).toBe("uploads");
    });
  });

  test("by the household preset puts new accounts on enterprise with 100 times the limits", async () => {
    const household = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "", LARDER_PRESET: "household" };
    await withServer({ env: household }, async (own) => {
      const rejected = await own.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expect(rejected.status).toBeGreaterThanOrEqual(400);
      const { client } = await own.addUser([]);
      expect((await client.get("/api/users/profile")).at("data.plan")).toBe("enterprise");
      expect(readLimitHeaders(await client.get("/api/files")).limit).toBe(1_000_000);
    });
  });
});

describe("GET /api/users/usage/rate-limits", () => {
  test("has one record for each category, used or not", async () => {
    const { client } = await signUp();
    await client.stored("x");
    await client.get("/api/files");
    await client.get("/api/files");
    const response = await client.get("/api/users/usage/rate-limits");
    expectStatus(response, 200);
    expect(response.at("data.period")).toBe("1h");
    const expectedEndpoints: [string, string][] = [
      ["dav", "/dav"],
      ["downloads", "/api/files/{id}/download"],
      ["general", "/api"],
      ["listing", "/api/files"],
      ["operations", "/api/files/{id}"],
      ["profile", "/api/users/profile"],
      ["refresh", "/api/auth/refresh"],
      ["signin", "/api/auth/signin"],
      ["signup", "/api/auth/signup"],
      ["sync", "/api/mobile/sync/status"],
      ["uploads", "/api/files/upload"],
      ["usage", "/api/users/usage"],
    ];
    const records = response.list("data.endpoints").map((record) => Object(record));
    const endpoints = Object.fromEntries(records.map((record) => [record.resource, record.endpoint]));
    expect(endpoints).toEqual(Object.fromEntries(expectedEndpoints));
    expect(records).toHaveLength(expectedEndpoints.length);
    for (const record of records) {
      for (const key of ["limit", "used", "remaining", "usagePercentage"])
        expect({ key, type: typeof record[key] }).toEqual({ key, type: "number" });
      expect(record.resetsAt).toMatch(timestampPattern);
      expect(record.remaining).toBe(record.limit - record.used);
    }
    const find = (resource: string) => records.find((record) => record.resource === resource);
    expect(find("uploads")).toMatchObject({ limit: 10, used: 1, remaining: 9, usagePercentage: 10 });
    expect(find("listing")).toMatchObject({ limit: 100, used: 2, remaining: 98, usagePercentage: 2 });
    expect(find("sync")).toMatchObject({ limit: 200, used: 0, remaining: 200, usagePercentage: 0 });
    const overall = response.at("data.overallUsage");
    for (const key of ["totalRequests", "successfulRequests", "rateLimitedRequests", "successRate"])
      expect(overall).toHaveProperty(key, expect.any(Number));
  });

  test("counts rejected requests separately", async () => {
    const { client } = await signUp();
    for (let index = 0; index < 12; index++) await client.upload("x");
    const response = await client.get("/api/users/usage/rate-limits");
    expect(response.at("data.overallUsage.rateLimitedRequests")).toBe(2);
    const uploads = response.list("data.endpoints").find((record) => Object(record).resource === "uploads");
    expect(uploads).toMatchObject({ used: 10, remaining: 0, usagePercentage: 100 });
  });
});

testAllResponses(server);
