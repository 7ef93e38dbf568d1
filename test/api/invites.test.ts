import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { certificateFile, MailServer } from "../support/mail-server.ts";
import { soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ env: { LARDER_SIGNUP: "invite", LARDER_DEFAULT_PLAN: "free" } });
const password = "correct horse battery";
const DAY_MS = 86_400_000;

let admin: Account;

beforeAll(async () => {
  admin = await confirmIdentity(await server().addUser(["--admin", "--name", "Root"]));
});

const invite = (json: object = {}) => admin.client.post("/api/admin/invites", json);
const signUp = (json: object) => server().visitor.post("/api/auth/signup", { email: freshEmail(), password, ...json });
const profileOf = (response: ApiResponse) => new Client(server(), response.string("token")).get("/api/users/profile");

describe("POST /api/admin/invites", () => {
  test("returns a token once, valid for a week", async () => {
    const created = await invite();
    expectStatus(created, 201);
    expect(created.at("data")).toMatchObject({
      email: null,
      role: "user",
      plan: null,
      state: "open",
      createdBy: admin.email,
      createdAt: expect.stringMatching(timestampPattern),
      usedAt: null,
      usedBy: null,
      mailed: false,
    });
    const lifetimeMs = Date.parse(created.string("data.expiresAt")) - Date.parse(created.string("data.createdAt"));
    expect(lifetimeMs).toBe(7 * DAY_MS);
    const token = created.string("data.invite");
    expect(token.length).toBeGreaterThanOrEqual(22);
    expect(created.string("data.url")).toBe(`${server().url}/invite?token=${token}`);
    const listed = await admin.client.get("/api/admin/invites");
    expect(listed.strings("data.invites", "id")).toContain(created.string("data.id"));
    expect(listed.text).not.toContain(token);
  });

  test.each([
    ["email", { email: "nobody" }],
    ["role", { role: "king" }],
    ["plan", { plan: "gold" }],
    ["expiresAt", { expiresAt: "tomorrow" }],
    ["expiresAt", { expiresAt: "2020-01-01T00:00:00.000Z" }],
    ["expiresAt", { expiresIn: "366d" }],
    ["expiresIn", { expiresIn: "soon" }],
    ["expiresIn", { expiresIn: "7d", expiresAt: "2999-01-01T00:00:00.000Z" }],
  ])("rejects an invalid %s", async (field, body) => {
    expectError(await invite(body), 400, "invalid_field", field);
  });

  test("rejects an email that has an account", async () => {
    expectError(await invite({ email: admin.email.toUpperCase() }), 409, "email_taken", "email");
  });
});

describe("an invitation", () => {
  test("creates one account with its role and plan, and shows who used it", async () => {
    const created = await invite({ role: "viewer", plan: "pro", expiresIn: "2h" });
    const email = freshEmail();
    const response = await signUp({ email, invite: created.string("data.invite") });
    expectStatus(response, 201);
    expect((await profileOf(response)).at("data")).toMatchObject({ email, role: "viewer", plan: "pro" });
    expectError(await signUp({ invite: created.string("data.invite") }), 403, "signup_closed");
    const listed = await admin.client.get("/api/admin/invites?limit=100");
    expect(listed.list("data.invites")).toContainEqual(
      expect.objectContaining({
        id: created.string("data.id"),
        state: "used",
        usedBy: email,
        usedAt: expect.stringMatching(timestampPattern),
      }),
    );
  });

  test("without a plan gives the default plan", async () => {
    const created = await invite();
    const response = await signUp({ invite: created.string("data.invite") });
    expect((await profileOf(response)).at("data")).toMatchObject({ role: "user", plan: "free" });
  });

  test("works once, even for concurrent requests", async () => {
    const token = (await invite()).string("data.invite");
    const responses = await Promise.all(Array.from({ length: 6 }, () => signUp({ invite: token })));
    expect(sortedStatuses(responses)).toEqual([201, 403, 403, 403, 403, 403]);
  });

  test("for an email works only for that one, in upper or lower case", async () => {
    const email = freshEmail();
    const token = (await invite({ email: email.toUpperCase() })).string("data.invite");
    expectError(await signUp({ invite: token }), 403, "signup_closed");
    expectStatus(await signUp({ email, invite: token }), 201);
  });

  test("is rejected if expired, revoked or unknown", async () => {
    const brief = await invite({ expiresAt: soonExpiry() });
    const revoked = await invite();
    expectStatus(await admin.client.delete(`/api/admin/invites/${revoked.string("data.id")}`), 200);
    expectError(await admin.client.delete(`/api/admin/invites/${revoked.string("data.id")}`), 404, "not_found");
    await waitForExpiry(brief.string("data.expiresAt"));
    for (const token of [brief.string("data.invite"), revoked.string("data.invite"), "nothing"]) {
      expectError(await signUp({ invite: token }), 403, "signup_closed");
      expectStatus(await server().visitor.get(`/invite?token=${token}`), 404);
    }
    expectError(await signUp({}), 403, "signup_closed");
  });

  test("stays valid after a rejected sign-up", async () => {
    const token = (await invite()).string("data.invite");
    expectError(await signUp({ invite: token, email: admin.email }), 409, "email_taken");
    expectError(await signUp({ invite: token, password: "short" }), 400, "invalid_field", "password");
    expectStatus(await signUp({ invite: token }), 201);
  });
});

