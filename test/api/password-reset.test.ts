import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { MailServer, type ReceivedMail } from "../support/mail-server.ts";
import { registerDevice, tryRefresh } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

const publicUrl = "http://files.example.test";
const mails = new MailServer();
const env: Record<string, string> = {
  LARDER_MAIL_HOST: "127.0.0.1",
  LARDER_MAIL_SECURE: "none",
  LARDER_MAIL_FROM: "Larder <larder@example.test>",
  LARDER_PUBLIC_URL: publicUrl,
};
beforeAll(async () => {
  await mails.start();
  env["LARDER_MAIL_PORT"] = String(mails.port);
});
const server = sharedServer({ env });
afterAll(() => mails.stop());

const forgot = (email: string) => server().visitor.post("/api/auth/password/forgot", { email });
const reset = (token: string, newPassword: string) =>
  server().visitor.post("/api/auth/password/reset", { token, newPassword });
const signIn = (email: string, password: string) => server().visitor.post("/api/auth/signin", { email, password });

function tokenIn(mail: ReceivedMail): string {
  const link = new RegExp(`${publicUrl}/reset-password\\?token=([A-Za-z0-9_-]+)`).exec(mail.parsed.text ?? "");
  return link?.[1] ?? "no token";
}

/** Requests a link, and returns the token of the email that arrives. */
async function requestToken(email: string, count = 1): Promise<string> {
  expectStatus(await forgot(email), 200);
  return tokenIn(await mails.waitForMail(email, count));
}

describe("POST /api/auth/password/forgot", () => {
  test("sends a link to the account, and gives the same response for every email", async () => {
    const { email } = await server().signUp();
    const known = await forgot(email.toUpperCase());
    const unknown = await forgot(freshEmail());
    expect(known.json).toEqual(unknown.json);
    expect(known.string("message")).toContain("If an account with this email exists");
    const mail = await mails.waitForMail(email);
    expect(tokenIn(mail).length).toBeGreaterThanOrEqual(22);
    expect(mail.parsed.html).toContain(tokenIn(mail));
  });

  test("sends nothing if no account has the email", async () => {
    const stranger = freshEmail();
    expectStatus(await forgot(stranger), 200);
    const { email } = await server().signUp();
    await requestToken(email);
    expect(mails.attempts).not.toContain(stranger);
  });

  test("rejects an invalid email and a missing body", async () => {
    expectError(await forgot("nobody"), 400, "invalid_field", "email");
    expectError(await server().visitor.post("/api/auth/password/forgot"), 400);
    expectError(await server().visitor.post("/api/auth/password/forgot", { email: 7 }), 400, "invalid_field", "email");
  });

  test("sends an account at most three emails in half an hour; the last link stays valid", async () => {
    const { email } = await server().signUp();
    for (let count = 1; count <= 3; count++) await requestToken(email, count);
    expectStatus(await forgot(email), 200);
    const other = await server().signUp();
    await requestToken(other.email);
    const ofUs = mails.received.filter(({ to }) => to.includes(email));
    expect(ofUs).toHaveLength(3);
    expectStatus(await reset(tokenIn(await mails.waitForMail(email, 3)), "a whole new one"), 200);
  });

  test("builds its links from the public address, not from the Host header", async () => {
    const { email } = await server().signUp();
    const response = await server().visitor.post("/api/auth/password/forgot", { email }, { host: "evil.example" });
    expectStatus(response, 200);
    expect((await mails.waitForMail(email)).raw).not.toContain("evil.example");
  });

  test("writes neither link nor address to the log", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    expect(server().log).not.toContain(token);
    expect(server().log).not.toContain(email);
  });
});

describe("POST /api/auth/password/reset", () => {
  test("sets the password once, ends sessions and phones, and notifies by email", async () => {
    const { email, client, password } = await server().signUp();
    const device = await registerDevice(server(), { email, password });
    const token = await requestToken(email);
    expectStatus(await reset(token, "brand new words"), 200);
    expectError(await signIn(email, password), 401, "bad_credentials");
    expectStatus(await signIn(email, "brand new words"), 200);
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
    expectError(await tryRefresh(server(), device.tokens.refreshToken, device.deviceId), 401);
    expectError(await reset(token, "and another one"), 401, "invalid_token");
    expect((await mails.waitForMail(email, 2)).parsed.subject).toBe("Your password was changed");
  });

  test("leaves API keys as they are", async () => {
    const { email, client } = await confirmIdentity(await server().signUp());
    const key = (await client.post("/api/users/api-keys", { name: "script" })).string("data.key");
    // The email mentions the key.
    await mails.waitForMail(email, 1);
    expectStatus(await reset(await requestToken(email, 2), "brand new words"), 200);
    expectStatus(await new Client(server(), key).get("/api/files"), 200);
  });

  test("rejects a link replaced by a newer one, and a made-up one", async () => {
    const { email } = await server().signUp();
    const first = await requestToken(email);
    const second = await requestToken(email, 2);
    expectError(await reset(first, "brand new words"), 401, "invalid_token");
    expectError(await reset("x".repeat(32), "brand new words"), 401, "invalid_token");
    expectStatus(await reset(second, "brand new words"), 200);
  });

  test("rejects a link after the password or the email was changed by other means", async () => {
    const first = await server().signUp();
    const ofPassword = await requestToken(first.email);
    const change = { currentPassword: first.password, newPassword: "changed by hand" };
    expectStatus(await first.client.put("/api/users/profile", change), 200);
    expectError(await reset(ofPassword, "brand new words"), 401, "invalid_token");
    const second = await server().signUp();
    const ofEmail = await requestToken(second.email);
    expectStatus(
      await second.client.put("/api/users/profile", { currentPassword: second.password, email: freshEmail() }),
      200,
    );
    expectError(await reset(ofEmail, "brand new words"), 401, "invalid_token");
    const notice = mails.waitForMail(second.email, 2);
    expect((await notice).parsed.subject).toBe("Your email address was changed");
  });

  test("rejects a link of a disabled account, and creates none for it", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    await server().larder(["user", "set", email, "--disable"]);
    expectError(await reset(token, "brand new words"), 401, "invalid_token");
    expectStatus(await forgot(email), 200);
    const other = await server().signUp();
    await requestToken(other.email);
    expect(mails.received.filter(({ to }) => to.includes(email))).toHaveLength(1);
  });

  test("accepts one of many concurrent requests", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => reset(token, `brand new words ${index}`)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(4);
  });

  test("rejects an invalid password, and the link stays valid", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    expectError(await reset(token, "short"), 400, "invalid_field", "newPassword");
    expectError(await reset(token, "x".repeat(257)), 400, "invalid_field", "newPassword");
    expectStatus(await reset(token, "brand new words"), 200);
  });
});

