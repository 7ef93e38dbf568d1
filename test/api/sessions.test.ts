import { describe, expect, test } from "bun:test";
import { type Account, Client } from "../support/client.ts";
import { confirmed } from "../support/confirm.ts";
import { eventually, expectError, expectStatus, statusesOf, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/laws.ts";
import { deviceIn, registerDevice, type TestDevice, tryRefresh } from "../support/mobile.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const password = "correct horse battery";

/** Another sign-in of the same account. */
async function signInAgain(email: string): Promise<Client> {
  const response = await server().visitor.post("/api/auth/signin", { email, password });
  return new Client(server(), response.string("token"));
}

describe("GET /api/users/sessions", () => {
  test("lists the live sessions of the user alone", async () => {
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

  test("leaves out what has ended", async () => {
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

  test("may end the session it comes by", async () => {
    const { client } = await server().signUp();
    const id = (await client.get("/api/auth/session")).string("session.id");
    expectStatus(await client.delete(`/api/users/sessions/${id}`), 200);
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
  });

  test("knows nothing of another user's sessions", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const id = (await b.client.get("/api/auth/session")).string("session.id");
    expectError(await a.client.delete(`/api/users/sessions/${id}`), 404);
    expectError(await a.client.delete("/api/users/sessions/nothing"), 404);
    expectStatus(await b.client.get("/api/auth/session"), 200);
  });
});

/** The device is signed out: neither its access token nor its refresh token opens anything. */
async function expectSignedOut({ client, deviceId, tokens }: TestDevice): Promise<void> {
  expectError(await client.get("/api/auth/session"), 401, "revoked_token");
  expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "invalid_token");
}

/** The device is signed in: both of its tokens are good. The refresh token is used up by this. */
async function expectSignedIn({ client, deviceId, tokens }: TestDevice): Promise<void> {
  expectStatus(await client.get("/api/mobile/devices"), 200);
  expectStatus(await tryRefresh(server(), tokens.refreshToken, deviceId), 200);
}

describe("sessions of devices", () => {
  test("tell the device, in the session and in the list", async () => {
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

  test("list a device once, by the session that asks", async () => {
    const account = await server().signUp();
    const first = await registerDevice(server(), account);
    const second = deviceIn(server(), await tryRefresh(server(), first.tokens.refreshToken, first.deviceId));
    for (const { client } of [first, second]) {
      const own = (await client.get("/api/auth/session")).string("session.id");
      const mobile = (await client.get("/api/users/sessions")).list("data.sessions").slice(0, 1);
      expect(mobile).toMatchObject([{ id: own, isCurrent: true }]);
    }
    expect((await account.client.get("/api/users/sessions")).list("data.sessions")).toHaveLength(2);
  });

  test("of a device that refreshes often are no more than a few", async () => {
    const first = await registerDevice(server(), await server().signUp());
    const phones = [first];
    for (let i = 0; i < 6; i++) {
      const { tokens, deviceId } = phones.at(-1) ?? first;
      phones.push(deviceIn(server(), await tryRefresh(server(), tokens.refreshToken, deviceId)));
    }
    const live = [];
    for (const { client } of phones) live.push((await client.get("/api/auth/session")).status);
    expect(live).toEqual([401, 401, 401, 200, 200, 200, 200]);
  });

  test("end all together by a sign-out; the device stays registered", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), account);
    const first = await registerDevice(server(), account);
    const second = deviceIn(server(), await tryRefresh(server(), first.tokens.refreshToken, first.deviceId));
    expectStatus(await second.client.post("/api/auth/signout"), 200);
    await expectSignedOut(first);
    await expectSignedOut(second);
    await expectSignedIn(other);
    expectStatus(await account.client.get("/api/auth/session"), 200);
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(2);
    const { email } = account;
    const again = await server().visitor.post("/api/mobile/auth", { email, password, deviceId: first.deviceId });
    await expectSignedIn(deviceIn(server(), again));
  });

  test("end by a sign-out everywhere, whoever asks", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    expectStatus(await account.client.post("/api/auth/signout", { everywhere: true }), 200);
    await expectSignedOut(phone);
    const [a, b] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    expectStatus(await a.client.post("/api/auth/signout", { everywhere: true }), 200);
    await expectSignedOut(a);
    await expectSignedOut(b);
  });

  test("end by DELETE of one of them, refresh tokens included", async () => {
    const account = await server().signUp();
    const [a, b] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    const id = (await a.client.get("/api/auth/session")).string("session.id");
    const stranger = await registerDevice(server(), await server().signUp());
    expectError(await stranger.client.delete(`/api/users/sessions/${id}`), 404);
    expectStatus(await account.client.delete(`/api/users/sessions/${id}`), 200);
    await expectSignedOut(a);
    await expectSignedIn(b);
  });

  test("end by a new password, but for the phone that changes it", async () => {
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

  test("are refreshed at /api/auth/refresh as the device's, beside its refresh token", async () => {
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
    // The first of a lost pair is ended wherever it moved to.
    const other = await registerDevice(server(), await server().signUp());
    const lost = deviceIn(server(), await tryRefresh(server(), other.tokens.refreshToken, other.deviceId));
    const moved = new Client(server(), (await lost.client.post("/api/auth/refresh")).string("token"));
    expectStatus(await tryRefresh(server(), other.tokens.refreshToken, other.deviceId), 200);
    expectError(await moved.get("/api/auth/session"), 401, "revoked_token");
  });
});

/** What opens an account, in every form, and what each answers now: 200, or status and reason of the refusal. */
interface Credentials {
  readonly account: Account;
  readonly phone: TestDevice;
  readonly keyId: string;
  look(): Promise<Record<string, string>>;
}

/** An account with each kind of credential. */
async function withAllCredentials(): Promise<Credentials> {
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
  const look = async () => {
    const path = "/api/files/file_nothing";
    const responses = {
      web: await web.delete(path),
      cookie: await server().visitor.request("DELETE", path, { headers: { cookie, origin: server().url } }),
      mobile: await phone.client.delete(path),
      key: await server().visitor.request("DELETE", path, { headers: { "x-api-key": key } }),
      refresh: await tryRefresh(server(), phone.tokens.refreshToken, phone.deviceId),
    };
    const limitResults = Object.entries(responses).map(([kind, response]): [string, string] => {
      const reason = response.status === 200 ? "" : ` ${response.string("error.details.reason")}`;
      // Whoever is let in learns that there is no such file.
      return [kind, response.status === 404 ? "200" : `${response.status}${reason}`];
    });
    return Object.fromEntries(limitResults);
  };
  return { account, phone, keyId: made.string("data.id"), look };
}

describe("every credential ends at once", () => {
  const open = { web: "200", cookie: "200", mobile: "200", key: "200", refresh: "200" };
  const [revoked, unknown, role] = ["401 revoked_token", "401 invalid_token", "403 role"];
  const set = async (email: string, ...flags: string[]) => {
    expect((await server().larder(["user", "set", email, ...flags])).code).toBe(0);
  };

  const cases: [string, (all: Credentials) => Promise<unknown>, Record<string, string>][] = [
    ["nothing: all of them open", async () => {}, {}],
    [
      "a sign-out everywhere, keys not",
      async ({ account }) => account.client.post("/api/auth/signout", { everywhere: true }),
      { web: revoked, cookie: revoked, mobile: revoked, refresh: unknown },
    ],
    [
      "another password, keys not",
      async ({ account: { client } }) =>
        client.put("/api/users/profile", { currentPassword: password, newPassword: "another long password" }),
      { web: revoked, cookie: revoked, mobile: revoked, refresh: unknown },
    ],
    [
      "the account's disabling",
      async ({ account }) => set(account.email, "--disable"),
      { web: revoked, cookie: revoked, mobile: revoked, key: revoked, refresh: unknown },
    ],
    [
      "the account's end",
      async ({ account: { client } }) => client.delete("/api/users/profile", { password }),
      // Its keys are unknown once the last of it is taken apart.
      {
        web: revoked,
        cookie: revoked,
        mobile: revoked,
        refresh: unknown,
        key: expect.stringMatching(/^401 (revoked|invalid)_token$/),
      },
    ],
    [
      "the device's removal, for the device",
      async ({ account, phone }) => account.client.delete(`/api/users/devices/${phone.deviceId}`),
      { mobile: revoked, refresh: unknown },
    ],
    [
      "the key's deletion, for the key",
      async ({ account, keyId }) => account.client.delete(`/api/users/api-keys/${keyId}`),
      { key: revoked },
    ],
    [
      "another role: it opens what the role may, by whatever it is asked",
      async ({ account }) => set(account.email, "--role", "viewer"),
      { web: role, cookie: role, mobile: role, key: role },
    ],
  ];

  test.each(cases)("by %s", async (_what, deed, ended) => {
    const all = await withAllCredentials();
    // The first answers are remembered; what follows must not rest on them.
    const { web, cookie, mobile, key } = await all.look();
    expect({ web, cookie, mobile, key }).toEqual({ web: "200", cookie: "200", mobile: "200", key: "200" });
    const fresh = deviceIn(
      server(),
      await server().visitor.post("/api/mobile/auth", {
        email: all.account.email,
        password,
        deviceId: all.phone.deviceId,
      }),
    );
    all.phone.client = fresh.client;
    all.phone.tokens = fresh.tokens;
    await deed(all);
    expect(await all.look()).toEqual({ ...open, ...ended });
  });

  const lateCases: [string, (account: Account) => Promise<unknown>][] = [
    ["a sign-out everywhere", async ({ client }) => client.post("/api/auth/signout", { everywhere: true })],
    ["the account's disabling", async ({ email }) => set(email, "--disable")],
    ["the account's end", async ({ client }) => client.delete("/api/users/profile", { password })],
  ];
  test.each(lateCases)("by %s, for a request whose body comes later", async (_what, deed) => {
    // It was let in by its first lines, and made a key that outlived the sign-in.
    const account = await server().signUp();
    const connection = await RawConnection.open(server().port);
    const body = JSON.stringify({ name: "late" });
    await connection.write(
      `POST /api/users/api-keys HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${account.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`,
    );
    // Answered after the half request has been looked at: the server takes them in turn.
    expectStatus(await account.client.get("/api/auth/session"), 200);
    await deed(account);
    await connection.write(body.slice(1));
    expectError(await connection.response("POST"), 401, "revoked_token");
    connection.cut();
  });

  test("by its time: a key", async () => {
    const { client } = await confirmed(await server().signUp());
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

  test("of two changes by the same old password, one succeeds", async () => {
    // Both were let in, and the second silently overwrote the first.
    const { client, email } = await server().signUp();
    const change = (newPassword: string) =>
      client.put("/api/users/profile", { currentPassword: password, newPassword });
    const responses = await Promise.all([change("the first new password"), change("the second new password")]);
    expect(statusesOf(responses)).toEqual([200, 401]);
    const kept = responses[0]?.status === 200 ? "the first new password" : "the second new password";
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: kept }), 200);
  });
});

testAllResponses(server);
