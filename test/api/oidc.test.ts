import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { Client, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { Browser, type Claims, publicUrl, TestProvider } from "../support/oidc-provider.ts";
import { asObject } from "../support/openapi.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";
import { generateCode, enableTwoFactor, generateWrongCode } from "../support/two-factor.ts";

const provider = new TestProvider();
const env: Record<string, string> = {};
beforeAll(async () => {
  await provider.start();
  Object.assign(env, provider.env, { LARDER_OIDC_AUTO_CREATE: "on", LARDER_OIDC_NAME: "Our house" });
});
afterAll(() => provider.stop());
const server = sharedServer({ hasAccounts: true, env });

/** Registers a new person with the provider. */
function addPerson(claims: Claims = {}): { name: string; email: string } {
  const name = `person-${randomBytes(4).toString("hex")}`;
  const email = freshEmail();
  provider.people.set(name, { email, email_verified: true, name: "Ada Example", ...claims });
  return { name, email };
}

const browser = (getServer: () => TestServer = server) => new Browser(() => getServer().url);

/** Requests the callback as a client that doesn't ask for HTML, so that rejections come as JSON. */
async function requestCallback(from: Browser, callback: string, getServer: () => TestServer = server) {
  const { pathname, search } = new URL(callback);
  const cookie = [...from.cookies()].map(([name, value]) => `${name}=${value}`).join("; ");
  return getServer().visitor.get(pathname + search, cookie === "" ? {} : { cookie });
}

const requestAs = (from: Browser, path: string, getServer: () => TestServer = server) =>
  getServer().visitor.get(path, { cookie: `larder_session=${from.cookies().get("larder_session") ?? ""}` });

describe("GET /api/auth/methods", () => {
  test("lists the ways to sign in", async () => {
    const response = await server().visitor.get("/api/auth/methods");
    expectStatus(response, 200);
    expect(response.at("data")).toEqual({
      password: true,
      signup: "open",
      oidc: { name: "Our house", startUrl: `${publicUrl}/api/auth/oidc/start` },
      passkeys: false,
      mail: false,
      isSetUp: expect.any(Boolean),
    });
  });

  test("lists no provider if none is configured", async () => {
    await withServer({ env: { LARDER_SIGNUP: "closed" } }, async (plain) => {
      const response = await plain.visitor.get("/api/auth/methods");
      expect(response.at("data.oidc")).toBeNull();
      expect(response.at("data.signup")).toBe("closed");
      expect(response.at("data.isSetUp")).toBe(false);
      await plain.addUser(["--admin"]);
      expect((await plain.visitor.get("/api/auth/methods")).at("data.isSetUp")).toBe(true);
      for (const path of ["/api/auth/oidc/start", "/api/auth/oidc/callback?code=a&state=b"])
        expectError(await plain.visitor.get(path), 404, "not_found");
      expectError(await plain.visitor.post("/api/auth/oidc/token", { code: "x" }), 404, "not_found");
    });
  });
});

describe("a sign-in through the provider", () => {
  test("goes through its sign-in form, creates the account, and returns to the requested page", async () => {
    const { name, email } = addPerson();
    const from = browser();
    const callback = await from.goToCallback(name, "?returnTo=/docs%3Fa%3D1");
    const end = await from.visit(callback);
    expect(end.status).toBe(302);
    expect(end.headers.get("location")).toBe("/docs?a=1");
    expect(end.headers.get("cache-control")).toBe("no-store");
    const [session = ""] = end.headers.getSetCookie().filter((line) => line.startsWith("larder_session="));
    expect(session).toContain("HttpOnly");
    expect(session).toContain("SameSite=Lax");
    const who = await requestAs(from, "/api/auth/session");
    expectStatus(who, 200);
    expect(who.at("user")).toMatchObject({ email, name: "Ada Example" });
    const profile = await requestAs(from, "/api/users/profile");
    expect([profile.at("data.role"), profile.at("data.plan")]).toEqual(["user", "enterprise"]);
  });

  test("finds the same account again, even after the email changed at the provider", async () => {
    const { name, email } = addPerson();
    const first = browser();
    await first.visit(await first.goToCallback(name));
    const id = (await requestAs(first, "/api/auth/session")).string("user.id");
    provider.people.set(name, { email: freshEmail(), email_verified: true });
    const second = browser();
    await second.visit(await second.goToCallback(name));
    const again = await requestAs(second, "/api/auth/session");
    expect([again.at("user.id"), again.at("user.email")]).toEqual([id, email]);
  });

  test("started twice at once by a new person creates one account", async () => {
    const { name } = addPerson();
    const [first, second] = [browser(), browser()];
    const callbacks = [await first.goToCallback(name), await second.goToCallback(name)];
    const ends = await Promise.all([first.visit(callbacks[0] ?? ""), second.visit(callbacks[1] ?? "")]);
    expect(ends.map(({ status }) => status)).toEqual([302, 302]);
    const ids = [await requestAs(first, "/api/auth/session"), await requestAs(second, "/api/auth/session")];
    expect(ids[0]?.string("user.id")).toBe(ids[1]?.string("user.id") ?? "");
  });

  test("returns to / by default, and only to this server", async () => {
    const { name } = addPerson();
    const from = browser();
    const end = await from.visit(await from.goToCallback(name));
    expect(end.headers.get("location")).toBe("/");
    const elsewhere = [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "evil",
      "/a\\b",
      "/%0d%0a",
      "/x/..//y",
    ];
    for (const returnTo of elsewhere) {
      const response = await server().visitor.get(`/api/auth/oidc/start?returnTo=${encodeURIComponent(returnTo)}`);
      if (returnTo === "/%0d%0a") expect(response.header("location")).toStartWith(provider.issuer);
      else expectError(response, 400, "invalid_field", "returnTo");
    }
  });

  test("sends PKCE, state and nonce, and is bound to the browser by a short-lived cookie", async () => {
    const response = await server().visitor.get("/api/auth/oidc/start");
    expectStatus(response, 302);
    const query = new URL(response.header("location")).searchParams;
    expect(query.get("code_challenge_method")).toBe("S256");
    expect(query.get("response_type")).toBe("code");
    expect(query.get("redirect_uri")).toBe(`${publicUrl}/api/auth/oidc/callback`);
    for (const name of ["code_challenge", "state", "nonce"]) expect(query.get(name)?.length).toBeGreaterThan(21);
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^larder_oidc=[A-Za-z0-9_-]+; Path=\/api\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(query.get("state") ?? "");
  });

  test("gives programs a one-time code, so that no token appears in a URL", async () => {
    const { name, email } = addPerson();
    const from = browser();
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const end = await from.visit(
      await from.goToCallback(name, `?mode=code&returnTo=/docs%23old&challenge=${challenge}`),
    );
    const [path, code = ""] = (end.headers.get("location") ?? "").split("#code=");
    expect(path).toBe("/docs");
    expect(from.cookies().has("larder_session")).toBe(false);
    const token = await server().visitor.post("/api/auth/oidc/token", { code, verifier });
    expectStatus(token, 200);
    expect([token.at("user.email"), token.at("expiresIn")]).toEqual([email, "24h"]);
    expectStatus(await new Client(server(), token.string("token")).get("/api/auth/session"), 200);
    expectError(await server().visitor.post("/api/auth/oidc/token", { code, verifier }), 401, "invalid_code");
  });

  test("shows the code on a page if no return address was given", async () => {
    const { name } = addPerson();
    const from = browser();
    const end = await from.visit(await from.goToCallback(name, "?mode=code"));
    expect(end.status).toBe(200);
    expect(end.headers.get("cache-control")).toBe("no-store");
    const code = /<code>([A-Za-z0-9_-]+)<\/code>/.exec(end.text)?.[1] ?? "";
    const signedIn = await server().visitor.post("/api/auth/oidc/token", { code, cookie: true });
    expectStatus(signedIn, 200);
    expect(signedIn.header("set-cookie")).toStartWith("larder_session=");
  });

  test("rejects and consumes a code if the verifier it was bound to is missing or wrong", async () => {
    const { name } = addPerson();
    const from = browser();
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const end = await from.visit(await from.goToCallback(name, `?mode=code&returnTo=/docs&challenge=${challenge}`));
    const code = (end.headers.get("location") ?? "").split("#code=")[1] ?? "";
    expectError(await server().visitor.post("/api/auth/oidc/token", { code }), 401, "invalid_code");
    expectError(await server().visitor.post("/api/auth/oidc/token", { code, verifier }), 401, "invalid_code");
    expectError(await server().visitor.get("/api/auth/oidc/start?mode=token"), 400, "invalid_field", "mode");
    expectError(await server().visitor.get("/api/auth/oidc/start?challenge=x"), 400, "invalid_field", "challenge");
  });
});

describe("the callback rejects", () => {
  test("a wrong, missing or repeated state", async () => {
    const from = browser();
    const callback = await from.goToCallback(addPerson().name);
    const wrong = new URL(callback);
    wrong.searchParams.set("state", "x".repeat(32));
    expectError(await requestCallback(from, wrong.href), 400, "invalid_request");
    wrong.searchParams.delete("state");
    expectError(await requestCallback(from, wrong.href), 400, "invalid_request");
    expectError(await requestCallback(from, `${callback}&state=other`), 400, "invalid_request");
    expectStatus(await requestCallback(from, callback), 302);
  });

  test("a callback used twice", async () => {
    const from = browser();
    const callback = await from.goToCallback(addPerson().name);
    expectStatus(await requestCallback(from, callback), 302);
    expectError(await requestCallback(from, callback), 400, "invalid_request");
  });

  test("a code already used at the provider, even after a restart of this server", async () => {
    await withServer({ hasAccounts: true, env }, async (other) => {
      const getServer = () => other;
      const from = browser(getServer);
      const callback = await from.goToCallback(addPerson().name);
      expectStatus(await requestCallback(from, callback, getServer), 302);
      await other.restart();
      expectError(await requestCallback(from, callback, getServer), 401, "bad_credentials");
    });
  });

  test("a callback of another browser's sign-in", async () => {
    const callback = await browser().goToCallback(addPerson().name);
    expectError(await requestCallback(browser(), callback), 400, "invalid_request");
    const other = browser();
    await other.visit(`${publicUrl}/api/auth/oidc/start`);
    expectError(await requestCallback(other, callback), 400, "invalid_request");
  });

  test("a modified cookie", async () => {
    const from = browser();
    const callback = await from.goToCallback(addPerson().name);
    const sealed = from.cookies().get("larder_oidc") ?? "";
    // A character in the middle: those at the end may stand for the same bytes.
    const altered = sealed.slice(0, 30) + (sealed[30] === "A" ? "B" : "A") + sealed.slice(31);
    for (const changed of [altered, sealed.slice(0, 20), "AAAA", "A".repeat(5_000)]) {
      from.cookies().set("larder_oidc", changed);
      expectError(await requestCallback(from, callback), 400, "invalid_request");
    }
  });

  test("an ID token with another nonce, audience, issuer or expiry, or without a subject", async () => {
    const changes: Record<string, unknown>[] = [
      { nonce: "another" },
      { nonce: undefined },
      { aud: "another client" },
      { iss: "http://127.0.0.1:1" },
      { exp: Math.floor(Date.now() / 1000) - 3_600 },
      { sub: undefined },
    ];
    for (const change of changes) {
      provider.forge = (claims) => ({ claims: { ...claims, ...change }, key: "right" });
      const from = browser();
      try {
        expectError(await requestCallback(from, await from.goToCallback(addPerson().name)), 401, "bad_credentials");
      } finally {
        provider.forge = undefined;
      }
    }
  });

  test("an ID token signed by another key", async () => {
    provider.forge = (claims) => ({ claims, key: "other" });
    const from = browser();
    try {
      expectError(await requestCallback(from, await from.goToCallback(addPerson().name)), 401, "bad_credentials");
    } finally {
      provider.forge = undefined;
    }
  });

  test("a callback from another provider (mix-up)", async () => {
    const from = browser();
    const callback = new URL(await from.goToCallback(addPerson().name));
    callback.searchParams.set("iss", "http://127.0.0.1:1");
    expectError(await requestCallback(from, callback.href), 401, "bad_credentials");
    const second = browser();
    const without = new URL(await second.goToCallback(addPerson().name));
    without.searchParams.delete("iss");
    expectError(await requestCallback(second, without.href), 401, "bad_credentials");
  });

  test("a sign-in canceled at the provider, and responds with a page that explains it", async () => {
    const from = browser();
    const start = await from.visit(`${publicUrl}/api/auth/oidc/start`);
    const state = new URL(start.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const iss = encodeURIComponent(provider.issuer);
    const page = await from.visit(`${publicUrl}/api/auth/oidc/callback?error=access_denied&state=${state}&iss=${iss}`);
    expect(page.status).toBe(401);
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(page.text).toContain("Sign-in failed");
    expect(page.text).toContain("rejected or canceled");
    expect(page.text).not.toContain("<script");
  });

  test("an email that the provider didn't verify", async () => {
    for (const email_verified of [false, undefined, "false", 1]) {
      const { name } = addPerson({ email_verified });
      const from = browser();
      expectError(await requestCallback(from, await from.goToCallback(name)), 403, "signup_closed");
    }
    const { name } = addPerson({ email: undefined });
    const from = browser();
    expectError(await requestCallback(from, await from.goToCallback(name)), 403, "signup_closed");
  });

  test("an email that only the ID token claims, if userinfo confirms another one", async () => {
    const options = { env: { ...env, LARDER_OIDC_AUTO_CREATE: "off", LARDER_OIDC_LINK_BY_EMAIL: "on" } };
    await withServer(options, async (own) => {
      const getServer = () => own;
      const [victim, other] = [await own.signUp(), await own.signUp()];
      const { name } = addPerson({ email: other.email, email_verified: true });
      provider.forge = (claims) => ({ claims: { ...claims, email: victim.email }, key: "right" });
      try {
        const from = browser(getServer);
        await from.visit(await from.goToCallback(name));
        expect((await requestAs(from, "/api/auth/session", getServer)).at("user.id")).toBe(other.id);
        const unverified = { email: victim.email, email_verified: false };
        provider.forge = (claims) => ({ claims: { ...claims, ...unverified }, key: "right" });
        const second = browser(getServer);
        const { name: another } = addPerson({ email: (await own.signUp()).email });
        expectError(await requestCallback(second, await second.goToCallback(another), getServer), 403, "signup_closed");
      } finally {
        provider.forge = undefined;
      }
    });
  });

  test("no email that the ID token itself confirms, even if userinfo names another one", async () => {
    const email = freshEmail();
    const { name } = addPerson({ email: freshEmail(), email_verified: false });
    provider.forge = (claims) => ({ claims: { ...claims, email, email_verified: true }, key: "right" });
    try {
      const from = browser();
      await from.visit(await from.goToCallback(name));
      expect((await requestAs(from, "/api/auth/session")).at("user.email")).toBe(email);
    } finally {
      provider.forge = undefined;
    }
  });

  test("the email of an existing account, which someone else might have created", async () => {
    const squatter = await server().signUp();
    const { name } = addPerson({ email: squatter.email });
    const from = browser();
    const response = await requestCallback(from, await from.goToCallback(name));
    expectError(response, 403, "signup_closed");
    expect(response.string("error.message")).toContain("password");
  });

  test("a disabled account", async () => {
    const { name, email } = addPerson();
    const first = browser();
    await first.visit(await first.goToCallback(name));
    await server().larder(["user", "set", email, "--disable"]);
    const second = browser();
    expectError(await requestCallback(second, await second.goToCallback(name)), 403, "account_disabled");
    const third = browser();
    expectError(await requestCallback(third, await third.goToCallback(name, "?mode=code")), 403, "account_disabled");
  });
});

describe("linking", () => {
  test("an account with the provider requires its password, and then signs its owner in", async () => {
    const { client, email, password, token } = await server().signUp();
    const { name } = addPerson();
    expectError(await client.post("/api/auth/oidc/link", { password: "wrong words" }), 401, "bad_credentials");
    expectError(await server().visitor.post("/api/auth/oidc/link", { password }), 401, "missing_token");
    const begun = await client.post("/api/auth/oidc/link", { password, returnTo: "/docs" });
    expectStatus(begun, 200);
    const from = browser();
    const [cookie = ""] = begun.headers.getSetCookie();
    from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    const { address } = await from.go(begun.string("data.url"), name, isBack);
    const end = await from.visit(address);
    expect([end.status, end.headers.get("location")]).toEqual([302, "/docs"]);
    // The callback creates no session.
    expect(from.cookies().has("larder_session")).toBe(false);
    expect((await client.get("/api/auth/oidc/link")).strings("data.identities", "issuer")).toEqual([provider.issuer]);
    const second = browser();
    await second.visit(await second.goToCallback(name));
    expect((await requestAs(second, "/api/auth/session")).at("user.email")).toBe(email);
    expectStatus(await new Client(server(), token).get("/api/auth/session"), 200);
    expect((await client.delete("/api/auth/oidc/link", { password })).at("data.removed")).toBe(1);
    expect((await client.get("/api/auth/oidc/link")).list("data.identities")).toEqual([]);
  });

  test("requires the second factor if the account has one", async () => {
    // Otherwise the password alone would link a provider that asks for no code, and bypass two-factor sign-in.
    const account = await server().signUp();
    const { client, password } = account;
    const { secret } = await enableTwoFactor(account);
    expectError(await client.post("/api/auth/oidc/link", { password }), 401, "second_factor_required");
    expectError(await client.delete("/api/auth/oidc/link", { password }), 401, "second_factor_required");
    const wrong = { password, code: generateWrongCode(secret) };
    expectError(await client.post("/api/auth/oidc/link", wrong), 401, "invalid_code");
    expectStatus(await client.post("/api/auth/oidc/link", { password, code: generateCode(secret) }), 200);
  });

  test("fails if the password changed in the meantime", async () => {
    const { client, password, email } = await server().signUp();
    const begun = await client.post("/api/auth/oidc/link", { password });
    const [cookie = ""] = begun.headers.getSetCookie();
    const from = browser();
    from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    const { address } = await from.go(begun.string("data.url"), addPerson().name, isBack);
    const change = { currentPassword: password, newPassword: "changed by hand" };
    expectStatus(await client.put("/api/users/profile", change), 200);
    expectError(await requestCallback(from, address), 401, "bad_credentials");
    expect((await client.get("/api/auth/oidc/link")).list("data.identities")).toEqual([]);
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: "changed by hand" }), 200);
  });

  test("can be done by the operator, who knows the subject", async () => {
    await withServer({ hasAccounts: true, env: { ...env, LARDER_OIDC_AUTO_CREATE: "off" } }, async (own) => {
      const getServer = () => own;
      const account = await own.signUp();
      const { name } = addPerson();
      expect((await own.larder(["user", "link-oidc", account.email, name])).code).toBe(0);
      const from = browser(getServer);
      await from.visit(await from.goToCallback(name));
      expect((await requestAs(from, "/api/auth/session", getServer)).at("user.id")).toBe(account.id);
      const other = await own.signUp();
      expect((await own.larder(["user", "link-oidc", other.email, name])).code).not.toBe(0);
      const { stdout } = await own.larder(["doctor"]);
      expect(stdout).toContain(`single sign-on: ${provider.issuer} responds, but without HTTPS`);
    });
  });

  test("rejects an identity that is linked to another account", async () => {
    const { name } = addPerson();
    const first = browser();
    await first.visit(await first.goToCallback(name));
    const { client, password } = await server().signUp();
    const begun = await client.post("/api/auth/oidc/link", { password });
    const [cookie = ""] = begun.headers.getSetCookie();
    const from = browser();
    from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    const { address } = await from.go(begun.string("data.url"), name, isBack);
    expectError(await requestCallback(from, address), 403, "signup_closed");
  });

  test("by email happens only if the operator trusts the provider's emails", async () => {
    await withServer(
      { env: { ...env, LARDER_OIDC_AUTO_CREATE: "off", LARDER_OIDC_LINK_BY_EMAIL: "on" } },
      async (own) => {
        const getServer = () => own;
        const account = await own.signUp();
        const { name } = addPerson({ email: account.email.toUpperCase() });
        const from = browser(getServer);
        await from.visit(await from.goToCallback(name));
        expect((await requestAs(from, "/api/auth/session", getServer)).at("user.id")).toBe(account.id);
        const unverified = addPerson({ email: (await own.signUp()).email, email_verified: false });
        const second = browser(getServer);
        expectError(
          await requestCallback(second, await second.goToCallback(unverified.name), getServer),
          403,
          "signup_closed",
        );
        const third = browser(getServer);
        expectError(
          await requestCallback(third, await third.goToCallback(addPerson().name), getServer),
          403,
          "signup_closed",
        );
      },
    );
  });
});

