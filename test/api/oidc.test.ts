import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { Client, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/laws.ts";
import { Browser, type Claims, publicUrl, TestProvider } from "../support/oidc-provider.ts";
import { objectOf } from "../support/openapi.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";
import { codeOf, switchOnTwoFactor, wrongCode } from "../support/two-factor.ts";

const provider = new TestProvider();
const env: Record<string, string> = {};
beforeAll(async () => {
  await provider.start();
  Object.assign(env, provider.env, { LARDER_OIDC_AUTO_CREATE: "on", LARDER_OIDC_NAME: "Our house" });
});
afterAll(() => provider.stop());
const server = sharedServer({ hasAccounts: true, env });

/** Somebody new whom the provider knows. */
function person(claims: Claims = {}): { name: string; email: string } {
  const name = `person-${randomBytes(4).toString("hex")}`;
  const email = freshEmail();
  provider.people.set(name, { email, email_verified: true, name: "Ada Example", ...claims });
  return { name, email };
}

const browser = (of: () => TestServer = server) => new Browser(() => of().url);

/** Goes through a sign-in as a browser that asks for no page at its end, so that refusals are in the envelope. */
async function comeBack(from: Browser, callback: string, of: () => TestServer = server) {
  const { pathname, search } = new URL(callback);
  const cookie = [...from.cookies()].map(([name, value]) => `${name}=${value}`).join("; ");
  return of().visitor.get(pathname + search, cookie === "" ? {} : { cookie });
}

const ask = (from: Browser, path: string, of: () => TestServer = server) =>
  of().visitor.get(path, { cookie: `larder_session=${from.cookies().get("larder_session") ?? ""}` });

describe("GET /api/auth/methods", () => {
  test("tells pages how people may sign in", async () => {
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

  test("and that there is no provider, where there is none", async () => {
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

describe("a sign-in by the provider", () => {
  test("goes through its login form, makes the account, and ends signed in where it was wanted", async () => {
    const { name, email } = person();
    const from = browser();
    const callback = await from.untilCallback(name, "?returnTo=/docs%3Fa%3D1");
    const end = await from.visit(callback);
    expect(end.status).toBe(302);
    expect(end.headers.get("location")).toBe("/docs?a=1");
    expect(end.headers.get("cache-control")).toBe("no-store");
    const [session = ""] = end.headers.getSetCookie().filter((line) => line.startsWith("larder_session="));
    expect(session).toContain("HttpOnly");
    expect(session).toContain("SameSite=Lax");
    const who = await ask(from, "/api/auth/session");
    expectStatus(who, 200);
    expect(who.at("user")).toMatchObject({ email, name: "Ada Example" });
    const profile = await ask(from, "/api/users/profile");
    expect([profile.at("data.role"), profile.at("data.plan")]).toEqual(["user", "enterprise"]);
  });

  test("finds the same account again, also after the e-mail changed at the provider", async () => {
    const { name, email } = person();
    const first = browser();
    await first.visit(await first.untilCallback(name));
    const id = (await ask(first, "/api/auth/session")).string("user.id");
    provider.people.set(name, { email: freshEmail(), email_verified: true });
    const second = browser();
    await second.visit(await second.untilCallback(name));
    const again = await ask(second, "/api/auth/session");
    expect([again.at("user.id"), again.at("user.email")]).toEqual([id, email]);
  });

  test("begun twice at once by somebody new makes one account", async () => {
    const { name } = person();
    const [first, second] = [browser(), browser()];
    const callbacks = [await first.untilCallback(name), await second.untilCallback(name)];
    const ends = await Promise.all([first.visit(callbacks[0] ?? ""), second.visit(callbacks[1] ?? "")]);
    expect(ends.map(({ status }) => status)).toEqual([302, 302]);
    const ids = [await ask(first, "/api/auth/session"), await ask(second, "/api/auth/session")];
    expect(ids[0]?.string("user.id")).toBe(ids[1]?.string("user.id") ?? "");
  });

  test("starts at /, and only returns to this server", async () => {
    const { name } = person();
    const from = browser();
    const end = await from.visit(await from.untilCallback(name));
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

  test("asks with PKCE, state and nonce, and binds itself to the browser by a short cookie", async () => {
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

  test("ends in a one-time code for programs, which never see a token in an address", async () => {
    const { name, email } = person();
    const from = browser();
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const end = await from.visit(
      await from.untilCallback(name, `?mode=code&returnTo=/docs%23old&challenge=${challenge}`),
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

  test("shows the code on a page where it was told no place to return to", async () => {
    const { name } = person();
    const from = browser();
    const end = await from.visit(await from.untilCallback(name, "?mode=code"));
    expect(end.status).toBe(200);
    expect(end.headers.get("cache-control")).toBe("no-store");
    const code = /<code>([A-Za-z0-9_-]+)<\/code>/.exec(end.text)?.[1] ?? "";
    const signedIn = await server().visitor.post("/api/auth/oidc/token", { code, cookie: true });
    expectStatus(signedIn, 200);
    expect(signedIn.header("set-cookie")).toStartWith("larder_session=");
  });

  test("refuses a code without the verifier that it was bound to, and uses it up", async () => {
    const { name } = person();
    const from = browser();
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const end = await from.visit(await from.untilCallback(name, `?mode=code&returnTo=/docs&challenge=${challenge}`));
    const code = (end.headers.get("location") ?? "").split("#code=")[1] ?? "";
    expectError(await server().visitor.post("/api/auth/oidc/token", { code }), 401, "invalid_code");
    expectError(await server().visitor.post("/api/auth/oidc/token", { code, verifier }), 401, "invalid_code");
    expectError(await server().visitor.get("/api/auth/oidc/start?mode=token"), 400, "invalid_field", "mode");
    expectError(await server().visitor.get("/api/auth/oidc/start?challenge=x"), 400, "invalid_field", "challenge");
  });
});

describe("nobody comes in by", () => {
  test("a wrong state, a missing one, or two", async () => {
    const from = browser();
    const callback = await from.untilCallback(person().name);
    const wrong = new URL(callback);
    wrong.searchParams.set("state", "x".repeat(32));
    expectError(await comeBack(from, wrong.href), 400, "invalid_request");
    wrong.searchParams.delete("state");
    expectError(await comeBack(from, wrong.href), 400, "invalid_request");
    expectError(await comeBack(from, `${callback}&state=other`), 400, "invalid_request");
    expectStatus(await comeBack(from, callback), 302);
  });

  test("an answer that comes a second time", async () => {
    const from = browser();
    const callback = await from.untilCallback(person().name);
    expectStatus(await comeBack(from, callback), 302);
    expectError(await comeBack(from, callback), 400, "invalid_request");
  });

  test("an answer that was used up at the provider, also after a restart of this server", async () => {
    await withServer({ hasAccounts: true, env }, async (other) => {
      const of = () => other;
      const from = browser(of);
      const callback = await from.untilCallback(person().name);
      expectStatus(await comeBack(from, callback, of), 302);
      await other.restart();
      expectError(await comeBack(from, callback, of), 401, "bad_credentials");
    });
  });

  test("an answer that belongs to another browser", async () => {
    const callback = await browser().untilCallback(person().name);
    expectError(await comeBack(browser(), callback), 400, "invalid_request");
    const other = browser();
    await other.visit(`${publicUrl}/api/auth/oidc/start`);
    expectError(await comeBack(other, callback), 400, "invalid_request");
  });

  test("a cookie that was changed", async () => {
    const from = browser();
    const callback = await from.untilCallback(person().name);
    const sealed = from.cookies().get("larder_oidc") ?? "";
    for (const changed of [`${sealed.slice(0, -2)}AA`, sealed.slice(0, 20), "AAAA", "A".repeat(5_000)]) {
      from.cookies().set("larder_oidc", changed);
      expectError(await comeBack(from, callback), 400, "invalid_request");
    }
  });

  test("an ID token with another nonce, audience, issuer, expiry or subject of nobody", async () => {
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
        expectError(await comeBack(from, await from.untilCallback(person().name)), 401, "bad_credentials");
      } finally {
        provider.forge = undefined;
      }
    }
  });

  test("an ID token that somebody else signed", async () => {
    provider.forge = (claims) => ({ claims, key: "other" });
    const from = browser();
    try {
      expectError(await comeBack(from, await from.untilCallback(person().name)), 401, "bad_credentials");
    } finally {
      provider.forge = undefined;
    }
  });

  test("an answer of another provider (mix-up)", async () => {
    const from = browser();
    const callback = new URL(await from.untilCallback(person().name));
    callback.searchParams.set("iss", "http://127.0.0.1:1");
    expectError(await comeBack(from, callback.href), 401, "bad_credentials");
    const second = browser();
    const without = new URL(await second.untilCallback(person().name));
    without.searchParams.delete("iss");
    expectError(await comeBack(second, without.href), 401, "bad_credentials");
  });

  test("giving up at the provider, which gets a page with words", async () => {
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

  test("an e-mail that the provider didn't verify", async () => {
    for (const email_verified of [false, undefined, "false", 1]) {
      const { name } = person({ email_verified });
      const from = browser();
      expectError(await comeBack(from, await from.untilCallback(name)), 403, "signup_closed");
    }
    const { name } = person({ email: undefined });
    const from = browser();
    expectError(await comeBack(from, await from.untilCallback(name)), 403, "signup_closed");
  });

  test("an e-mail of the ID token by what userinfo confirms of another one", async () => {
    const options = { env: { ...env, LARDER_OIDC_AUTO_CREATE: "off", LARDER_OIDC_LINK_BY_EMAIL: "on" } };
    await withServer(options, async (own) => {
      const of = () => own;
      const [victim, other] = [await own.signUp(), await own.signUp()];
      const { name } = person({ email: other.email, email_verified: true });
      provider.forge = (claims) => ({ claims: { ...claims, email: victim.email }, key: "right" });
      try {
        const from = browser(of);
        await from.visit(await from.untilCallback(name));
        expect((await ask(from, "/api/auth/session", of)).at("user.id")).toBe(other.id);
        const unverified = { email: victim.email, email_verified: false };
        provider.forge = (claims) => ({ claims: { ...claims, ...unverified }, key: "right" });
        const second = browser(of);
        const { name: another } = person({ email: (await own.signUp()).email });
        expectError(await comeBack(second, await second.untilCallback(another), of), 403, "signup_closed");
      } finally {
        provider.forge = undefined;
      }
    });
  });

  test("but not the e-mail that the ID token itself confirms, also where userinfo names another one", async () => {
    const email = freshEmail();
    const { name } = person({ email: freshEmail(), email_verified: false });
    provider.forge = (claims) => ({ claims: { ...claims, email, email_verified: true }, key: "right" });
    try {
      const from = browser();
      await from.visit(await from.untilCallback(name));
      expect((await ask(from, "/api/auth/session")).at("user.email")).toBe(email);
    } finally {
      provider.forge = undefined;
    }
  });

  test("the e-mail of an account that is there: whoever made it might be somebody else", async () => {
    const squatter = await server().signUp();
    const { name } = person({ email: squatter.email });
    const from = browser();
    const response = await comeBack(from, await from.untilCallback(name));
    expectError(response, 403, "signup_closed");
    expect(response.string("error.message")).toContain("password");
  });

  test("an account that is disabled", async () => {
    const { name, email } = person();
    const first = browser();
    await first.visit(await first.untilCallback(name));
    await server().larder(["user", "set", email, "--disable"]);
    const second = browser();
    expectError(await comeBack(second, await second.untilCallback(name)), 403, "account_disabled");
    const third = browser();
    expectError(await comeBack(third, await third.untilCallback(name, "?mode=code")), 403, "account_disabled");
  });
});

describe("linking", () => {
  test("an account to the provider takes its password, and then lets its owner in", async () => {
    const { client, email, password, token } = await server().signUp();
    const { name } = person();
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
    // No session begins by it.
    expect(from.cookies().has("larder_session")).toBe(false);
    expect((await client.get("/api/auth/oidc/link")).strings("data.identities", "issuer")).toEqual([provider.issuer]);
    const second = browser();
    await second.visit(await second.untilCallback(name));
    expect((await ask(second, "/api/auth/session")).at("user.email")).toBe(email);
    expectStatus(await new Client(server(), token).get("/api/auth/session"), 200);
    expect((await client.delete("/api/auth/oidc/link", { password })).at("data.removed")).toBe(1);
    expect((await client.get("/api/auth/oidc/link")).list("data.identities")).toEqual([]);
  });

  test("asks for the second factor where sign-in does", async () => {
    // The password alone let the provider in, which asks for no code: a way around two-factor sign-in.
    const account = await server().signUp();
    const { client, password } = account;
    const { secret } = await switchOnTwoFactor(account);
    expectError(await client.post("/api/auth/oidc/link", { password }), 401, "second_factor_required");
    expectError(await client.delete("/api/auth/oidc/link", { password }), 401, "second_factor_required");
    const wrong = { password, code: wrongCode(secret) };
    expectError(await client.post("/api/auth/oidc/link", wrong), 401, "invalid_code");
    expectStatus(await client.post("/api/auth/oidc/link", { password, code: codeOf(secret) }), 200);
  });

  test("is worth nothing once the password was changed in between", async () => {
    const { client, password, email } = await server().signUp();
    const begun = await client.post("/api/auth/oidc/link", { password });
    const [cookie = ""] = begun.headers.getSetCookie();
    const from = browser();
    from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    const { address } = await from.go(begun.string("data.url"), person().name, isBack);
    const change = { currentPassword: password, newPassword: "changed by hand" };
    expectStatus(await client.put("/api/users/profile", change), 200);
    expectError(await comeBack(from, address), 401, "bad_credentials");
    expect((await client.get("/api/auth/oidc/link")).list("data.identities")).toEqual([]);
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: "changed by hand" }), 200);
  });

  test("may be the operator's doing, who knows the subject", async () => {
    await withServer({ hasAccounts: true, env: { ...env, LARDER_OIDC_AUTO_CREATE: "off" } }, async (own) => {
      const of = () => own;
      const account = await own.signUp();
      const { name } = person();
      expect((await own.larder(["user", "link-oidc", account.email, name])).code).toBe(0);
      const from = browser(of);
      await from.visit(await from.untilCallback(name));
      expect((await ask(from, "/api/auth/session", of)).at("user.id")).toBe(account.id);
      const other = await own.signUp();
      expect((await own.larder(["user", "link-oidc", other.email, name])).code).not.toBe(0);
      const { stdout } = await own.larder(["doctor"]);
      expect(stdout).toContain(`single sign-on: ${provider.issuer} responds, but without HTTPS`);
    });
  });

  test("somebody who enters another account already is refused", async () => {
    const { name } = person();
    const first = browser();
    await first.visit(await first.untilCallback(name));
    const { client, password } = await server().signUp();
    const begun = await client.post("/api/auth/oidc/link", { password });
    const [cookie = ""] = begun.headers.getSetCookie();
    const from = browser();
    from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    const { address } = await from.go(begun.string("data.url"), name, isBack);
    expectError(await comeBack(from, address), 403, "signup_closed");
  });

  test("is by the e-mail only where the operator says that e-mails are true", async () => {
    await withServer(
      { env: { ...env, LARDER_OIDC_AUTO_CREATE: "off", LARDER_OIDC_LINK_BY_EMAIL: "on" } },
      async (own) => {
        const of = () => own;
        const account = await own.signUp();
        const { name } = person({ email: account.email.toUpperCase() });
        const from = browser(of);
        await from.visit(await from.untilCallback(name));
        expect((await ask(from, "/api/auth/session", of)).at("user.id")).toBe(account.id);
        const unverified = person({ email: (await own.signUp()).email, email_verified: false });
        const second = browser(of);
        expectError(await comeBack(second, await second.untilCallback(unverified.name), of), 403, "signup_closed");
        const third = browser(of);
        expectError(await comeBack(third, await third.untilCallback(person().name), of), 403, "signup_closed");
      },
    );
  });
});

describe("the configuration", () => {
  test("lets nobody unknown in by default, whoever may sign up", async () => {
    await withServer({ hasAccounts: true, env: { ...env, LARDER_OIDC_AUTO_CREATE: "off" } }, async (own) => {
      const from = browser(() => own);
      expectError(await comeBack(from, await from.untilCallback(person().name), () => own), 403, "signup_closed");
    });
  });

  test("limits the domains, trusts e-mails, and says who administers", async () => {
    const own = {
      LARDER_OIDC_ALLOWED_DOMAINS: "example.org",
      LARDER_OIDC_TRUST_EMAIL: "on",
      LARDER_OIDC_ADMIN_GROUP: "chiefs",
    };
    const all = { ...env, ...own, LARDER_OIDC_SCOPES: "openid email profile groups" };
    await withServer({ env: all }, async (other) => {
      const of = () => other;
      const admin = await other.addUser(["--admin"]);
      const stranger = browser(of);
      expectError(await comeBack(stranger, await stranger.untilCallback(person().name), of), 403, "signup_closed");
      const chief = person({
        email: `${randomBytes(4).toString("hex")}@Example.org`,
        email_verified: false,
        groups: ["chiefs"],
      });
      const roleOf = async () => {
        const from = browser(of);
        await from.visit(await from.untilCallback(chief.name));
        return (await ask(from, "/api/users/profile", of)).at("data.role");
      };
      expect(await roleOf()).toBe("admin");
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["others"] });
      expect(await roleOf()).toBe("user");
      // The last administrator stays one, whatever the provider says.
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["chiefs"] });
      expect(await roleOf()).toBe("admin");
      await other.larder(["user", "set", admin.email, "--role", "user"]);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: undefined });
      expect(await roleOf()).toBe("admin");
    });
  });

  test("that is not whole stops the start and says what is missing", async () => {
    const { LARDER_OIDC_ISSUER = "" } = env;
    await expect(withServer({ env: { LARDER_OIDC_ISSUER } }, async () => {})).rejects.toThrow(/oidc\.clientId is not/);
    await expect(withServer({ env: { LARDER_OIDC_CLIENT_ID: "a" } }, async () => {})).rejects.toThrow(
      /oidc\.issuer is not/,
    );
  });
});

describe("the audit log", () => {
  test("tells of accounts, links and roles that came by the provider, each once", async () => {
    const settings = { LARDER_OIDC_ADMIN_GROUP: "chiefs", LARDER_OIDC_SCOPES: "openid email profile groups" };
    await withServer({ env: { ...env, ...settings } }, async (own) => {
      const of = () => own;
      const admin = await own.addUser(["--admin"]);
      const rows = async (email: string) => {
        const found = await admin.client.get(`/api/admin/audit?user=${encodeURIComponent(email)}`);
        return found
          .list("data.entries")
          .map((entry) => objectOf(entry))
          .map((entry) => ({
            what: [entry?.["action"], entry?.["details"], objectOf(entry?.["via"])?.["kind"]],
            where: entry?.["clientAddress"],
            whom: objectOf(entry?.["account"])?.["email"],
          }));
      };
      const whom = (email: string) => ({ where: "127.0.0.1", whom: email });
      const enter = async (name: string, query = "") => {
        const from = browser(of);
        await from.visit(await from.untilCallback(name, query));
      };
      const chief = person({ groups: ["chiefs"] });
      await enter(chief.name);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["others"] });
      await enter(chief.name, "?mode=code");
      await enter(chief.name);
      expect(await rows(chief.email)).toEqual([
        { what: ["sign_in", { provider: true }, "none"], ...whom(chief.email) },
        { what: ["user.change", { provider: true, role: "user" }, "none"], ...whom(chief.email) },
        { what: ["sign_up", { provider: true, role: "admin" }, "none"], ...whom(chief.email) },
      ]);

      // Whoever is not let in gets no role by trying.
      await own.larder(["user", "set", chief.email, "--disable"]);
      provider.people.set(chief.name, { ...provider.people.get(chief.name), groups: ["chiefs"] });
      const refused = browser(of);
      expectError(await comeBack(refused, await refused.untilCallback(chief.name), of), 403, "account_disabled");
      const listed = await admin.client.get(`/api/admin/users?search=${encodeURIComponent(chief.email)}`);
      expect(listed.at("data.users.0.role")).toBe("user");

      const account = await own.signUp();
      const begun = await account.client.post("/api/auth/oidc/link", { password: account.password });
      const [cookie = ""] = begun.headers.getSetCookie();
      const from = browser(of);
      from.cookies().set("larder_oidc", cookie.slice("larder_oidc=".length, cookie.indexOf(";")));
      const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
      const other = person();
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

test("erasing the account ends the way in; the same person begins anew", async () => {
  const { name } = person();
  const first = browser();
  await first.visit(await first.untilCallback(name));
  const before = await ask(first, "/api/auth/session");
  const { password } = { password: "set by the owner" };
  const link = await server().larder(["user", "reset-link", before.string("user.email")]);
  const token = new URL(link.stdout.trim()).searchParams.get("token") ?? "";
  expectStatus(await server().visitor.post("/api/auth/password/reset", { token, newPassword: password }), 200);
  const signedIn = await server().visitor.post("/api/auth/signin", { email: before.string("user.email"), password });
  const client = new Client(server(), signedIn.string("token"));
  expectStatus(await client.delete("/api/users/profile", { password }), 200);
  const second = browser();
  await second.visit(await second.untilCallback(name));
  const after = await ask(second, "/api/auth/session");
  expectStatus(after, 200);
  expect(after.string("user.id")).not.toBe(before.string("user.id"));
});

test("a provider that is away hurts nobody else, and is found again when it is back", async () => {
  const { name } = person();
  await provider.stop();
  await withServer({ hasAccounts: true, env }, async (own) => {
    const of = () => own;
    expectError(await own.visitor.get("/api/auth/oidc/start"), 503, "provider_unavailable");
    const page = await browser(of).visit(`${publicUrl}/api/auth/oidc/start`);
    expect(page.status).toBe(503);
    expect(page.text).toContain("can&#39;t be reached");
    expectStatus(await (await own.signUp()).client.get("/api/files"), 200);
    await provider.start();
    const from = browser(of);
    const callback = await from.untilCallback(name);
    await provider.stop();
    expectError(await comeBack(from, callback, of), 503, "provider_unavailable");
    expect(own.log).not.toContain(provider.clientSecret);
    await provider.start();
  });
});

test("secrets and codes stay out of the log", async () => {
  const from = browser();
  const callback = new URL(await from.untilCallback(person().name));
  await from.visit(callback.href);
  const code = callback.searchParams.get("code") ?? "no code";
  for (const secret of [provider.clientSecret, code, from.cookies().get("larder_session") ?? "no session"])
    expect(server().log).not.toContain(secret);
});

testAllResponses(server);
