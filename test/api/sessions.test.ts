import { describe, expect, test } from "bun:test";
import { type Account, Client } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { readDevice, registerDevice, type TestDevice, tryRefresh } from "../support/mobile.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const password = "correct horse battery";

/** Signs in to the same account again. */
async function signInAgain(email: string): Promise<Client> {
  const response = await server().visitor.post("/api/auth/signin", { email, password });
  return new Client(server(), response.string("token"));
}

describe("GET /api/users/sessions", () => {
  test("lists only the active sessions of the user", async () => {
    const { client, email } = await server().signUp();
    await server().signUp();
    const second = await signInAgain(email);
    const ids = [(await client.get("/api/auth/session")).string("session.id")];
    ids.push((await second.get("/api/auth/session")).string("session.id"));
    const response = await client.get("/api/users/sessions");
    expectStatus(response, 200);
    expect(response.strings("data.sessions", "id").sort()).toEqual([...ids].sort());
    for (const key of ["createdAt", "expiresAt"])
      for (const time of response.strings("data.sessions", key)) expect(time).toMatch(timestampPattern);
  });

  test("shows no token and no hash", async () => {
    const { client, token } = await server().signUp();
    const response = await client.get("/api/users/sessions");
    expect(response.text).not.toContain(token);
    expect(response.text).not.toContain(token.split(".")[2] ?? token);
    expect(response.text.toLowerCase()).not.toContain("hash");
  });

  test("omits ended sessions", async () => {
    const { client, email } = await server().signUp();
    const second = await signInAgain(email);
    await second.post("/api/auth/signout");
    expect((await client.get("/api/users/sessions")).list("data.sessions")).toHaveLength(1);
  });
});

describe("DELETE /api/users/sessions/{id}", () => {
  test("ends that session at once", async () => {
    const { client, email } = await server().signUp();
    const second = await signInAgain(email);
    const id = (await second.get("/api/auth/session")).string("session.id");
    expectStatus(await client.delete(`/api/users/sessions/${id}`), 200);
    expectError(await second.get("/api/auth/session"), 401, "revoked_token");
    expectStatus(await client.get("/api/auth/session"), 200);
    expectError(await client.delete(`/api/users/sessions/${id}`), 404);
  });

  test("can end the session that sends it", async () => {
    const { client } = await server().signUp();
    const id = (await client.get("/api/auth/session")).string("session.id");
    expectStatus(await client.delete(`/api/users/sessions/${id}`), 200);
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
  });

  test("responds with 404 for another user's sessions", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const id = (await b.client.get("/api/auth/session")).string("session.id");
    expectError(await a.client.delete(`/api/users/sessions/${id}`), 404);
    expectError(await a.client.delete("/api/users/sessions/nothing"), 404);
    expectStatus(await b.client.get("/api/auth/session"), 200);
  });
});

/** The device is signed out: neither its access token nor its refresh token is accepted. */
async function expectSignedOut({ client, deviceId, tokens }: TestDevice): Promise<void> {
  expectError(await client.get("/api/auth/session"), 401, "revoked_token");
  expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "invalid_token");
}

/** The device is signed in: both of its tokens are accepted. This uses up the refresh token. */
async function expectSignedIn({ client, deviceId, tokens }: TestDevice): Promise<void> {
  expectStatus(await client.get("/api/mobile/devices"), 200);
  expectStatus(await tryRefresh(server(), tokens.refreshToken, deviceId), 200);
}

