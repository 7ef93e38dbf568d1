import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { readDevice, freshDeviceId, registerDevice, tryRefresh, tryRegister } from "../support/mobile.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";
import { generateCode, enableTwoFactor, generateWrongCode } from "../support/two-factor.ts";

/** Attempts are limited per address. Tests that need more use several addresses. */
const server = sharedServer({ hasAccounts: true, env: { LARDER_TRUSTED_PROXIES: "127.0.0.1" } });
const fromAddress = (at: number) => ({ "x-forwarded-for": `203.0.113.${at}` });

async function signIn(
  { email, password }: Account,
  extra: Record<string, unknown> = {},
  to = server(),
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return to.visitor.post("/api/auth/signin", { email, password, ...extra }, headers);
}

async function readState({ client }: Account): Promise<unknown> {
  return (await client.get("/api/users/two-factor")).at("data");
}

/** Creates an account with two-factor sign-in. */
async function signUpWithTwoFactor(to: TestServer = server()) {
  const account = await to.signUp();
  return { account, ...(await enableTwoFactor(account)) };
}

describe("setting up", () => {
  test("requires the password, then a code, and returns ten recovery codes", async () => {
    const account = await server().signUp();
    expect(await readState(account)).toEqual({ enabled: false, recoveryCodesLeft: 0, passkeys: 0 });
    const wrong = await account.client.post("/api/users/two-factor/setup", { currentPassword: "not the password" });
    expectError(wrong, 401, "bad_credentials");
    const setUp = await account.client.post("/api/users/two-factor/setup", { currentPassword: account.password });
    expectStatus(setUp, 200);
    const secret = setUp.string("data.secret");
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(setUp.string("data.otpauthUrl"));
    expect(url.protocol).toBe("otpauth:");
    expect(decodeURIComponent(url.pathname)).toContain(account.email);
    expect(url.searchParams.get("secret")).toBe(secret);
    expect(url.searchParams.get("issuer")).toBe("Larder");
    // Two-factor sign-in is off until a code was verified.
    expectStatus(await signIn(account), 200);
    const bad = await account.client.post("/api/users/two-factor/enable", { code: generateWrongCode(secret) });
    expectError(bad, 401, "invalid_code");
    const enabled = await account.client.post("/api/users/two-factor/enable", { code: generateCode(secret) });
    expectStatus(enabled, 200);
    const codes = enabled.list("data.recoveryCodes");
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
    expect(await readState(account)).toEqual({ enabled: true, recoveryCodesLeft: 10, passkeys: 0 });
  });

  test("can be started again at any time, which discards the previous secret", async () => {
    const { client, password } = await server().signUp();
    const first = await client.post("/api/users/two-factor/setup", { currentPassword: password });
    const second = await client.post("/api/users/two-factor/setup", { currentPassword: password });
    const enable = (secret: string) => client.post("/api/users/two-factor/enable", { code: generateCode(secret) });
    expectError(await enable(first.string("data.secret")), 401, "invalid_code");
    expectStatus(await enable(second.string("data.secret")), 200);
  });

  test("is rejected while two-factor sign-in is on, and enabling without a setup is, too", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    const { client, password } = account;
    const setUp = await client.post("/api/users/two-factor/setup", { currentPassword: password });
    expectError(setUp, 400, "invalid_request");
    const enable = await client.post("/api/users/two-factor/enable", { code: generateCode(secret, 1) });
    expectError(enable, 400, "invalid_request");
    const other = await server().signUp();
    expectError(await other.client.post("/api/users/two-factor/enable", { code: "123456" }), 400, "invalid_request");
  });

  test("requires a session, and rejects fields that aren't strings", async () => {
    const paths = ["setup", "enable", "disable", "recovery-codes"];
    for (const path of paths) {
      expectError(await server().visitor.post(`/api/users/two-factor/${path}`, {}), 401, "missing_token");
    }
    expectError(await server().visitor.get("/api/users/two-factor"), 401, "missing_token");
    const { client } = await server().signUp();
    for (const path of ["setup", "disable", "recovery-codes"]) {
      expectError(await client.post(`/api/users/two-factor/${path}`, {}), 401, "password_required");
      const body = { currentPassword: 7 };
      expectError(await client.post(`/api/users/two-factor/${path}`, body), 400, "invalid_field", "currentPassword");
    }
    expectError(await client.post("/api/users/two-factor/enable", {}), 400, "invalid_field", "code");
    expectError(await client.post("/api/users/two-factor/enable", { code: 123456 }), 400, "invalid_field", "code");
  });

  test("keeps sessions and API keys valid, and notifies the account's devices", async () => {
    const account = await confirmIdentity(await server().signUp());
    const key = (await account.client.post("/api/users/api-keys", { name: "x" })).string("data.key");
    const phone = await registerDevice(server(), account);
    await enableTwoFactor(account);
    expectStatus(await account.client.get("/api/files"), 200);
    expectStatus(await server().visitor.get("/api/files", { "x-api-key": key }), 200);
    expectStatus(await tryRefresh(server(), phone.tokens.refreshToken, phone.deviceId), 200);
    const notifications = (await phone.client.get("/api/mobile/notifications")).list("data.notifications");
    const data = { event: "security.credentials_changed", what: "two_factor_on" };
    expect(notifications).toContainEqual(expect.objectContaining({ title: "Two-factor authentication is on", data }));
  });
});