describe("the configuration", () => {
  test("admits no unknown person by default, even if anyone may sign up", async () => {
    await withServer({ hasAccounts: true, env: { ...env, LARDER_OIDC_AUTO_CREATE: "off" } }, async (own) => {
      const from = browser(() => own);
      expectError(
        await requestCallback(from, await from.goToCallback(addPerson().name), () => own),
        403,
        "signup_closed",
      );
    });
  });

  test("limits the domains, trusts emails, and names the administrators' group", async () => {
    const own = {
      LARDER_OIDC_ALLOWED_DOMAINS: "example.org",
      LARDER_OIDC_TRUST_EMAIL: "on",
      LARDER_OIDC_ADMIN_GROUP: "chiefs",
    };
    const all = { ...env, ...own, LARDER_OIDC_SCOPES: "openid email profile groups" };
    await withServer({ env: all }, async (other) => {
      const getServer = () => other;
      const admin = await other.addUser(["--admin"]);
      const stranger = browser(getServer);
      expectError(
        await requestCallback(stranger, await stranger.goToCallback(addPerson().name), getServer),
        403,
        "signup_closed",
      );
      const chief = addPerson({
        email: `${randomBytes(4).toString("hex")}@Example.org`,
        email_verified: false,
        groups: ["chiefs"],
      });
      const roleOf = async () => {
        const from = browser(getServer);
        await from.visit(await from.goToCallback(chief.name));
        return (await requestAs(from, "/api/users/profile", getServer)).at("data.role");
      };
      expect(await roleOf()).toBe("admin");
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["others"] });
      expect(await roleOf()).toBe("user");
      // The last administrator keeps the role, independent of the provider.
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["chiefs"] });
      expect(await roleOf()).toBe("admin");
      await other.larder(["user", "set", admin.email, "--role", "user"]);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: undefined });
      expect(await roleOf()).toBe("admin");
    });
  });

  test("stops the start if it is incomplete, and names the missing setting", async () => {
    const { LARDER_OIDC_ISSUER = "" } = env;
    await expect(withServer({ env: { LARDER_OIDC_ISSUER } }, async () => {})).rejects.toThrow(/oidc\.clientId is not/);
    await expect(withServer({ env: { LARDER_OIDC_CLIENT_ID: "a" } }, async () => {})).rejects.toThrow(
      /oidc\.issuer is not/,
    );
  });
});

