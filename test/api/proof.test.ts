// Proof of identity for sensitive changes: which requests need it, how it is given, and when it expires.
import { describe, expect, test } from "bun:test";
import { Authenticator } from "../support/authenticator.ts";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity, tryConfirm } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { generateCode, enableTwoFactor, generateWrongCode } from "../support/two-factor.ts";

const server = sharedServer({ hasAccounts: true });

const newPassword = "another long password";

async function signIn({ email, password }: Account, extra: Record<string, unknown> = {}): Promise<Client> {
  const apiResponse = await server().visitor.post("/api/auth/signin", { email, password, ...extra });
  expectStatus(apiResponse, 200);
  return new Client(server(), apiResponse.string("token"));
}

const tryCreateKey = (client: Client, extra: Record<string, unknown> = {}) =>
  client.post("/api/users/api-keys", { name: "script", ...extra });

describe("without confirmation", () => {
  test("a session can't change credentials or delete the account", async () => {
    const { client } = await server().signUp();
    const requests = [
      tryCreateKey(client),
      client.put("/api/users/profile", { email: freshEmail() }),
      client.put("/api/users/profile", { newPassword }),
      client.put("/api/users/profile", { name: "Grace", newPassword, endKeys: true }),
      client.post("/api/users/two-factor/setup"),
      client.post("/api/users/two-factor/disable", {}),
      client.post("/api/users/two-factor/recovery-codes"),
      client.post("/api/users/passkeys/options", {}),
      client.delete("/api/users/passkeys/psk_1"),
      client.delete("/api/users/profile"),
      client.delete("/api/users/profile", {}),
    ];
    for (const apiResponse of await Promise.all(requests)) {
      expectError(apiResponse, 401, "password_required");
      expect(apiResponse.at("error.details")).toMatchObject({ methods: ["password"], needsCode: false });
    }
    expectStatus(await client.get("/api/users/profile"), 200);
    expect((await client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
    // The name is no credential.
    expectStatus(await client.put("/api/users/profile", { name: "Grace" }), 200);
  });

  test("a session that has just signed in has no more rights", async () => {
    expectError(await tryCreateKey(await signIn(await server().signUp())), 401, "password_required");
  });

  test("a wrong password is rejected, counts as a failed sign-in, and leaves the session intact", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on" } }, async (limited) => {
      const account = await limited.signUp();
      for (let tries = 0; tries < 5; tries++) {
        expectError(
          await tryCreateKey(account.client, { currentPassword: "not the password" }),
          401,
          "bad_credentials",
        );
      }
      const { email, password } = account;
      expectError(await tryConfirm(account), 429, "rate_limited");
      expectError(await limited.visitor.post("/api/auth/signin", { email, password }), 429, "rate_limited");
      expectError(await tryCreateKey(account.client), 401, "password_required");
    });
  });

  test("an API key and a device can't create keys, even with the password", async () => {
    const account = await server().signUp();
    const { password: currentPassword } = account;
    const key = await tryCreateKey(account.client, { currentPassword, scopes: ["profile", "files:write"] });
    const byKey = new Client(server(), key.string("data.key"));
    expectError(await tryCreateKey(byKey, { currentPassword }), 403, "scope");
    expectError(await byKey.post("/api/auth/confirm", { currentPassword }), 403, "scope");
    const device = await registerDevice(server(), account);
    expectError(await tryCreateKey(device.client, { currentPassword }), 403, "scope");
    expectStatus(await device.client.post("/api/auth/confirm", { currentPassword }), 200);
    expectError(await tryCreateKey(device.client), 403, "scope");
  });
});