describe("signing in", () => {
  test("requires a code, which only a request with the right password learns", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    const withoutCode = await signIn(account);
    expectError(withoutCode, 401, "second_factor_required");
    expect(withoutCode.at("error.details.methods")).toEqual(["totp", "recovery_code"]);
    expect(withoutCode.headers.get("set-cookie")).toBeNull();
    const wrongPassword = { ...account, password: "not the password" };
    expectError(await signIn(wrongPassword), 401, "bad_credentials");
    expectError(await signIn(wrongPassword, { code: generateCode(secret) }), 401, "bad_credentials");
    const response = await signIn(account, { code: generateCode(secret), cookie: true });
    expectStatus(response, 200);
    expect(response.header("set-cookie")).toContain("larder_session=");
    expectStatus(await new Client(server(), response.string("token")).get("/api/files"), 200);
  });

  test("accepts a code with spaces", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    const code = generateCode(secret);
    expectStatus(await signIn(account, { code: ` ${code.slice(0, 3)} ${code.slice(3)} ` }), 200);
  });

  test("rejects a wrong code, one of another time or account, and malformed ones", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    const other = await signUpWithTwoFactor();
    const codes = [
      generateWrongCode(secret),
      generateCode(secret, -3),
      generateCode(secret, 3),
      generateCode(other.secret),
      other.codes[0],
    ];
    for (const [at, code] of [...codes, "12345", "1234567", "abc", "'; --"].entries()) {
      expectError(await signIn(account, { code }, server(), fromAddress(at)), 401, "invalid_code");
    }
    expectError(await signIn(account, { code: "" }), 401, "second_factor_required");
    expectError(await signIn(account, { code: 123456 }), 400, "invalid_field", "code");
    expectError(await signIn(account, { code: "1".repeat(65) }), 400, "invalid_field", "code");
  });

  test("rejects a code that was used, and earlier ones (RFC 6238 §5.2)", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    const [now, next] = [generateCode(secret, 0), generateCode(secret, 1)];
    expectStatus(await signIn(account, { code: next }), 200);
    expectError(await signIn(account, { code: next }), 401, "invalid_code");
    expectError(await signIn(account, { code: now }), 401, "invalid_code");
  });

  test("lets in one of several concurrent requests with the same code", async () => {
    const { account, secret, codes } = await signUpWithTwoFactor();
    for (const code of [generateCode(secret), codes[0]]) {
      const responses = await Promise.all(
        Array.from({ length: 8 }, (_, at) => signIn(account, { code }, server(), fromAddress(at))),
      );
      expect(sortedStatuses(responses)).toEqual([200, ...Array.from({ length: 7 }, () => 401)]);
    }
  });

  test("accepts each recovery code once, in any letter case and spacing", async () => {
    const { account, codes } = await signUpWithTwoFactor();
    const [first = "", second = ""] = codes;
    expectStatus(await signIn(account, { code: first }), 200);
    expectError(await signIn(account, { code: first }), 401, "invalid_code");
    expectStatus(await signIn(account, { code: ` ${second.toUpperCase().replaceAll("-", " ")} ` }), 200);
    expect(await readState(account)).toMatchObject({ recoveryCodesLeft: 8 });
  });

  test("on a phone requires a code, too", async () => {
    const { account, secret, codes } = await signUpWithTwoFactor();
    const deviceId = freshDeviceId();
    expectError(await tryRegister(server(), account, deviceId), 401, "second_factor_required");
    const { email, password } = account;
    const deviceInfo = { deviceId, platform: "ios" };
    const register = (code: string | undefined) =>
      server().visitor.post("/api/mobile/auth/register", { email, password, deviceInfo, code });
    expectError(await register(generateWrongCode(secret)), 401, "invalid_code");
    const phone = readDevice(server(), await register(generateCode(secret)));
    const again = (code?: string) => server().visitor.post("/api/mobile/auth", { email, password, deviceId, code });
    expectError(await again(), 401, "second_factor_required");
    expectError(await again(generateCode(secret)), 401, "invalid_code");
    // Rejected attempts sign no session out.
    expectStatus(await phone.client.get("/api/mobile/devices"), 200);
    readDevice(server(), await again(codes[0]));
  });

  test("counts a wrong code like a wrong password", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
      const { account, secret } = await signUpWithTwoFactor(own);
      for (let i = 0; i < 5; i++) {
        expectError(await signIn(account, { code: generateWrongCode(secret) }, own), 401, "invalid_code");
      }
      expectError(await signIn(account, { code: generateCode(secret) }, own), 429, "rate_limited");
    });
  });

  test("limits codes to twenty attempts per account and hour, from all addresses together", async () => {
    const { account, secret } = await signUpWithTwoFactor();
    for (let at = 1; at <= 20; at++) {
      expectError(
        await signIn(account, { code: generateWrongCode(secret) }, server(), fromAddress(at)),
        401,
        "invalid_code",
      );
    }
    const refused = await signIn(account, { code: generateCode(secret) }, server(), fromAddress(21));
    expectError(refused, 429, "rate_limited");
    const retryAfter = Number(refused.header("retry-after"));
    expect(retryAfter).toBeGreaterThan(3_000);
    // The headers describe the limit that applies. They once showed another one, with five attempts left.
    expect(refused.header("x-ratelimit-limit")).toBe("20");
    expect(refused.header("x-ratelimit-remaining")).toBe("0");
    const resetIn = Number(refused.header("x-ratelimit-reset")) - Date.now() / 1000;
    expect(Math.abs(resetIn - retryAfter)).toBeLessThan(60);
    // Otherwise, anyone with the password could lock the owner out: addresses that have signed in before have their own
    // limit.
    expectStatus(await signIn(account, { code: generateCode(secret) }), 200);
    // Other accounts have their own limit.
    const other = await signUpWithTwoFactor();
    expectStatus(await signIn(other.account, { code: generateCode(other.secret) }), 200);
  });
});