describe("the page of an invitation", () => {
  const page = async (token: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    server().visitor.request("POST", "/invite", { body: new URLSearchParams({ token, ...form }).toString(), headers });

  test("creates the account without script, once", async () => {
    const created = await invite({ role: "viewer" });
    const url = new URL(created.string("data.url"));
    const shown = await server().visitor.get(url.pathname + url.search);
    expectStatus(shown, 200);
    // The script is a file of ours. Without any referrer, browsers would send the form without its origin over plain HTTP.
    expect(shown.text).not.toMatch(/<script(?! type="module" src="\/assets\/)/);
    expect(shown.header("content-security-policy")).toContain("script-src 'self'");
    expect(shown.header("referrer-policy")).toBe("strict-origin");
    const email = freshEmail();
    const token = created.string("data.invite");
    const rejected = await page(token, { email, password: "short", name: "<b>Ada</b>" });
    expectStatus(rejected, 400);
    expect(rejected.text).toContain("&lt;b&gt;Ada");
    expectStatus(await page(token, { email, password, name: "Ada" }), 201);
    const response = await server().visitor.post("/api/auth/signin", { email, password });
    expect((await profileOf(response)).at("data")).toMatchObject({ name: "Ada", role: "viewer" });
    expectStatus(await page(token, { email: freshEmail(), password }), 404);
    expectStatus(await server().visitor.get(url.pathname + url.search), 404);
  });

  test("signs in after its own form, and not after that of another site", async () => {
    const send = async (headers: Record<string, string>) => {
      const token = (await invite()).string("data.invite");
      const done = await page(token, { email: freshEmail(), password }, headers);
      expectStatus(done, 201);
      return done;
    };
    const own: Record<string, string>[] = [
      { "sec-fetch-site": "same-origin", origin: "null" },
      { origin: server().url },
    ];
    for (const headers of own) {
      const done = await send(headers);
      const cookie = done.header("set-cookie").split(";")[0] ?? "";
      expectStatus(await server().visitor.get("/api/auth/session", { cookie }), 200);
      expect(done.text).toContain('href="/home"');
    }
    const others: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site", origin: "null" },
      { origin: "https://evil.example" },
      { origin: "null" },
      {},
    ];
    for (const headers of others) {
      const done = await send(headers);
      expect([headers, done.headers.get("set-cookie")]).toEqual([headers, null]);
      expect(done.text).toContain('href="/sign-in"');
    }
  });

  test("uses only the email of the invitation", async () => {
    const email = freshEmail();
    const token = (await invite({ email })).string("data.invite");
    expectStatus(await page(token, { email: freshEmail(), password }), 201);
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password }), 200);
  });
});

test("an invitation is sent to its email if mail is configured, and the response shows it", async () => {
  const mails = new MailServer();
  await mails.start();
  try {
    const env = {
      LARDER_MAIL_HOST: "127.0.0.1",
      LARDER_MAIL_PORT: String(mails.port),
      LARDER_MAIL_CA_FILE: certificateFile,
      LARDER_MAIL_FROM: "larder@example.test",
      LARDER_MAIL_USER: "larder",
      LARDER_MAIL_PASSWORD: mails.password,
      LARDER_PUBLIC_URL: "http://files.example.test",
    };
    await withServer({ env }, async (own) => {
      const root = await own.addUser(["--admin", "--name", "Root"]);
      const email = freshEmail();
      const created = await root.client.post("/api/admin/invites", { email });
      expect(created.at("data.mailed")).toBe(true);
      expect(created.string("data.url")).toStartWith("http://files.example.test/invite?token=");
      const mail = await mails.waitForMail(email);
      expect(mail.parsed.text).toContain(created.string("data.url"));
      expect(mail.parsed.text).toContain("Root");
      expect((await root.client.post("/api/admin/invites", {})).at("data.mailed")).toBe(false);
    });
  } finally {
    await mails.stop();
  }
});

describe("if sign-up is", () => {
  test("open, an invitation still gives its role and plan, and an invalid one is rejected", async () => {
    await withServer({}, async (own) => {
      const root = await own.addUser(["--admin"]);
      const token = (await root.client.post("/api/admin/invites", { role: "viewer", plan: "pro" })).string(
        "data.invite",
      );
      const body = { email: freshEmail(), password, invite: token };
      const response = await own.visitor.post("/api/auth/signup", body);
      const profile = await new Client(own, response.string("token")).get("/api/users/profile");
      expect(profile.at("data")).toMatchObject({ role: "viewer", plan: "pro" });
      expectError(await own.visitor.post("/api/auth/signup", { ...body, email: freshEmail() }), 403, "signup_closed");
    });
  });

  test("closed, invitations are rejected", async () => {
    await withServer({ env: { LARDER_SIGNUP: "closed" } }, async (own) => {
      const root = await own.addUser(["--admin"]);
      const token = (await root.client.post("/api/admin/invites", {})).string("data.invite");
      const body = { email: freshEmail(), password, invite: token };
      expectError(await own.visitor.post("/api/auth/signup", body), 403, "signup_closed");
      expectStatus(await own.visitor.get(`/invite?token=${token}`), 404);
    });
  });
});

testAllResponses(server);
