// Proof that the owner of an account asks: what needs it, how it is given, and when it ends.
import { describe, expect, test } from "bun:test";
import { Authenticator } from "../support/authenticator.ts";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmed, tryConfirm } from "../support/confirm.ts";
import { expectError, expectStatus, statusesOf, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/laws.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { codeOf, switchOnTwoFactor, wrongCode } from "../support/two-factor.ts";

const server = sharedServer({ hasAccounts: true });

const newPassword = "another long password";

async function signIn({ email, password }: Account, extra: Record<string, unknown> = {}): Promise<Client> {
  const apiResponse = await server().visitor.post("/api/auth/signin", { email, password, ...extra });
  expectStatus(apiResponse, 200);
  return new Client(server(), apiResponse.string("token"));
}

const tryKey = (client: Client, extra: Record<string, unknown> = {}) =>
  client.post("/api/users/api-keys", { name: "script", ...extra });

describe("without proof", () => {
  test("a session changes nothing that lets somebody stay in the account or end it", async () => {
    const { client } = await server().signUp();
    const asked = [
      tryKey(client),
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
    for (const apiResponse of await Promise.all(asked)) {
      expectError(apiResponse, 401, "password_required");
      expect(apiResponse.at("error.details")).toMatchObject({ methods: ["password"], needsCode: false });
    }
    expectStatus(await client.get("/api/users/profile"), 200);
    expect((await client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
    // The name is no way in.
    expectStatus(await client.put("/api/users/profile", { name: "Grace" }), 200);
  });

  test("a session that has just signed in is no better", async () => {
    expectError(await tryKey(await signIn(await server().signUp())), 401, "password_required");
  });

  test("a wrong password is refused, counts as one, and leaves the session as it was", async () => {
    await withServer({ env: { LARDER_RATE_LIMITS: "on" } }, async (limited) => {
      const account = await limited.signUp();
      for (let tries = 0; tries < 5; tries++) {
        expectError(await tryKey(account.client, { currentPassword: "not the password" }), 401, "bad_credentials");
      }
      const { email, password } = account;
      expectError(await tryConfirm(account), 429, "rate_limited");
      expectError(await limited.visitor.post("/api/auth/signin", { email, password }), 429, "rate_limited");
      expectError(await tryKey(account.client), 401, "password_required");
    });
  });

  test("a key and a device make no keys, whatever they send", async () => {
    const account = await server().signUp();
    const { password: currentPassword } = account;
    const key = await tryKey(account.client, { currentPassword, scopes: ["profile", "files:write"] });
    const byKey = new Client(server(), key.string("data.key"));
    expectError(await tryKey(byKey, { currentPassword }), 403, "scope");
    expectError(await byKey.post("/api/auth/confirm", { currentPassword }), 403, "scope");
    const device = await registerDevice(server(), account);
    expectError(await tryKey(device.client, { currentPassword }), 403, "scope");
    expectStatus(await device.client.post("/api/auth/confirm", { currentPassword }), 200);
    expectError(await tryKey(device.client), 403, "scope");
  });
});

describe("POST /api/auth/confirm", () => {
  test("confirms this session alone, for ten minutes", async () => {
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
    expectStatus(await tryKey(account.client), 201);
    expectStatus(await account.client.put("/api/users/profile", { email: freshEmail() }), 200);
    expectError(await tryKey(other), 401, "password_required");
  });

  test("a password that is sent along is checked all the same", async () => {
    const { client } = await confirmed(await server().signUp());
    expectError(await tryKey(client, { currentPassword: "not the password" }), 401, "bad_credentials");
    expectStatus(await tryKey(client), 201);
  });

  test("is not carried over by a new token, and is over after it", async () => {
    const { client } = await confirmed(await server().signUp());
    const refreshed = new Client(server(), (await client.post("/api/auth/refresh")).string("token"));
    expectError(await tryKey(refreshed), 401, "password_required");
  });

  test("ends with a new password, also for the session that set it", async () => {
    const account = await confirmed(await server().signUp());
    expectStatus(await account.client.put("/api/users/profile", { newPassword }), 200);
    expectError(await tryKey(account.client), 401, "password_required");
    expectStatus(await tryKey(account.client, { currentPassword: newPassword }), 201);
  });

  test("ends where two-factor sign-in is switched on: it was given without a code", async () => {
    const account = await server().signUp();
    const other = await signIn(account);
    expectStatus(await other.post("/api/auth/confirm", { currentPassword: account.password }), 200);
    await switchOnTwoFactor(account);
    const refused = await tryKey(other);
    expectError(refused, 401, "password_required");
    expect(refused.at("error.details.needsCode")).toBe(true);
  });

  test("wants what it takes", async () => {
    const { client } = await server().signUp();
    expectError(await client.post("/api/auth/confirm", {}), 400, "invalid_field", "currentPassword");
    expectError(await server().visitor.post("/api/auth/confirm", { currentPassword: "x" }), 401, "missing_token");
  });

  test("lasts over a restart", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const account = await confirmed(await own.signUp());
      await own.restart();
      expectStatus(await tryKey(account.client), 201);
    });
  });
});

describe("with two-factor sign-in", () => {
  test("the proof is password and code, and the code is used up", async () => {
    const account = await server().signUp();
    const { client, password: currentPassword } = account;
    const { secret, codes } = await switchOnTwoFactor(account);
    const asked = [
      () => client.put("/api/users/profile", { email: freshEmail(), currentPassword }),
      () => client.put("/api/users/profile", { newPassword, currentPassword }),
      () => client.delete("/api/users/profile", { password: currentPassword }),
      () => tryConfirm(account),
      () => tryKey(client, { currentPassword }),
    ];
    for (const ask of asked) {
      const apiResponse = await ask();
      expectError(apiResponse, 401, "second_factor_required");
      expect(apiResponse.at("error.details.methods")).toContain("totp");
    }
    expectError(await tryConfirm(account, { code: wrongCode(secret) }), 401, "invalid_code");
    expectError(await tryConfirm(account, { code: codeOf(secret, 0) }), 401, "invalid_code");
    expectStatus(await tryConfirm(account, { code: codeOf(secret) }), 200);
    const { email, password } = account;
    const again = await server().visitor.post("/api/auth/signin", { email, password, code: codeOf(secret) });
    expectError(again, 401, "invalid_code");
    expectStatus(await tryKey(client), 201);
    expectStatus(await client.put("/api/users/profile", { newPassword, currentPassword, code: codes[0] }), 200);
    expectStatus(await client.delete("/api/users/profile", { password: newPassword, code: codes[1] }), 200);
  });

  test("one code proves once, however many ask at once", async () => {
    const account = await server().signUp();
    const { secret } = await switchOnTwoFactor(account);
    const code = codeOf(secret);
    const responses = await Promise.all([1, 2, 3].map(() => tryConfirm(account, { code })));
    expect(statusesOf(responses)).toEqual([200, 401, 401]);
  });

  test("a confirmed session switches it off without another code", async () => {
    const account = await server().signUp();
    const { secret } = await switchOnTwoFactor(account);
    expectStatus(await tryConfirm(account, { code: codeOf(secret) }), 200);
    expectStatus(await account.client.post("/api/users/two-factor/recovery-codes"), 200);
    expectStatus(await account.client.post("/api/users/two-factor/disable"), 200);
  });
});

describe("passkeys", () => {
  /** Adds one to a confirmed account. */
  async function withPasskey() {
    const account = await confirmed(await server().signUp());
    const authenticator = new Authenticator();
    const options = await account.client.post("/api/users/passkeys/options");
    const response = authenticator.create(options, { origin: server().url });
    const added = await account.client.post("/api/users/passkeys", { name: "Phone", response });
    expectStatus(added, 201);
    return { account, authenticator, id: added.string("data.id") };
  }
  const optionsOf = (client: Client) => client.post("/api/auth/confirm/passkey/options");
  const show = (client: Client, response: unknown) => client.post("/api/auth/confirm/passkey", { response });

  test("confirm the session that asked, once", async () => {
    const { account, authenticator, id } = await withPasskey();
    const [client, other] = [await signIn(account), await signIn(account)];
    const refused = await tryKey(client);
    expect(refused.at("error.details.methods")).toEqual(["password", "passkey"]);
    const options = await optionsOf(client);
    expectStatus(options, 200);
    expect(options.at("data.options.allowCredentials.0.id")).toBe(authenticator.credentialId.toString("base64url"));
    const response = authenticator.get(options, { origin: server().url });
    // The challenge is of the other session.
    expectError(await show(other, response), 401, "bad_credentials");
    const again = authenticator.get(await optionsOf(client), { origin: server().url });
    const apiResponse = await show(client, again);
    expectStatus(apiResponse, 200);
    expect(apiResponse.string("data.confirmedUntil")).toMatch(timestampPattern);
    expectError(await show(client, again), 401, "bad_credentials");
    expectError(await tryKey(other), 401, "password_required");
    expectError(await other.delete(`/api/users/passkeys/${id}`), 401, "password_required");
    expectStatus(await client.delete(`/api/users/passkeys/${id}`), 200);
  });

  test("confirm nobody else's session, and not by what was made for a sign-in", async () => {
    const [mine, other] = [await withPasskey(), await withPasskey()];
    const client = await signIn(mine.account);
    const foreign = other.authenticator.get(await optionsOf(client), { origin: server().url });
    expectError(await show(client, foreign), 401, "bad_credentials");
    const signingIn = await server().visitor.post("/api/auth/passkey/options");
    const forSignIn = mine.authenticator.get(signingIn, { origin: server().url });
    expectError(await show(client, forSignIn), 401, "bad_credentials");
    const forConfirm = mine.authenticator.get(await optionsOf(client), { origin: server().url });
    expectError(
      await server().visitor.post("/api/auth/passkey/verify", { response: forConfirm }),
      401,
      "bad_credentials",
    );
    expectError(await optionsOf((await server().signUp()).client), 400, "invalid_request");
  });

  test("are added by the session alone that proved itself", async () => {
    const account = await confirmed(await server().signUp());
    const other = await signIn(account);
    const options = await account.client.post("/api/users/passkeys/options");
    const response = new Authenticator().create(options, { origin: server().url });
    expectError(await other.post("/api/users/passkeys", { response }), 400, "invalid_field", "response");
  });

  test("stay with a new password, which ends every sign-in that others could have begun", async () => {
    const { account, authenticator } = await withPasskey();
    const change = { newPassword, currentPassword: account.password };
    expectStatus(await account.client.put("/api/users/profile", change), 200);
    const options = await server().visitor.post("/api/auth/passkey/options");
    const response = authenticator.get(options, { origin: server().url });
    expectStatus(await server().visitor.post("/api/auth/passkey/verify", { response }), 200);
  });
});

describe("endKeys", () => {
  const works = async (key: string) => (await new Client(server(), key).get("/api/files")).status === 200;
  const keyOf = async ({ client, password: currentPassword }: Account) =>
    (await tryKey(client, { currentPassword })).string("data.key");

  test("ends the keys with a new password; without it they stay", async () => {
    const account = await server().signUp();
    const key = await keyOf(account);
    const { client, password: currentPassword } = account;
    expectStatus(await client.put("/api/users/profile", { newPassword, currentPassword }), 200);
    expect(await works(key)).toBe(true);
    const change = { newPassword: "a third long password", currentPassword: newPassword, endKeys: true };
    expectStatus(await client.put("/api/users/profile", change), 200);
    expect(await works(key)).toBe(false);
    expect((await client.get("/api/users/api-keys")).list("data.apiKeys")).toEqual([]);
  });

  test("goes with a new password alone", async () => {
    const { client, password: currentPassword } = await server().signUp();
    const change = { email: freshEmail(), currentPassword, endKeys: true };
    expectError(await client.put("/api/users/profile", change), 400, "invalid_field", "endKeys");
  });

  test("ends them also by a link, from a program and from the page", async () => {
    const root = await server().addUser(["--admin"]);
    for (const way of ["api", "page"]) {
      const account = await server().signUp();
      const [first, second] = [await keyOf(account), await keyOf(account)];
      const made = await (await confirmed(root)).client.post(`/api/admin/users/${account.id}/reset-link`);
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
      expect([await works(first), await works(second)]).toEqual([false, false]);
    }
  });

  test("ends them also where an administrator sets the password", async () => {
    const [root, account] = [await confirmed(await server().addUser(["--admin"])), await server().signUp()];
    const key = await keyOf(account);
    const path = `/api/admin/users/${account.id}`;
    expectError(await root.client.patch(path, { endKeys: true }), 400, "invalid_field", "endKeys");
    expectStatus(await root.client.patch(path, { password: newPassword, endKeys: true }), 200);
    expect(await works(key)).toBe(false);
  });
});

describe("an administrator", () => {
  const asks = (id: string): [string, (client: Client, proof?: object) => ReturnType<Client["post"]>][] => {
    const path = `/api/admin/users/${id}`;
    return [
      ["password", (client, proof) => client.patch(path, { password: newPassword, ...proof })],
      ["e-mail", (client, proof) => client.patch(path, { email: freshEmail(), ...proof })],
      ["role", (client, proof) => client.patch(path, { name: "Grace", role: "viewer", ...proof })],
      ["reset link", (client, proof) => client.post(`${path}/reset-link`, proof)],
      ["second factor", (client, proof) => client.delete(`${path}/two-factor`, proof)],
      ["sessions", (client, proof) => client.delete(`${path}/sessions`, proof)],
      ["a session", (client, proof) => client.delete(`${path}/sessions/ses_unknown`, proof)],
      ["a device", (client, proof) => client.delete(`${path}/devices/unknown`, proof)],
      ["deletion", (client, proof) => client.delete(path, proof)],
    ];
  };

  test("does to other accounts only with proof what lets somebody enter them, or ends them", async () => {
    const [root, account] = [await server().addUser(["--admin"]), await server().signUp()];
    const phone = await registerDevice(server(), account);
    const removal = `/api/admin/users/${account.id}/devices/${phone.deviceId}`;
    expectError(await root.client.delete(removal), 401, "password_required");
    expectStatus(await phone.client.get("/api/files"), 200);
    for (const [what, ask] of asks(account.id)) {
      const apiResponse = await ask(root.client);
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

  test("gives it in the call, or confirms the session", async () => {
    const root = await server().addUser(["--admin"]);
    const proof = { currentPassword: root.password };
    for (const isConfirmed of [false, true]) {
      const account = await server().signUp();
      if (isConfirmed) await confirmed(root);
      for (const [what, ask] of asks(account.id)) {
        const apiResponse = await ask(root.client, isConfirmed ? undefined : proof);
        const isUnknown = what === "a session" || what === "a device";
        expect([what, apiResponse.status]).toEqual([what, isUnknown ? 404 : 200]);
      }
    }
    expectStatus(await root.client.post("/api/admin/invites", { role: "admin" }), 201);
    const admin = { email: freshEmail(), role: "admin", password: newPassword };
    expectStatus(await root.client.post("/api/admin/users", admin), 201);
  });

  test("does none of it to their own account", async () => {
    const root = await confirmed(await server().addUser(["--admin"]));
    await server().addUser(["--admin"]);
    for (const [what, ask] of asks(root.id)) {
      const apiResponse = await ask(root.client, { currentPassword: root.password });
      expect([what, apiResponse.status, apiResponse.at("error.details.reason")]).toEqual([what, 403, "role"]);
    }
    expectStatus(await root.client.patch(`/api/admin/users/${root.id}`, { name: "Root", plan: "pro" }), 200);
  });

  test("who is demoted or disabled while the password is checked does nothing any more", async () => {
    const [root, account] = [await server().addUser(["--admin"]), await server().signUp()];
    const other = await confirmed(await server().addUser(["--admin"]));
    for (const change of [{ role: "user" }, { disabled: true }]) {
      const path = `/api/admin/users/${account.id}`;
      const proof = { currentPassword: root.password };
      // Both are under way at once; whichever is first, nobody changes a role without having it.
      const [asked] = await Promise.all([
        root.client.patch(path, { password: newPassword, ...proof }),
        other.client.patch(`/api/admin/users/${root.id}`, change),
      ]);
      expect([200, 401, 403]).toContain(asked.status);
      expect((await root.client.patch(path, { password: newPassword, ...proof })).status).not.toBe(200);
      await server().larder(["user", "set", root.email, "--role", "admin"]);
    }
  });
});

test("commands on the machine itself need no proof", async () => {
  const account = await server().signUp();
  const key = (await tryKey(account.client, { currentPassword: account.password })).string("data.key");
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