describe("sessions of devices", () => {
  test("name the device, in the session and in the list", async () => {
    const account = await server().signUp();
    const { client, deviceId } = await registerDevice(server(), account, undefined, { model: "Pixel 9" });
    const own = await client.get("/api/auth/session");
    expect(own.at("session.kind")).toBe("mobile");
    expect(own.at("session.device")).toEqual({ id: deviceId, name: "Pixel 9" });
    const lifetimeMs = Date.parse(own.string("session.expiresAt")) - Date.parse(own.string("session.createdAt"));
    expect(Math.round(lifetimeMs / 86_400_000)).toBe(7);
    const listed = (await client.get("/api/users/sessions")).list("data.sessions");
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({
      id: own.string("session.id"),
      kind: "mobile",
      isCurrent: true,
      device: { id: deviceId, name: "Pixel 9" },
    });
    expect(listed[1]).toMatchObject({ kind: "web", isCurrent: false });
    expect(listed[1]).not.toHaveProperty("device");
    expect((await account.client.get("/api/auth/session")).at("session.device")).toBeUndefined();
  });

  test("appear once per device, as the current session of the device that lists them", async () => {
    const account = await server().signUp();
    const first = await registerDevice(server(), account);
    const second = readDevice(server(), await tryRefresh(server(), first.tokens.refreshToken, first.deviceId));
    for (const { client } of [first, second]) {
      const own = (await client.get("/api/auth/session")).string("session.id");
      const mobile = (await client.get("/api/users/sessions")).list("data.sessions").slice(0, 1);
      expect(mobile).toMatchObject([{ id: own, isCurrent: true }]);
    }
    expect((await account.client.get("/api/users/sessions")).list("data.sessions")).toHaveLength(2);
  });

  test("stay few for a device that refreshes often", async () => {
    const first = await registerDevice(server(), await server().signUp());
    const phones = [first];
    for (let i = 0; i < 6; i++) {
      const { tokens, deviceId } = phones.at(-1) ?? first;
      phones.push(readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId)));
    }
    const live = [];
    for (const { client } of phones) live.push((await client.get("/api/auth/session")).status);
    expect(live).toEqual([401, 401, 401, 200, 200, 200, 200]);
  });

  test("all end with one sign-out; the device stays registered", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), account);
    const first = await registerDevice(server(), account);
    const second = readDevice(server(), await tryRefresh(server(), first.tokens.refreshToken, first.deviceId));
    expectStatus(await second.client.post("/api/auth/signout"), 200);
    await expectSignedOut(first);
    await expectSignedOut(second);
    await expectSignedIn(other);
    expectStatus(await account.client.get("/api/auth/session"), 200);
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(2);
    const { email } = account;
    const again = await server().visitor.post("/api/mobile/auth", { email, password, deviceId: first.deviceId });
    await expectSignedIn(readDevice(server(), again));
  });

  test("end with a sign-out everywhere, from any session", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    expectStatus(await account.client.post("/api/auth/signout", { everywhere: true }), 200);
    await expectSignedOut(phone);
    const [a, b] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    expectStatus(await a.client.post("/api/auth/signout", { everywhere: true }), 200);
    await expectSignedOut(a);
    await expectSignedOut(b);
  });

  test("end when one of them is deleted, including refresh tokens", async () => {
    const account = await server().signUp();
    const [a, b] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    const id = (await a.client.get("/api/auth/session")).string("session.id");
    const stranger = await registerDevice(server(), await server().signUp());
    expectError(await stranger.client.delete(`/api/users/sessions/${id}`), 404);
    expectStatus(await account.client.delete(`/api/users/sessions/${id}`), 200);
    await expectSignedOut(a);
    await expectSignedIn(b);
  });

  test("end with a new password, except on the phone that changes it", async () => {
    const account = await server().signUp();
    const [a, b] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    const change = { currentPassword: password, newPassword: "another long password" };
    expectStatus(await a.client.put("/api/users/profile", change), 200);
    await expectSignedOut(b);
    expectError(await account.client.get("/api/auth/session"), 401, "revoked_token");
    await expectSignedIn(a);
    const changed = { email: account.email, password: "another long password" };
    const again = await registerDevice(server(), changed, b.deviceId);
    const web = new Client(server(), (await server().visitor.post("/api/auth/signin", changed)).string("token"));
    const back = { currentPassword: "another long password", newPassword: password };
    expectStatus(await web.put("/api/users/profile", back), 200);
    await expectSignedOut(again);
  });

  test("are refreshed at /api/auth/refresh as device sessions, and the refresh token stays valid", async () => {
    const phone = await registerDevice(server(), await server().signUp());
    const response = await phone.client.post("/api/auth/refresh");
    expectStatus(response, 200);
    expect(response.string("expiresIn")).toBe("7d");
    const client = new Client(server(), response.string("token"));
    expectError(await phone.client.get("/api/auth/session"), 401, "revoked_token");
    expect((await client.get("/api/auth/session")).at("session")).toMatchObject({
      kind: "mobile",
      device: { id: phone.deviceId },
    });
    await expectSignedIn({ ...phone, client });
    // The first refresh of a lost pair revokes the session, even if that was refreshed in between.
    const other = await registerDevice(server(), await server().signUp());
    const lost = readDevice(server(), await tryRefresh(server(), other.tokens.refreshToken, other.deviceId));
    const moved = new Client(server(), (await lost.client.post("/api/auth/refresh")).string("token"));
    expectStatus(await tryRefresh(server(), other.tokens.refreshToken, other.deviceId), 200);
    expectError(await moved.get("/api/auth/session"), 401, "revoked_token");
  });
});