describe("POST /api/auth/confirm", () => {
  test("confirms this session only, for ten minutes", async () => {
    const account = await server().signUp();
    const other = await signIn(account);
    expect((await account.client.get("/api/auth/session")).at("session.confirmedUntil")).toBeNull();
    const before = Date.now();
    const apiResponse = await tryConfirm(account);
    expectStatus(apiResponse, 200);
    expect(apiResponse.string("data.confirmedUntil")).toMatch(timestampPattern);
    const untilMs = Date.parse(apiResponse.string("data.confirmedUntil"));
    expect(untilMs - before).toBeGreaterThanOrEqual(600_000);
    expect(untilMs - Date.now()).toBeLessThanOrEqual(600_000);
    const session = await account.client.get("/api/auth/session");
    expect(session.string("session.confirmedUntil")).toBe(apiResponse.string("data.confirmedUntil"));
    expectStatus(await tryCreateKey(account.client), 201);
    expectStatus(await account.client.put("/api/users/profile", { email: freshEmail() }), 200);
    expectError(await tryCreateKey(other), 401, "password_required");
  });

  test("a wrong password in a request is rejected even in a confirmed session", async () => {
    const { client } = await confirmIdentity(await server().signUp());
    expectError(await tryCreateKey(client, { currentPassword: "not the password" }), 401, "bad_credentials");
    expectStatus(await tryCreateKey(client), 201);
  });

  test("is not inherited by a refreshed token", async () => {
    const { client } = await confirmIdentity(await server().signUp());
    const refreshed = new Client(server(), (await client.post("/api/auth/refresh")).string("token"));
    expectError(await tryCreateKey(refreshed), 401, "password_required");
  });

  test("ends with a new password, also for the session that set it", async () => {
    const account = await confirmIdentity(await server().signUp());
    expectStatus(await account.client.put("/api/users/profile", { newPassword }), 200);
    expectError(await tryCreateKey(account.client), 401, "password_required");
    expectStatus(await tryCreateKey(account.client, { currentPassword: newPassword }), 201);
  });

  test("ends when two-factor sign-in is switched on, as it was given without a code", async () => {
    const account = await server().signUp();
    const other = await signIn(account);
    expectStatus(await other.post("/api/auth/confirm", { currentPassword: account.password }), 200);
    await enableTwoFactor(account);
    const refused = await tryCreateKey(other);
    expectError(refused, 401, "password_required");
    expect(refused.at("error.details.needsCode")).toBe(true);
  });

  test("requires a password and a session", async () => {
    const { client } = await server().signUp();
    expectError(await client.post("/api/auth/confirm", {}), 400, "invalid_field", "currentPassword");
    expectError(await server().visitor.post("/api/auth/confirm", { currentPassword: "x" }), 401, "missing_token");
  });

  test("survives a restart", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const account = await confirmIdentity(await own.signUp());
      await own.restart();
      expectStatus(await tryCreateKey(account.client), 201);
    });
  });
});

describe("with two-factor sign-in", () => {
  test("confirmation needs password and code, and uses up the code", async () => {
    const account = await server().signUp();
    const { client, password: currentPassword } = account;
    const { secret, codes } = await enableTwoFactor(account);
    const requests = [
      () => client.put("/api/users/profile", { email: freshEmail(), currentPassword }),
      () => client.put("/api/users/profile", { newPassword, currentPassword }),
      () => client.delete("/api/users/profile", { password: currentPassword }),
      () => tryConfirm(account),
      () => tryCreateKey(client, { currentPassword }),
    ];
    for (const send of requests) {
      const apiResponse = await send();
      expectError(apiResponse, 401, "second_factor_required");
      expect(apiResponse.at("error.details.methods")).toContain("totp");
    }
    expectError(await tryConfirm(account, { code: generateWrongCode(secret) }), 401, "invalid_code");
    expectError(await tryConfirm(account, { code: generateCode(secret, 0) }), 401, "invalid_code");
    expectStatus(await tryConfirm(account, { code: generateCode(secret) }), 200);
    const { email, password } = account;
    const again = await server().visitor.post("/api/auth/signin", { email, password, code: generateCode(secret) });
    expectError(again, 401, "invalid_code");
    expectStatus(await tryCreateKey(client), 201);
    expectStatus(await client.put("/api/users/profile", { newPassword, currentPassword, code: codes[0] }), 200);
    expectStatus(await client.delete("/api/users/profile", { password: newPassword, code: codes[1] }), 200);
  });

  test("one code confirms one of several concurrent requests", async () => {
    const account = await server().signUp();
    const { secret } = await enableTwoFactor(account);
    const code = generateCode(secret);
    const responses = await Promise.all([1, 2, 3].map(() => tryConfirm(account, { code })));
    expect(sortedStatuses(responses)).toEqual([200, 401, 401]);
  });

  test("a confirmed session switches it off without another code", async () => {
    const account = await server().signUp();
    const { secret } = await enableTwoFactor(account);
    expectStatus(await tryConfirm(account, { code: generateCode(secret) }), 200);
    expectStatus(await account.client.post("/api/users/two-factor/recovery-codes"), 200);
    expectStatus(await account.client.post("/api/users/two-factor/disable"), 200);
  });
});