describe("the audit log", () => {
  test("records each account, link and role change made through the provider once", async () => {
    const settings = { LARDER_OIDC_ADMIN_GROUP: "chiefs", LARDER_OIDC_SCOPES: "openid email profile groups" };
    await withServer({ env: { ...env, ...settings } }, async (own) => {
      const getServer = () => own;
      const admin = await own.addUser(["--admin"]);
      const rows = async (email: string) => {
        const found = await admin.client.get(`/api/admin/audit?user=${encodeURIComponent(email)}`);
        return found
          .list("data.entries")
          .map((entry) => asObject(entry))
          .map((entry) => ({
            what: [entry?.["action"], entry?.["details"], asObject(entry?.["via"])?.["kind"]],
            where: entry?.["clientAddress"],
            whom: asObject(entry?.["account"])?.["email"],
          }));
      };
      const whom = (email: string) => ({ where: "127.0.0.1", whom: email });
      const enter = async (name: string, query = "") => {
        const from = browser(getServer);
        await from.visit(await from.goToCallback(name, query));
      };
      const chief = addPerson({ groups: ["chiefs"] });
      await enter(chief.name);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["others"] });
      await enter(chief.name, "?mode=code");
      await enter(chief.name);
      expect(await rows(chief.email)).toEqual([
        { what: ["sign_in", { provider: true }, "none"], ...whom(chief.email) },
        { what: ["user.change", { provider: true, role: "user" }, "none"], ...whom(chief.email) },
        { what: ["sign_up", { provider: true, role: "admin" }, "none"], ...whom(chief.email) },
      ]);

      // A rejected sign-in changes no role.
      await own.larder(["user", "set", chief.email, "--disable"]);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["chiefs"] });
      const refused = browser(getServer);
      expectError(
        await requestCallback(refused, await refused.goToCallback(chief.name), getServer),
        403,
        "account_disabled",
      );
      const listed = await admin.client.get(`/api/admin/users?search=${encodeURIComponent(chief.email)}`);
      expect(listed.at("data.users.0.role")).toBe("user");

      const account = await own.signUp();
      const begun = await account.client.post("/api/auth/oidc/link", { password: account.password });
      const [cookie = ""] = begun.headers.getSetCookie();
      const from = browser(getServer);
      from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
      const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
      const other = addPerson();
      expect((await rows(account.email)).map(({ what: [action] }) => action)).toEqual(["sign_up"]);
      await from.visit((await from.go(begun.string("data.url"), other.name, isBack)).address);
      expect((await rows(account.email))[0]).toEqual({
        what: ["identity.link", { provider: true }, "none"],
        ...whom(account.email),
      });

      const third = await own.signUp();
      expect((await own.larder(["user", "link-oidc", third.email, "subject-3"])).code).toBe(0);
      const [linked] = await rows(third.email);
      expect(linked?.what).toEqual(["identity.link", { subject: "subject-3" }, "cli"]);
    });
  });
});