/** The credentials of an account, and a check of each: 200, or status and reason of the rejection. */
interface Credentials {
  readonly account: Account;
  readonly phone: TestDevice;
  readonly keyId: string;
  checkAll(): Promise<Record<string, string>>;
}

/** Creates an account with each kind of credential. */
async function createCredentials(): Promise<Credentials> {
  const account = await server().signUp();
  const { email } = account;
  const web = await signInAgain(email);
  const signedIn = await server().visitor.post("/api/auth/signin", { email, password, cookie: true });
  const cookie = signedIn.header("set-cookie").split(";")[0] ?? "";
  const made = await account.client.post("/api/users/api-keys", {
    name: "x",
    scopes: ["files:write", "shares"],
    currentPassword: password,
  });
  const key = made.string("data.key");
  const phone = await registerDevice(server(), account);
  const checkAll = async () => {
    const path = "/api/files/file_nothing";
    const responses = {
      web: await web.delete(path),
      cookie: await server().visitor.request("DELETE", path, { headers: { cookie, origin: server().url } }),
      mobile: await phone.client.delete(path),
      key: await server().visitor.request("DELETE", path, { headers: { "x-api-key": key } }),
      refresh: await tryRefresh(server(), phone.tokens.refreshToken, phone.deviceId),
    };
    const results = Object.entries(responses).map(([kind, response]): [string, string] => {
      const reason = response.status === 200 ? "" : ` ${response.string("error.details.reason")}`;
      // With access, the response is 404: the file doesn't exist.
      return [kind, response.status === 404 ? "200" : `${response.status}${reason}`];
    });
    return Object.fromEntries(results);
  };
  return { account, phone, keyId: made.string("data.id"), checkAll };
}

