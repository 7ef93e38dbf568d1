// Identity confirmation by signing in again at the provider, for accounts without a known password.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type ApiResponse, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { Browser, publicUrl, TestProvider } from "../support/oidc-provider.ts";
import { sharedServer } from "../support/server.ts";

const provider = new TestProvider();
const env: Record<string, string> = {};
beforeAll(async () => {
  await provider.start();
  Object.assign(env, provider.env, { LARDER_OIDC_AUTO_CREATE: "on" });
});
afterEach(() => {
  provider.forge = undefined;
});
afterAll(() => provider.stop());
const server = sharedServer({ hasAccounts: true, env });

const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);

/** A person whose account the first sign-in through the provider created, and their browser. */
async function addPerson() {
  const name = `person-${randomBytes(4).toString("hex")}`;
  const email = freshEmail();
  provider.people.set(name, { email, email_verified: true, name: "Ada Example" });
  const browser = new Browser(() => server().url);
  await browser.visit(await browser.goToCallback(name));
  const cookies = () => [...browser.cookies()].map(([key, value]) => `${key}=${value}`).join("; ");
  const headers = () => ({ cookie: cookies(), origin: publicUrl });
  const post = (path: string, json: object = {}) => server().visitor.post(path, json, headers());
  const startConfirmation = async (json: object = {}): Promise<string> => {
    const response = await post("/api/auth/confirm/provider", json);
    expectStatus(response, 200);
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split("; ");
      const cut = pair.indexOf("=");
      browser.cookies().set(pair.slice(0, cut), pair.slice(cut + 1));
    }
    return response.string("data.url");
  };
  const requestCallback = (callback: string): Promise<ApiResponse> => {
    const { pathname, search } = new URL(callback);
    return server().visitor.get(pathname + search, { cookie: cookies() });
  };
  /** Signs in at the provider again, as this person or another one, and requests the callback. */
  const confirm = async (as = name, json: object = {}): Promise<ApiResponse> =>
    requestCallback((await browser.go(await startConfirmation(json), as, isBack)).address);
  const tryCreateKey = () => post("/api/users/api-keys", { name: "script" });
  return { name, email, browser, post, startConfirmation, requestCallback, confirm, tryCreateKey };
}

test("confirms the session of an account without a password, and returns to the page", async () => {
  const ada = await addPerson();
  const refused = await ada.tryCreateKey();
  expectError(refused, 401, "password_required");
  expect(refused.at("error.details.methods")).toEqual(["provider"]);
  const query = new URL(await ada.startConfirmation()).searchParams;
  expect([query.get("prompt"), query.get("max_age")]).toEqual(["login", "0"]);
  const back = await ada.confirm(ada.name, { returnTo: "/settings/api-keys" });
  expectStatus(back, 302);
  expect(back.header("location")).toBe("/settings/api-keys");
  expect(back.headers.getSetCookie().join()).not.toContain("larder_session");
  expectStatus(await ada.tryCreateKey(), 201);
  // From now on the account has a password, and only the password confirms it.
  const change = await server().visitor.request("PUT", "/api/users/profile", {
    json: { newPassword: "a password of my own" },
    headers: {
      cookie: `larder_session=${ada.browser.cookies().get("larder_session") ?? ""}`,
      origin: publicUrl,
    },
  });
  expectStatus(change, 200);
  expect((await ada.tryCreateKey()).at("error.details.methods")).toEqual(["password"]);
  expectError(await ada.post("/api/auth/confirm/provider"), 400, "invalid_request");
  expectStatus(await ada.post("/api/auth/confirm", { currentPassword: "a password of my own" }), 200);
});

test("without a return address, it ends on a page that asks to close the window", async () => {
  const ada = await addPerson();
  const back = await ada.confirm();
  expectStatus(back, 200);
  expect(back.text).toContain("Close this window");
  expectStatus(await ada.tryCreateKey(), 201);
});

test("fails if the provider did not ask for the credentials again, or doesn't state when it did", async () => {
  const ada = await addPerson();
  for (const authTime of [Math.floor(Date.now() / 1000) - 600, undefined, "now"]) {
    provider.forge = ({ auth_time: _signed, ...claims }) => ({
      claims: { ...claims, ...(authTime !== undefined && { auth_time: authTime }) },
      key: "right",
    });
    expectError(await ada.confirm(), 401, "bad_credentials");
    expectError(await ada.tryCreateKey(), 401, "password_required");
  }
});

test("fails if another person signs in there, or another browser sends the callback", async () => {
  const [ada, grace] = [await addPerson(), await addPerson()];
  // Sign out at the provider, so that it lets another person sign in.
  ada.browser.cookies(provider.issuer).clear();
  expectError(await ada.confirm(grace.name), 401, "bad_credentials");
  ada.browser.cookies(provider.issuer).clear();
  const callback = (await ada.browser.go(await ada.startConfirmation(), ada.name, isBack)).address;
  expectError(await grace.requestCallback(callback), 400, "invalid_request");
  expectError(await ada.tryCreateKey(), 401, "password_required");
});

test("confirms only once, and nothing after the session has ended", async () => {
  const ada = await addPerson();
  const callback = (await ada.browser.go(await ada.startConfirmation(), ada.name, isBack)).address;
  expectStatus(await ada.requestCallback(callback), 200);
  expectError(await ada.requestCallback(callback), 400, "invalid_request");
  const second = (await ada.browser.go(await ada.startConfirmation(), ada.name, isBack)).address;
  expectStatus(await ada.post("/api/auth/signout"), 200);
  expectError(await ada.requestCallback(second), 401, "bad_credentials");
});

test("is available only to accounts without a known password", async () => {
  const account = await confirmIdentity(await server().signUp());
  expectError(await account.client.post("/api/auth/confirm/provider"), 400, "invalid_request");
  expectError(await server().visitor.post("/api/auth/confirm/provider", {}), 401, "missing_token");
});

testAllResponses(server);