describe("passkeys", () => {
  /** Adds a passkey to a confirmed account. */
  async function addPasskey() {
    const account = await confirmIdentity(await server().signUp());
    const authenticator = new Authenticator();
    const options = await account.client.post("/api/users/passkeys/options");
    const response = authenticator.create(options, { origin: server().url });
    const added = await account.client.post("/api/users/passkeys", { name: "Phone", response });
    expectStatus(added, 201);
    return { account, authenticator, id: added.string("data.id") };
  }
  const requestOptions = (client: Client) => client.post("/api/auth/confirm/passkey/options");
  const confirmWith = (client: Client, response: unknown) => client.post("/api/auth/confirm/passkey", { response });

  test("confirm the requesting session, once", async () => {
    const { account, authenticator, id } = await addPasskey();
    const [client, other] = [await signIn(account), await signIn(account)];
    const refused = await tryCreateKey(client);
    expect(refused.at("error.details.methods")).toEqual(["password", "passkey"]);
    const options = await requestOptions(client);
    expectStatus(options, 200);
    expect(options.at("data.options.allowCredentials.0.id")).toBe(authenticator.credentialId.toString("base64url"));
    const response = authenticator.get(options, { origin: server().url });
    // The challenge belongs to the first session.
    expectError(await confirmWith(other, response), 401, "bad_credentials");
    const again = authenticator.get(await requestOptions(client), { origin: server().url });
    const apiResponse = await confirmWith(client, again);
    expectStatus(apiResponse, 200);
    expect(apiResponse.string("data.confirmedUntil")).toMatch(timestampPattern);
    expectError(await confirmWith(client, again), 401, "bad_credentials");
    expectError(await tryCreateKey(other), 401, "password_required");
    expectError(await other.delete(`/api/users/passkeys/${id}`), 401, "password_required");
    expectStatus(await client.delete(`/api/users/passkeys/${id}`), 200);
  });

  test("confirm no session of another user, and not with a response made for sign-in", async () => {
    const [mine, other] = [await addPasskey(), await addPasskey()];
    const client = await signIn(mine.account);
    const foreign = other.authenticator.get(await requestOptions(client), { origin: server().url });
    expectError(await confirmWith(client, foreign), 401, "bad_credentials");
    const signingIn = await server().visitor.post("/api/auth/passkey/options");
    const forSignIn = mine.authenticator.get(signingIn, { origin: server().url });
    expectError(await confirmWith(client, forSignIn), 401, "bad_credentials");
    const forConfirm = mine.authenticator.get(await requestOptions(client), { origin: server().url });
    expectError(
      await server().visitor.post("/api/auth/passkey/verify", { response: forConfirm }),
      401,
      "bad_credentials",
    );
    expectError(await requestOptions((await server().signUp()).client), 400, "invalid_request");
  });

  test("are added only by the session that requested the options", async () => {
    const account = await confirmIdentity(await server().signUp());
    const other = await signIn(account);
    const options = await account.client.post("/api/users/passkeys/options");
    const response = new Authenticator().create(options, { origin: server().url });
    expectError(await other.post("/api/users/passkeys", { response }), 400, "invalid_field", "response");
  });

  test("stay valid after a new password", async () => {
    const { account, authenticator } = await addPasskey();
    const change = { newPassword, currentPassword: account.password };
    expectStatus(await account.client.put("/api/users/profile", change), 200);
    const options = await server().visitor.post("/api/auth/passkey/options");
    const response = authenticator.get(options, { origin: server().url });
    expectStatus(await server().visitor.post("/api/auth/passkey/verify", { response }), 200);
  });
});