describe("credentials that stop working at once", () => {
  const open = { web: "200", cookie: "200", mobile: "200", key: "200", refresh: "200" };
  const [revoked, unknown, role] = ["401 revoked_token", "401 invalid_token", "403 role"];
  const set = async (email: string, ...flags: string[]) => {
    expect((await server().larder(["user", "set", email, ...flags])).code).toBe(0);
  };

  const cases: [string, (all: Credentials) => Promise<unknown>, Record<string, string>][] = [
    ["no change: none", async () => {}, {}],
    [
      "a sign-out everywhere: all but the API key",
      async ({ account }) => account.client.post("/api/auth/signout", { everywhere: true }),
      { web: revoked, cookie: revoked, mobile: revoked, refresh: unknown },
    ],
    [
      "a new password: all but the API key",
      async ({ account: { client } }) =>
        client.put("/api/users/profile", { currentPassword: password, newPassword: "another long password" }),
      { web: revoked, cookie: revoked, mobile: revoked, refresh: unknown },
    ],
    [
      "disabling the account: all",
      async ({ account }) => set(account.email, "--disable"),
      { web: revoked, cookie: revoked, mobile: revoked, key: revoked, refresh: unknown },
    ],
    [
      "erasing the account: all",
      async ({ account: { client } }) => client.delete("/api/users/profile", { password }),
      // Its keys are unknown once the account is completely erased.
      {
        web: revoked,
        cookie: revoked,
        mobile: revoked,
        refresh: unknown,
        key: expect.stringMatching(/^401 (revoked|invalid)_token$/),
      },
    ],
    [
      "removing the device: its own",
      async ({ account, phone }) => account.client.delete(`/api/users/devices/${phone.deviceId}`),
      { mobile: revoked, refresh: unknown },
    ],
    [
      "deleting the API key: the key",
      async ({ account, keyId }) => account.client.delete(`/api/users/api-keys/${keyId}`),
      { key: revoked },
    ],
    [
      "a new role: none, but each is limited to the role",
      async ({ account }) => set(account.email, "--role", "viewer"),
      { web: role, cookie: role, mobile: role, key: role },
    ],
  ];

  test.each(cases)("after %s", async (_what, action, ended) => {
    const all = await createCredentials();
    // The first responses are cached; the checks below must not rely on that.
    const { web, cookie, mobile, key } = await all.checkAll();
    expect({ web, cookie, mobile, key }).toEqual({ web: "200", cookie: "200", mobile: "200", key: "200" });
    const fresh = readDevice(
      server(),
      await server().visitor.post("/api/mobile/auth", {
        email: all.account.email,
        password,
        deviceId: all.phone.deviceId,
      }),
    );
    all.phone.client = fresh.client;
    all.phone.tokens = fresh.tokens;
    await action(all);
    expect(await all.checkAll()).toEqual({ ...open, ...ended });
  });

  const lateCases: [string, (account: Account) => Promise<unknown>][] = [
    ["a sign-out everywhere", async ({ client }) => client.post("/api/auth/signout", { everywhere: true })],
    ["disabling the account", async ({ email }) => set(email, "--disable")],
    ["erasing the account", async ({ client }) => client.delete("/api/users/profile", { password })],
  ];
  test.each(lateCases)("after %s, for a request whose body arrives later", async (_what, action) => {
    // Such a request passed the check with its headers, and created a key that outlived the sign-in.
    const account = await server().signUp();
    const connection = await RawConnection.open(server().port);
    const body = JSON.stringify({ name: "late" });
    await connection.write(
      `POST /api/users/api-keys HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${account.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`,
    );
    // The server handles requests in order: this response shows that it has read the first half.
    expectStatus(await account.client.get("/api/auth/session"), 200);
    await action(account);
    await connection.write(body.slice(1));
    expectError(await connection.response("POST"), 401, "revoked_token");
    connection.cut();
  });

  test("an API key ends when it expires", async () => {
    const { client } = await confirmIdentity(await server().signUp());
    const expiresAt = new Date(Date.now() + 8_000).toISOString();
    const key = (await client.post("/api/users/api-keys", { name: "x", expiresAt })).string("data.key");
    expectStatus(await server().visitor.get("/api/files", { "x-api-key": key }), 200);
    await eventually("the key has expired", async () => {
      const response = await server().visitor.get("/api/files", { "x-api-key": key });
      if (response.status === 200) return false;
      expectError(response, 401, "expired_token");
      return true;
    });
  });

  test("of two concurrent changes with the same old password, one succeeds", async () => {
    // Both were accepted, and the second silently overwrote the first.
    const { client, email } = await server().signUp();
    const change = (newPassword: string) =>
      client.put("/api/users/profile", { currentPassword: password, newPassword });
    const responses = await Promise.all([change("the first new password"), change("the second new password")]);
    expect(sortedStatuses(responses)).toEqual([200, 401]);
    const newPassword = responses[0]?.status === 200 ? "the first new password" : "the second new password";
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: newPassword }), 200);
  });
});

testAllResponses(server);