test("erasing the account removes the link, and the same person starts again with a new account", async () => {
  const { name } = addPerson();
  const first = browser();
  await first.visit(await first.goToCallback(name));
  const before = await requestAs(first, "/api/auth/session");
  const { password } = { password: "set by the owner" };
  const link = await server().larder(["user", "reset-link", before.string("user.email")]);
  const token = new URL(link.stdout.trim()).searchParams.get("token") ?? "";
  expectStatus(await server().visitor.post("/api/auth/password/reset", { token, newPassword: password }), 200);
  const signedIn = await server().visitor.post("/api/auth/signin", { email: before.string("user.email"), password });
  const client = new Client(server(), signedIn.string("token"));
  expectStatus(await client.delete("/api/users/profile", { password }), 200);
  const second = browser();
  await second.visit(await second.goToCallback(name));
  const after = await requestAs(second, "/api/auth/session");
  expectStatus(after, 200);
  expect(after.string("user.id")).not.toBe(before.string("user.id"));
});

test("an unreachable provider affects no other sign-in, and works again when it is back", async () => {
  const { name } = addPerson();
  await provider.stop();
  await withServer({ hasAccounts: true, env }, async (own) => {
    const getServer = () => own;
    expectError(await own.visitor.get("/api/auth/oidc/start"), 503, "provider_unavailable");
    const page = await browser(getServer).visit(`${publicUrl}/api/auth/oidc/start`);
    expect(page.status).toBe(503);
    expect(page.text).toContain("can&#39;t be reached");
    expectStatus(await (await own.signUp()).client.get("/api/files"), 200);
    await provider.start();
    const from = browser(getServer);
    const callback = await from.goToCallback(name);
    await provider.stop();
    expectError(await requestCallback(from, callback, getServer), 503, "provider_unavailable");
    expect(own.log).not.toContain(provider.clientSecret);
    await provider.start();
  });
});

test("secrets and codes never appear in the log", async () => {
  const from = browser();
  const callback = new URL(await from.goToCallback(addPerson().name));
  await from.visit(callback.href);
  const code = callback.searchParams.get("code") ?? "no code";
  for (const secret of [provider.clientSecret, code, from.cookies().get("larder_session") ?? "no session"])
    expect(server().log).not.toContain(secret);
});

testAllResponses(server);