describe("endKeys", () => {
  const isKeyValid = async (key: string) => (await new Client(server(), key).get("/api/files")).status === 200;
  const createKey = async ({ client, password: currentPassword }: Account) =>
    (await tryCreateKey(client, { currentPassword })).string("data.key");

  test("revokes the API keys with a new password; without it they stay valid", async () => {
    const account = await server().signUp();
    const key = await createKey(account);
    const { client, password: currentPassword } = account;
    expectStatus(await client.put("/api/users/profile", { newPassword, currentPassword }), 200);
    expect(await isKeyValid(key)).toBe(true);
    const change = { newPassword: "a third long password", currentPassword: newPassword, endKeys: true };
    expectStatus(await client.put("/api/users/profile", change), 200);
    expect(await isKeyValid(key)).toBe(false);
    expect((await client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
  });

  test("is rejected without a new password", async () => {
    const { client, password: currentPassword } = await server().signUp();
    const change = { email: freshEmail(), currentPassword, endKeys: true };
    expectError(await client.put("/api/users/profile", change), 400, "invalid_field", "endKeys");
  });

  test("revokes them also through a reset link, from a program and from the page", async () => {
    const root = await server().addUser(["--admin"]);
    for (const way of ["api", "page"]) {
      const account = await server().signUp();
      const [first, second] = [await createKey(account), await createKey(account)];
      const made = await (await confirmIdentity(root)).client.post(`/api/admin/users/${account.id}/reset-link`);
      const token = new URL(made.string("data.url")).searchParams.get("token") ?? "";
      if (way === "api") {
        const reset = { token, newPassword, endKeys: true };
        expectStatus(await server().visitor.post("/api/auth/password/reset", reset), 200);
      } else {
        const form = await server().visitor.get(`/reset-password?token=${token}`);
        expect(form.text).toContain('name="endKeys"');
        const body = new URLSearchParams({ token, newPassword, endKeys: "1" }).toString();
        const headers = { "content-type": "application/x-www-form-urlencoded" };
        expectStatus(await server().visitor.request("POST", "/reset-password", { body, headers }), 200);
      }
      expect([await isKeyValid(first), await isKeyValid(second)]).toEqual([false, false]);
    }
  });

  test("revokes them also when an administrator sets the password", async () => {
    const [root, account] = [await confirmIdentity(await server().addUser(["--admin"])), await server().signUp()];
    const key = await createKey(account);
    const path = `/api/admin/users/${account.id}`;
    expectError(await root.client.patch(path, { endKeys: true }), 400, "invalid_field", "endKeys");
    expectStatus(await root.client.patch(path, { password: newPassword, endKeys: true }), 200);
    expect(await isKeyValid(key)).toBe(false);
  });
});

describe("an administrator", () => {
  const requestsTo = (id: string): [string, (client: Client, proof?: object) => ReturnType<Client["post"]>][] => {
    const path = `/api/admin/users/${id}`;
    return [
      ["password", (client, proof) => client.patch(path, { password: newPassword, ...proof })],
      ["email", (client, proof) => client.patch(path, { email: freshEmail(), ...proof })],
      ["role", (client, proof) => client.patch(path, { name: "Grace", role: "viewer", ...proof })],
      ["reset link", (client, proof) => client.post(`${path}/reset-link`, proof)],
      ["second factor", (client, proof) => client.delete(`${path}/two-factor`, proof)],
      ["sessions", (client, proof) => client.delete(`${path}/sessions`, proof)],
      ["a session", (client, proof) => client.delete(`${path}/sessions/ses_unknown`, proof)],
      ["a device", (client, proof) => client.delete(`${path}/devices/unknown`, proof)],
      ["deletion", (client, proof) => client.delete(path, proof)],
    ];
  };

  test("needs confirmation to change another account's credentials or to delete it", async () => {
    const [root, account] = [await server().addUser(["--admin"]), await server().signUp()];
    const phone = await registerDevice(server(), account);
    const removal = `/api/admin/users/${account.id}/devices/${phone.deviceId}`;
    expectError(await root.client.delete(removal), 401, "password_required");
    expectStatus(await phone.client.get("/api/files"), 200);
    for (const [what, send] of requestsTo(account.id)) {
      const apiResponse = await send(root.client);
      expect([what, apiResponse.status, apiResponse.at("error.details.reason")]).toEqual([
        what,
        401,
        "password_required",
      ]);
    }
    const admin = { role: "admin", email: freshEmail(), password: newPassword };
    expectError(await root.client.post("/api/admin/invites", { role: "admin" }), 401, "password_required");
    expectError(await root.client.post("/api/admin/users", admin), 401, "password_required");
    expectStatus(await account.client.get("/api/files"), 200);
    expectStatus(await root.client.get(`/api/admin/users/${account.id}/sessions`), 200);
    expectStatus(await root.client.patch(`/api/admin/users/${account.id}`, { plan: "pro", disabled: false }), 200);
    expectStatus(await root.client.post("/api/admin/invites", { role: "user" }), 201);
  });

  test("confirms with each request, or once for the session", async () => {
    const root = await server().addUser(["--admin"]);
    const proof = { currentPassword: root.password };
    for (const isConfirmed of [false, true]) {
      const account = await server().signUp();
      if (isConfirmed) await confirmIdentity(root);
      for (const [what, send] of requestsTo(account.id)) {
        const apiResponse = await send(root.client, isConfirmed ? undefined : proof);
        const isUnknown = what === "a session" || what === "a device";
        expect([what, apiResponse.status]).toEqual([what, isUnknown ? 404 : 200]);
      }
    }
    expectStatus(await root.client.post("/api/admin/invites", { role: "admin" }), 201);
    const admin = { email: freshEmail(), role: "admin", password: newPassword };
    expectStatus(await root.client.post("/api/admin/users", admin), 201);
  });

  test("can do none of it to their own account", async () => {
    const root = await confirmIdentity(await server().addUser(["--admin"]));
    await server().addUser(["--admin"]);
    for (const [what, send] of requestsTo(root.id)) {
      const apiResponse = await send(root.client, { currentPassword: root.password });
      expect([what, apiResponse.status, apiResponse.at("error.details.reason")]).toEqual([what, 403, "role"]);
    }
    expectStatus(await root.client.patch(`/api/admin/users/${root.id}`, { name: "Root", plan: "pro" }), 200);
  });

  test("loses the right at once when demoted or disabled while the password is checked", async () => {
    const [root, account] = [await server().addUser(["--admin"]), await server().signUp()];
    const other = await confirmIdentity(await server().addUser(["--admin"]));
    for (const change of [{ role: "user" }, { disabled: true }]) {
      const path = `/api/admin/users/${account.id}`;
      const proof = { currentPassword: root.password };
      // Both requests run concurrently. Independent of their order, no role changes without the right to change it.
      const [response] = await Promise.all([
        root.client.patch(path, { password: newPassword, ...proof }),
        other.client.patch(`/api/admin/users/${root.id}`, change),
      ]);
      expect([200, 401, 403]).toContain(response.status);
      expect((await root.client.patch(path, { password: newPassword, ...proof })).status).not.toBe(200);
      await server().larder(["user", "set", root.email, "--role", "admin"]);
    }
  });
});

test("commands on the server itself need no confirmation", async () => {
  const account = await server().signUp();
  const key = (await tryCreateKey(account.client, { currentPassword: account.password })).string("data.key");
  const set = (...flags: string[]) =>
    server().larder(["user", "set", account.email, ...flags], { stdin: `${newPassword}\n` });
  expect((await set("--end-keys")).code).toBe(2);
  expect((await set("--password-stdin")).code).toBe(0);
  expectStatus(await new Client(server(), key).get("/api/files"), 200);
  expect((await set("--password-stdin", "--end-keys")).code).toBe(0);
  expectError(await new Client(server(), key).get("/api/files"), 401, "revoked_token");
  expectStatus(await server().visitor.post("/api/auth/signin", { email: account.email, password: newPassword }), 200);
});

testAllResponses(server);