describe("with two-factor sign-in on", () => {
  test("it can be switched off with password and code, or with a recovery code", async () => {
    for (const proof of ["code", "recoveryCode"]) {
      const { account, secret, codes } = await signUpWithTwoFactor();
      const { client, password } = account;
      const disable = (body: Record<string, unknown>) => client.post("/api/users/two-factor/disable", body);
      expectError(await disable({ currentPassword: password }), 401, "second_factor_required");
      const wrongPassword = { currentPassword: "not the password", code: generateCode(secret) };
      expectError(await disable(wrongPassword), 401, "bad_credentials");
      const wrong = { currentPassword: password, code: generateWrongCode(secret) };
      expectError(await disable(wrong), 401, "invalid_code");
      const right = proof === "code" ? generateCode(secret) : codes[0];
      expectStatus(await disable({ currentPassword: password, [proof]: right }), 200);
      expect(await readState(account)).toEqual({ enabled: false, recoveryCodesLeft: 0, passkeys: 0 });
      expectStatus(await signIn(account), 200);
      expectError(await disable({ currentPassword: password }), 400, "invalid_request");
    }
  });

  test("recovery codes are all replaced together", async () => {
    const { account, secret, codes } = await signUpWithTwoFactor();
    const { client, password } = account;
    const renew = (body: Record<string, unknown>) => client.post("/api/users/two-factor/recovery-codes", body);
    expectError(await renew({ currentPassword: password }), 401, "second_factor_required");
    const response = await renew({ currentPassword: password, code: generateCode(secret) });
    expectStatus(response, 200);
    const fresh = response.list("data.recoveryCodes").map(String);
    expect(fresh.filter((code) => codes.includes(code))).toEqual([]);
    expectError(await signIn(account, { code: codes[0] }), 401, "invalid_code");
    expectStatus(await signIn(account, { code: fresh[0] }), 200);
    const off = await server().signUp();
    const refused = await off.client.post("/api/users/two-factor/recovery-codes", { currentPassword: off.password });
    expectError(refused, 400, "invalid_request");
  });

  test("changing password or profile requires password and code", async () => {
    const { account, secret, codes } = await signUpWithTwoFactor();
    const change = { currentPassword: account.password, newPassword: "another long password" };
    expectError(await account.client.put("/api/users/profile", change), 401, "second_factor_required");
    expectStatus(await account.client.put("/api/users/profile", { ...change, code: codes[0] }), 200);
    const changed = { ...account, password: change.newPassword };
    expectError(await signIn(changed), 401, "second_factor_required");
    expectStatus(await signIn(changed, { code: generateCode(secret) }), 200);
  });

  test("the command line can switch it off for a locked-out user", async () => {
    const { account } = await signUpWithTwoFactor();
    const { code, stderr } = await server().larder(["user", "set", account.email, "--no-two-factor"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expectStatus(await signIn(account), 200);
    expect(await readState(account)).toMatchObject({ enabled: false });
  });

  test("it survives a restart, and the database alone doesn't reveal secret or codes", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { account, secret, codes } = await signUpWithTwoFactor(own);
      await own.restart();
      const code = generateCode(secret);
      expectError(await signIn(account, {}, own), 401, "second_factor_required");
      expectStatus(await signIn(account, { code }, own), 200);
      await own.restart();
      expectError(await signIn(account, { code }, own), 401, "invalid_code");
      await own.stop();
      const database = Buffer.from(await Bun.file(`${own.dataDir}/larder.db`).arrayBuffer());
      for (const text of [secret, ...codes, ...codes.map((one) => one.replaceAll("-", ""))]) {
        expect(database.includes(text)).toBe(false);
      }
    });
  });
});

testAllResponses(server);