describe("the page /reset-password", () => {
  const post = (fields: Record<string, string>) =>
    server().visitor.request("POST", "/reset-password", {
      body: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });

  test("works without scripts, isn't cached, and sends no referrer", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    const page = await server().visitor.get(`/reset-password?token=${token}`);
    expectStatus(page, 200);
    expect(page.text).toContain(`value="${token}"`);
    expect(page.text).not.toContain("<script");
    expect(page.header("referrer-policy")).toBe("no-referrer");
    expect(page.header("cache-control")).toBe("no-store");
    const refused = await post({ token, newPassword: "short" });
    expectStatus(refused, 400);
    expect(refused.text).toContain("A password must have 8 to 256 characters");
    expectStatus(await post({ token, newPassword: "brand new words" }), 200);
    expectStatus(await signIn(email, "brand new words"), 200);
    expectStatus(await post({ token, newPassword: "brand new words" }), 404);
    expectStatus(await server().visitor.get(`/reset-password?token=${token}`), 404);
  });

  test("opening it doesn't use up the link", async () => {
    const { email } = await server().signUp();
    const token = await requestToken(email);
    for (let times = 0; times < 3; times++)
      expectStatus(await server().visitor.get(`/reset-password?token=${token}`), 200);
    expectStatus(await reset(token, "brand new words"), 200);
  });

  test("says what to do if the link is invalid", async () => {
    for (const query of ["", "?token=", "?token=%3Cscript%3E"]) {
      const page = await server().visitor.get(`/reset-password${query}`);
      expectStatus(page, 404);
      expect(page.text).toContain("This link does not work");
      expect(page.text).not.toContain("<script>");
    }
  });
});

describe("larder user reset-link", () => {
  test("prints a link that works while the server runs", async () => {
    const { email } = await server().signUp();
    const printed = await server().larder(["user", "reset-link", email]);
    expect(printed.code).toBe(0);
    const token = new URL(printed.stdout.trim()).searchParams.get("token") ?? "";
    expect(printed.stdout).toStartWith(`${publicUrl}/reset-password?token=`);
    expectStatus(await reset(token, "brand new words"), 200);
  });

  test("fails if no account has the email", async () => {
    const printed = await server().larder(["user", "reset-link", freshEmail()]);
    expect(printed.code).not.toBe(0);
    expect(printed.stderr).toContain("No account found");
  });
});

test("without mail, the response points to the administrator, and links from the command line work", async () => {
  await withServer({}, async (plain) => {
    const { email } = await plain.signUp();
    const known = await plain.visitor.post("/api/auth/password/forgot", { email });
    expect(known.json).toEqual((await plain.visitor.post("/api/auth/password/forgot", { email: freshEmail() })).json);
    expect(known.string("message")).toContain("can't send email");
    expect((await plain.visitor.get("/api/auth/methods")).at("data.mail")).toBe(false);
    const printed = await plain.larder(["user", "reset-link", email, "--port", String(plain.port)]);
    const page = await plain.visitor.get(
      new URL(printed.stdout.trim()).pathname + new URL(printed.stdout.trim()).search,
    );
    expectStatus(page, 200);
  });
});

test("requests for a link count as sign-in, per address", async () => {
  await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (limited) => {
    const requestLink = () => limited.visitor.post("/api/auth/password/forgot", { email: freshEmail() });
    for (let count = 0; count < 5; count++) {
      const response = await requestLink();
      expectStatus(response, 200);
      expect(response.header("x-ratelimit-resource")).toBe("signin");
    }
    expectError(await requestLink(), 429);
  });
});

test("a stored request is fulfilled after a restart, when emails can be sent again", async () => {
  const { email } = await server().signUp();
  await mails.stop();
  expectStatus(await forgot(email), 200);
  await server().restart();
  await mails.start();
  const token = tokenIn(await mails.waitForMail(email));
  expectStatus(await reset(token, "brand new words"), 200);
});

testAllResponses(server);
