import { describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { readDevice, freshDeviceId, registerDevice, tryRefresh, tryRegister } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Sends POST /api/mobile/auth. */
function trySignIn(account: Pick<Account, "email" | "password">, deviceId: string) {
  const { email, password } = account;
  return server().visitor.post("/api/mobile/auth", { email, password, deviceId });
}

/** An account with the free plan, which allows three devices. */
function freeAccount(): Promise<Account> {
  return server().addUser(["--plan", "free"]);
}

describe("POST /api/mobile/auth/register", () => {
  test("returns 200 with user, tokens, device and syncData", async () => {
    const account = await server().signUp({ name: "Ada" });
    const deviceId = freshDeviceId();
    const response = await tryRegister(server(), account, deviceId, { model: "Pixel 9" });
    expectStatus(response, 200);
    expect(response.json).toEqual({
      success: true,
      user: { id: account.id, email: account.email, name: "Ada" },
      tokens: {
        accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        refreshToken: expect.stringMatching(/^[\w-]{32,}$/),
        expiresIn: "7d",
      },
      device: { id: deviceId, name: "Pixel 9", registeredAt: expect.stringMatching(timestampPattern) },
      syncData: { lastSyncAt: null, pendingUploads: 0, cacheSize: 0 },
    });
  });

  test("names a device by its model, or else by its platform", async () => {
    const account = await server().signUp();
    const named = await tryRegister(server(), account, freshDeviceId(), { model: "iPhone 17", platform: "ios" });
    expect(named.string("device.name")).toBe("iPhone 17");
    for (const model of ["", "  ", undefined]) {
      const nameless = await tryRegister(server(), account, freshDeviceId(), { model, platform: "ios" });
      expect(nameless.string("device.name")).toBe("ios");
    }
  });

  test("rejects unknown accounts and wrong passwords with the same error", async () => {
    const account = await server().signUp();
    const wrong = await tryRegister(server(), { email: account.email, password: "wrong password" }, freshDeviceId());
    const unknown = await tryRegister(server(), { email: freshEmail(), password: "wrong password" }, freshDeviceId());
    expectError(wrong, 401, "bad_credentials");
    expect(unknown.status).toBe(401);
    expect(unknown.json).toEqual(wrong.json);
    expect(unknown.header("x-ratelimit-resource")).toBe("general");
  });

  test("reports a disabled account only with the right password", async () => {
    const account = await server().addUser([]);
    const { deviceId, tokens } = await registerDevice(server(), account);
    await server().change(account.id, { disabled: true });
    expectError(await tryRegister(server(), account, freshDeviceId()), 403, "account_disabled");
    expectError(await trySignIn(account, deviceId), 403, "account_disabled");
    const wrong = { email: account.email, password: "wrong password" };
    expectError(await tryRegister(server(), wrong, freshDeviceId()), 401, "bad_credentials");
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401);
    expectError(await new Client(server(), tokens.accessToken).get("/api/mobile/devices"), 401);
  });

  test("names the invalid field", async () => {
    const account = await server().signUp();
    const { email, password } = account;
    const expectInvalid = async (deviceInfo: unknown, field: string) =>
      expectError(
        await server().visitor.post("/api/mobile/auth/register", { email, password, deviceInfo }),
        400,
        "invalid_field",
        field,
      );
    await expectInvalid(undefined, "deviceInfo");
    await expectInvalid("android", "deviceInfo");
    await expectInvalid({ platform: "android" }, "deviceInfo.deviceId");
    await expectInvalid({ deviceId: "a" }, "deviceInfo.platform");
    await expectInvalid({ deviceId: "a", platform: "" }, "deviceInfo.platform");
    await expectInvalid({ deviceId: "a", platform: " " }, "deviceInfo.platform");
    await expectInvalid({ deviceId: "a", platform: 7 }, "deviceInfo.platform");
    await expectInvalid({ deviceId: "a", platform: "ios", model: "a\u0000b" }, "deviceInfo.model");
    await expectInvalid({ deviceId: "a", platform: "ios", pushToken: "x".repeat(5_000) }, "deviceInfo.pushToken");
    const inside = { platform: "ios", pushToken: "https://10.0.0.1/topic" };
    const forbidden = await tryRegister(server(), account, "a", inside);
    expectError(forbidden, 400, "forbidden_target", "deviceInfo.pushToken");
    const unprintable = ["a\n", "a\u0000", "a\u007f", "a\u0085", "a\u2028b", "a\u202eb", "\ufeffa", "\ud800"];
    for (const deviceId of ["", ".", "..", "a/b", "a\\b", ...unprintable, "a".repeat(201), "\u{1f4f1}".repeat(201), 7])
      await expectInvalid({ deviceId, platform: "ios" }, "deviceInfo.deviceId");
    for (const deviceId of ["a", "A.b_c:d-e", ".a", "-a", "0".repeat(200), "\u{1f4f1}".repeat(200)])
      expectStatus(await tryRegister(server(), account, deviceId), 200);
  });

  test("accepts unusual device ids in all routes", async () => {
    const account = await server().signUp();
    const admin = await confirmIdentity(await server().addUser(["--admin"]));
    const names = [
      "Ada's phone",
      "100% mine?",
      "%2e%2e",
      "a#b;c=d&e+f",
      "Größe ü",
      "{3F2504E0-4F89-41D3-9A0C-0305E82C3301}",
      "گوشی\u200cمن \u{1f469}\u200d\u{1f4bb}",
      "com.example|x86_64~日本",
    ];
    for (const deviceId of names) {
      const device = await registerDevice(server(), account, deviceId);
      expect(device.deviceId).toBe(deviceId);
      const path = `/api/mobile/devices/${encodeURIComponent(deviceId)}`;
      const listed = await device.client.get("/api/mobile/devices");
      expect(listed.at("data.currentDevice")).toBe(deviceId);
      expectStatus(await device.client.put(`${path}/settings`, { wifiOnly: false }), 200);
      expectStatus(await device.client.get(`${path}/holds`), 200);
      expectError(await device.client.post(`${path}/holds/hold_none`, { accept: true }), 404, "not_found");
      const since = new Date(Date.now() - 1000).toISOString();
      const rewound = await device.client.post(`${path}/rewind`, { since, dryRun: true });
      expect(rewound.at("data.deviceId")).toBe(deviceId);
      const preferences = { deviceId, preferences: { uploads: false } };
      expectStatus(await device.client.post("/api/mobile/notifications/register", preferences), 200);
      const pushed = await device.client.post("/api/mobile/push", { title: "t", body: "b", deviceId });
      expectStatus(pushed, 200);
      const signedIn = readDevice(server(), await trySignIn(account, deviceId));
      expectStatus(await tryRefresh(server(), signedIn.tokens.refreshToken, deviceId), 200);
      const ofUser = `/api/users/devices/${encodeURIComponent(deviceId)}`;
      expectStatus(await account.client.post(`${ofUser}/rewind`, { since, dryRun: true }), 200);
      expectStatus(await account.client.delete(ofUser), 200);
      await registerDevice(server(), account, deviceId);
      const ofAdmin = `/api/admin/users/${account.id}/devices/${encodeURIComponent(deviceId)}`;
      expectStatus(await admin.client.delete(ofAdmin), 200);
      const again = await registerDevice(server(), account, deviceId);
      expectStatus(await again.client.delete(path), 200);
    }
  });

  test("recognizes a device id in any Unicode normalization form", async () => {
    const account = await server().signUp();
    const composed = "Ren\u00e9's phone";
    const decomposed = composed.normalize("NFD");
    expect(decomposed).not.toBe(composed);
    const first = await registerDevice(server(), account, decomposed);
    expect(first.deviceId).toBe(composed);
    const again = await registerDevice(server(), account, composed);
    expect((await again.client.get("/api/mobile/devices")).list("data.devices")).toHaveLength(1);
    const path = `/api/mobile/devices/${encodeURIComponent(decomposed)}`;
    expectStatus(await again.client.put(`${path}/settings`, { wifiOnly: false }), 200);
    expectStatus(await again.client.get(`${path}/holds`), 200);
    const since = new Date(Date.now() - 1000).toISOString();
    expect((await again.client.post(`${path}/rewind`, { since, dryRun: true })).at("data.deviceId")).toBe(composed);
    const preferences = { deviceId: decomposed, preferences: { uploads: false } };
    expectStatus(await again.client.post("/api/mobile/notifications/register", preferences), 200);
    expectStatus(await again.client.post("/api/mobile/push", { title: "t", body: "b", deviceId: decomposed }), 200);
    const signedIn = readDevice(server(), await trySignIn(account, decomposed));
    expectStatus(await tryRefresh(server(), signedIn.tokens.refreshToken, decomposed), 200);
    expectStatus(await signedIn.client.delete(path), 200);
  });

  test("separates devices of two accounts with the same deviceId", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const ofA = await registerDevice(server(), a, "shared");
    const ofB = await registerDevice(server(), b, "shared");
    expectStatus(await ofA.client.delete("/api/mobile/devices/shared"), 200);
    expectStatus(await ofB.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), ofB.tokens.refreshToken, "shared"), 200);
  });

  test("of a registered device updates it, ends its former tokens, and keeps its settings and registration time", async () => {
    const account = await server().signUp();
    const first = await registerDevice(server(), account);
    const registeredAt = (await first.client.get("/api/mobile/devices")).string("data.devices.0.registeredAt");
    await first.client.put(`/api/mobile/devices/${first.deviceId}/settings`, { wifiOnly: false });
    const again = readDevice(
      server(),
      await tryRegister(server(), account, first.deviceId, { model: "Pixel 10", osVersion: "17" }),
    );
    expectError(await first.client.get("/api/mobile/devices"), 401, "revoked_token");
    expectError(await tryRefresh(server(), first.tokens.refreshToken, first.deviceId), 401);
    const listed = await again.client.get("/api/mobile/devices");
    expect(listed.list("data.devices")).toHaveLength(1);
    expect(listed.at("data.devices.0")).toMatchObject({
      id: first.deviceId,
      name: "Pixel 10",
      osVersion: "17",
      registeredAt,
      settings: { wifiOnly: false },
    });
    expectStatus(await tryRefresh(server(), again.tokens.refreshToken, again.deviceId), 200);
  });

  test("is allowed for viewers, who can manage their devices", async () => {
    const viewer = await server().addUser(["--role", "viewer"]);
    const { client, deviceId } = await registerDevice(server(), viewer);
    expectStatus(await client.get("/api/mobile/devices"), 200);
    expectStatus(await client.put(`/api/mobile/devices/${deviceId}/settings`, { wifiOnly: false }), 200);
    expectStatus(await client.delete(`/api/mobile/devices/${deviceId}`), 200);
  });
});

describe("the plan's number of devices", () => {
  test("is not exceeded by concurrent registrations, and the error has limit and plan", async () => {
    const account = await freeAccount();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => tryRegister(server(), account, freshDeviceId())),
    );
    expect(sortedStatuses(responses)).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
    const rejected = responses.find((response) => response.status === 403);
    expect(rejected?.at("error.details")).toEqual({ reason: "device_limit", limit: 3, plan: "free" });
    expect((await account.client.get("/api/users/usage")).at("data.devices")).toEqual({ count: 3, limit: 3 });
  });

  test("does not prevent a registered device from registering again", async () => {
    const account = await freeAccount();
    const ids = [freshDeviceId(), freshDeviceId(), freshDeviceId()];
    for (const id of ids) await registerDevice(server(), account, id);
    const responses = await Promise.all(ids.map((id) => tryRegister(server(), account, id)));
    expect(sortedStatuses(responses)).toEqual([200, 200, 200]);
    expectError(await tryRegister(server(), account, freshDeviceId()), 403, "device_limit");
  });

  test("counts a new device once if it registers several times at once", async () => {
    const account = await freeAccount();
    const id = freshDeviceId();
    const responses = await Promise.all(Array.from({ length: 5 }, () => tryRegister(server(), account, id)));
    expect(sortedStatuses(responses)).toEqual([200, 200, 200, 200, 200]);
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(1);
    const listed = await Promise.all(
      responses.map((response) => readDevice(server(), response).client.get("/api/mobile/devices")),
    );
    expect(sortedStatuses(listed)).toEqual([200, 401, 401, 401, 401]);
  });

  test("allows another device after a removal", async () => {
    const account = await freeAccount();
    const [first, second] = [await registerDevice(server(), account), await registerDevice(server(), account)];
    await registerDevice(server(), account);
    expectStatus(await second.client.delete(`/api/mobile/devices/${first.deviceId}`), 200);
    const responses = await Promise.all([
      tryRegister(server(), account, freshDeviceId()),
      tryRegister(server(), account, first.deviceId),
    ]);
    expect(sortedStatuses(responses)).toEqual([200, 403]);
  });

  test("applies only to new devices when it is lowered later", async () => {
    const account = await server().addUser(["--plan", "pro"]);
    const first = await registerDevice(server(), account);
    const phones = [first];
    for (let i = 0; i < 3; i++) phones.push(await registerDevice(server(), account));
    await server().change(account.id, { plan: "free" });
    for (const phone of phones) expectStatus(await phone.client.get("/api/mobile/devices"), 200);
    expectError(await tryRegister(server(), account, freshDeviceId()), 403, "device_limit");
    expectStatus(await tryRegister(server(), account, first.deviceId), 200);
  });
});

describe("POST /api/mobile/auth", () => {
  test("signs in a registered device with the same response as register, and ends its former tokens", async () => {
    const account = await server().signUp();
    const { client, deviceId, tokens } = await registerDevice(server(), account);
    await client.stored("hello");
    const response = await trySignIn(account, deviceId);
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      user: { id: account.id },
      tokens: { expiresIn: "7d" },
      device: { id: deviceId, name: "Pixel 9" },
      syncData: { lastSyncAt: null, pendingUploads: 0, cacheSize: 5 },
    });
    expectError(await client.get("/api/mobile/devices"), 401, "revoked_token");
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401);
    expectStatus(await readDevice(server(), response).client.get("/api/mobile/devices"), 200);
  });

  test("returns the number of uploads in progress of this device", async () => {
    const account = await server().signUp();
    const { client, deviceId } = await registerDevice(server(), account);
    await registerDevice(server(), account);
    const file = (localId: string) => ({ localId, name: localId, size: 5, mimeType: "text/plain", folder: "/" });
    expectStatus(await client.post("/api/mobile/upload/init", { files: [file("a"), file("b")] }), 200);
    expect((await trySignIn(account, deviceId)).number("syncData.pendingUploads")).toBe(2);
    const other = await tryRegister(server(), account, freshDeviceId());
    expect(other.number("syncData.pendingUploads")).toBe(0);
  });

  test("returns 404 for unknown and removed devices, only with the right password", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), await server().signUp());
    const { client, deviceId } = await registerDevice(server(), account);
    await client.delete(`/api/mobile/devices/${deviceId}`);
    for (const id of [deviceId, other.deviceId, freshDeviceId()]) {
      expectError(await trySignIn(account, id), 404, "not_found");
      expectError(await trySignIn({ ...account, password: "wrong password" }, id), 401, "bad_credentials");
    }
  });

  test("rejects missing and invalid fields", async () => {
    const account = await server().signUp();
    const { email, password } = account;
    const post = (json: unknown) => server().visitor.post("/api/mobile/auth", json);
    expectError(await post({ email, password }), 400, "invalid_field", "deviceId");
    expectError(await post({ email, deviceId: "a" }), 400, "invalid_field", "password");
    expectError(await post({ password, deviceId: "a" }), 400, "invalid_field", "email");
    expectError(await post({ email, password, deviceId: "a/b" }), 400, "invalid_field", "deviceId");
    expectError(await post(undefined), 400, "invalid_json");
  });
});

describe("POST /api/mobile/auth/refresh", () => {
  test("returns new tokens and the device", async () => {
    const { client, deviceId, tokens } = await registerDevice(server(), await server().signUp());
    const response = await tryRefresh(server(), tokens.refreshToken, deviceId);
    expectStatus(response, 200);
    expect(response.json).toEqual({
      success: true,
      tokens: {
        accessToken: expect.any(String),
        refreshToken: expect.stringMatching(/^[\w-]{32,}$/),
        expiresIn: "7d",
      },
      device: { id: deviceId, name: "Pixel 9", registeredAt: expect.stringMatching(timestampPattern) },
    });
    const next = readDevice(server(), response);
    expect(next.tokens.refreshToken).not.toBe(tokens.refreshToken);
    expectStatus(await next.client.get("/api/mobile/devices"), 200);
    // The former access token stays valid until it expires, for requests in progress.
    expectStatus(await client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), next.tokens.refreshToken, deviceId), 200);
  });

  test("returns new tokens once more if the response was lost, and ends the unused ones", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    const lost = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    const fresh = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    expectError(await lost.client.get("/api/mobile/devices"), 401, "revoked_token");
    expectError(await tryRefresh(server(), lost.tokens.refreshToken, deviceId), 401);
    expectStatus(await fresh.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), fresh.tokens.refreshToken, deviceId), 200);
  });

  test("with the same token a third time signs the device out", async () => {
    const { client, deviceId, tokens } = await registerDevice(server(), await server().signUp());
    await tryRefresh(server(), tokens.refreshToken, deviceId);
    const fresh = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "revoked_token");
    for (const former of [client, fresh.client]) expectError(await former.get("/api/mobile/devices"), 401);
    expectError(await tryRefresh(server(), fresh.tokens.refreshToken, deviceId), 401);
  });

  test("with a token whose successor was used signs out the device, and no other", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), account);
    const { client, deviceId, tokens } = await registerDevice(server(), account);
    const second = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    const third = readDevice(server(), await tryRefresh(server(), second.tokens.refreshToken, deviceId));
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "revoked_token");
    for (const former of [client, second.client, third.client])
      expectError(await former.get("/api/auth/session"), 401, "revoked_token");
    expectError(await tryRefresh(server(), third.tokens.refreshToken, deviceId), 401);
    expectStatus(await other.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), other.tokens.refreshToken, other.deviceId), 200);
    // The device is still registered and can sign in.
    expectStatus(await trySignIn(account, deviceId), 200);
  });

  test("several times at once leaves at most one valid pair of tokens", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    const two = await Promise.all([1, 2].map(() => tryRefresh(server(), tokens.refreshToken, deviceId)));
    expect(sortedStatuses(two)).toEqual([200, 200]);
    const pairs = two.map((response) => readDevice(server(), response));
    const listed = await Promise.all(pairs.map((pair) => pair.client.get("/api/mobile/devices")));
    expect(sortedStatuses(listed)).toEqual([200, 401]);

    const crowd = await registerDevice(server(), await server().signUp());
    const many = await Promise.all(
      Array.from({ length: 6 }, () => tryRefresh(server(), crowd.tokens.refreshToken, crowd.deviceId)),
    );
    expect(sortedStatuses(many)).toEqual([200, 200, 401, 401, 401, 401]);
    for (const response of many)
      if (response.status === 200)
        expectError(await readDevice(server(), response).client.get("/api/mobile/devices"), 401, "revoked_token");
  });

  test("rejects a valid token with another deviceId, and the token stays valid", async () => {
    const account = await server().signUp();
    const a = await registerDevice(server(), account);
    const b = await registerDevice(server(), account);
    for (const id of [b.deviceId, freshDeviceId(), ""])
      expectError(await tryRefresh(server(), a.tokens.refreshToken, id), 401, "invalid_token");
    expectStatus(await tryRefresh(server(), a.tokens.refreshToken, a.deviceId), 200);
  });

  test("rejects unknown tokens, access tokens and invalid tokens", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    for (const token of ["", "nonsense", tokens.accessToken, `${tokens.refreshToken}A`, tokens.refreshToken.slice(1)])
      expectError(await tryRefresh(server(), token, deviceId), 401, "invalid_token");
    const post = (json: unknown) => server().visitor.post("/api/mobile/auth/refresh", json);
    expectError(await post({ deviceId }), 400, "invalid_field", "refreshToken");
    expectError(await post({ refreshToken: tokens.refreshToken }), 400, "invalid_field", "deviceId");
    expectError(await post({ refreshToken: 1, deviceId }), 400, "invalid_field", "refreshToken");
  });

  test("rejects a refresh token as an access token", async () => {
    const { tokens } = await registerDevice(server(), await server().signUp());
    const client = new Client(server(), tokens.refreshToken);
    expectError(await client.get("/api/mobile/devices"), 401, "invalid_token");
  });

  test("accepts a refresh token after a restart, still only once", async () => {
    await withServer({}, async (own) => {
      const { deviceId, tokens } = await registerDevice(own, await own.signUp());
      const second = readDevice(own, await tryRefresh(own, tokens.refreshToken, deviceId));
      await own.kill9();
      await own.start();
      const third = readDevice(own, await tryRefresh(own, second.tokens.refreshToken, deviceId));
      expectError(await tryRefresh(own, tokens.refreshToken, deviceId), 401, "revoked_token");
      expectError(await third.client.get("/api/mobile/devices"), 401);
    });
  });
});

describe("GET /api/mobile/devices", () => {
  test("lists all devices of the account and marks the current one", async () => {
    const account = await server().signUp();
    await registerDevice(server(), await server().signUp());
    const a = await registerDevice(server(), account);
    const b = await registerDevice(server(), account, undefined, {
      platform: "ios",
      model: "iPhone 17",
      osVersion: undefined,
    });
    const response = await b.client.get("/api/mobile/devices");
    expectStatus(response, 200);
    expect(response.string("data.currentDevice")).toBe(b.deviceId);
    expect(response.strings("data.devices", "id").sort()).toEqual([a.deviceId, b.deviceId].sort());
    const current = response.list("data.devices").find((device) => Reflect.get(Object(device), "id") === b.deviceId);
    expect(current).toEqual({
      id: b.deviceId,
      name: "iPhone 17",
      platform: "ios",
      model: "iPhone 17",
      appVersion: "1.0.0",
      registeredAt: expect.stringMatching(timestampPattern),
      lastActiveAt: expect.stringMatching(timestampPattern),
      isCurrent: true,
      settings: {
        autoUpload: false,
        backgroundSync: true,
        wifiOnly: true,
        uploadQuality: "original",
        syncFolders: [],
        maxCacheSize: 1024 ** 3,
      },
    });
    const seenByA = await a.client.get("/api/mobile/devices");
    expect(seenByA.string("data.currentDevice")).toBe(a.deviceId);
  });

  test("returns 401 without a token and for a web session", async () => {
    const { client } = await server().signUp();
    expectError(await server().visitor.get("/api/mobile/devices"), 401, "missing_token");
    expectError(await client.get("/api/mobile/devices"), 401, "invalid_token");
    expectError(await client.put("/api/mobile/devices/a/settings", {}), 401, "invalid_token");
    expectError(await client.delete("/api/mobile/devices/a"), 401, "invalid_token");
  });
});

describe("PUT /api/mobile/devices/{deviceId}/settings", () => {
  test("merges the settings, and returns all of them", async () => {
    const account = await server().signUp();
    const a = await registerDevice(server(), account);
    const b = await registerDevice(server(), account);
    const path = `/api/mobile/devices/${a.deviceId}/settings`;
    const first = await a.client.put(path, { autoUpload: true, uploadQuality: "high", maxCacheSize: 0, unknown: 1 });
    expectStatus(first, 200);
    const expected = {
      autoUpload: true,
      backgroundSync: true,
      wifiOnly: true,
      uploadQuality: "high",
      syncFolders: [] as string[],
      maxCacheSize: 0,
    };
    expect(first.at("data")).toEqual(expected);
    // Another device of the account changes them.
    const second = await b.client.put(path, { syncFolders: ["/photos/", "/photos", "/a/é"] });
    expect(second.at("data")).toEqual({ ...expected, syncFolders: ["/photos", "/a/é"] });
    expect((await a.client.put(path, {})).at("data")).toEqual({ ...expected, syncFolders: ["/photos", "/a/é"] });
    const listed = (await a.client.get("/api/mobile/devices")).list("data.devices");
    const settings = Object.fromEntries(
      listed.map((device) => [Reflect.get(Object(device), "id"), Reflect.get(Object(device), "settings")]),
    );
    expect(settings[a.deviceId]).toEqual({ ...expected, syncFolders: ["/photos", "/a/é"] });
    expect(settings[b.deviceId]).toMatchObject({ autoUpload: false, syncFolders: [] });
  });

  test("loses no concurrent change", async () => {
    const { client, deviceId } = await registerDevice(server(), await server().signUp());
    const path = `/api/mobile/devices/${deviceId}/settings`;
    await Promise.all([
      client.put(path, { autoUpload: true }),
      client.put(path, { wifiOnly: false }),
      client.put(path, { uploadQuality: "low" }),
    ]);
    expect((await client.put(path, {})).at("data")).toMatchObject({
      autoUpload: true,
      wifiOnly: false,
      uploadQuality: "low",
    });
  });

  test("rejects wrong types and values without changing anything", async () => {
    const { client, deviceId } = await registerDevice(server(), await server().signUp());
    const path = `/api/mobile/devices/${deviceId}/settings`;
    const before = (await client.put(path, {})).at("data");
    const wrong: [Record<string, unknown>, string][] = [
      [{ autoUpload: "true" }, "autoUpload"],
      [{ backgroundSync: 1 }, "backgroundSync"],
      [{ wifiOnly: null }, "wifiOnly"],
      [{ uploadQuality: "best" }, "uploadQuality"],
      [{ syncFolders: "/photos" }, "syncFolders"],
      [{ syncFolders: Array.from({ length: 201 }, (_, i) => `/${i}`) }, "syncFolders"],
      [{ maxCacheSize: -1 }, "maxCacheSize"],
      [{ maxCacheSize: 1.5 }, "maxCacheSize"],
      [{ maxCacheSize: "5" }, "maxCacheSize"],
      [{ maxCacheSize: 2 ** 60 }, "maxCacheSize"],
    ];
    for (const [json, field] of wrong)
      expectError(await client.put(path, { autoUpload: true, ...json }), 400, "invalid_field", field);
    for (const folder of ["photos", "/a/../b", "/a//b", "", "/a\u0000"])
      expectError(await client.put(path, { syncFolders: [folder] }), 400, "invalid_path", "syncFolders");
    expect((await client.put(path, {})).at("data")).toEqual(before);
  });

  test("returns 404 for unknown devices and those of others", async () => {
    const { client } = await registerDevice(server(), await server().signUp());
    const other = await registerDevice(server(), await server().signUp());
    for (const id of [other.deviceId, freshDeviceId(), "%20", "a%2Fb"])
      expectError(await client.put(`/api/mobile/devices/${id}/settings`, { wifiOnly: false }), 404, "not_found");
  });
});

describe("DELETE /api/mobile/devices/{deviceId}", () => {
  test("ends the device's tokens at once, and those of no other device", async () => {
    const account = await server().signUp();
    const a = await registerDevice(server(), account);
    const b = await registerDevice(server(), account);
    const refreshed = readDevice(server(), await tryRefresh(server(), b.tokens.refreshToken, b.deviceId));
    const response = await a.client.delete(`/api/mobile/devices/${b.deviceId}`);
    expectStatus(response, 200);
    expect(response.json).toEqual({
      success: true,
      message: expect.any(String),
      data: { id: b.deviceId, name: "Pixel 9", removedAt: expect.stringMatching(timestampPattern) },
    });
    for (const former of [b.client, refreshed.client]) {
      expectError(await former.get("/api/mobile/devices"), 401, "revoked_token");
      expectError(await former.get("/api/files"), 401, "revoked_token");
    }
    expectError(await tryRefresh(server(), refreshed.tokens.refreshToken, b.deviceId), 401);
    expect((await a.client.get("/api/mobile/devices")).strings("data.devices", "id")).toEqual([a.deviceId]);
    expectStatus(await account.client.get("/api/files"), 200);
    expectError(await a.client.delete(`/api/mobile/devices/${b.deviceId}`), 404, "not_found");
    expectError(await a.client.put(`/api/mobile/devices/${b.deviceId}/settings`, {}), 404, "not_found");
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(1);
  });

  test("works for the device itself", async () => {
    const { client, deviceId } = await registerDevice(server(), await server().signUp());
    expectStatus(await client.delete(`/api/mobile/devices/${deviceId}`), 200);
    expectError(await client.get("/api/mobile/devices"), 401, "revoked_token");
  });

  test("returns 404 for unknown devices and those of others", async () => {
    const { client } = await registerDevice(server(), await server().signUp());
    const other = await registerDevice(server(), await server().signUp());
    for (const id of [other.deviceId, freshDeviceId()])
      expectError(await client.delete(`/api/mobile/devices/${id}`), 404, "not_found");
    expectStatus(await other.client.get("/api/mobile/devices"), 200);
  });

  test("resets the settings and the registration time of a device that registers again", async () => {
    const account = await server().signUp();
    const first = await registerDevice(server(), account);
    const before = (await first.client.get("/api/mobile/devices")).string("data.devices.0.registeredAt");
    await first.client.put(`/api/mobile/devices/${first.deviceId}/settings`, { wifiOnly: false });
    await first.client.delete(`/api/mobile/devices/${first.deviceId}`);
    const again = await registerDevice(server(), account, first.deviceId);
    const listed = await again.client.get("/api/mobile/devices");
    expect(listed.list("data.devices")).toHaveLength(1);
    expect(listed.at("data.devices.0.settings.wifiOnly")).toBe(true);
    expect(Date.parse(listed.string("data.devices.0.registeredAt"))).toBeGreaterThan(Date.parse(before));
    expectError(await first.client.get("/api/mobile/devices"), 401, "revoked_token");
  });
});

describe("/api/users/devices", () => {
  test("lets a user who has lost all phones list and remove them", async () => {
    const account = await freeAccount();
    const lost = await registerDevice(server(), account);
    for (let i = 0; i < 2; i++) await registerDevice(server(), account);
    const stranger = await server().signUp();
    expect((await stranger.client.get("/api/users/devices")).at("data")).toEqual({ devices: [] });
    const path = `/api/users/devices/${lost.deviceId}`;
    expectError(await stranger.client.delete(path), 404, "not_found");
    expectError(await server().visitor.get("/api/users/devices"), 401, "missing_token");
    expectError(await server().visitor.delete(path), 401, "missing_token");
    const listed = await account.client.get("/api/users/devices");
    expect(listed.strings("data.devices", "id")).toContain(lost.deviceId);
    for (const device of listed.list("data.devices")) expect(device).toMatchObject({ isCurrent: false });
    expectError(await tryRegister(server(), account, "next"), 403, "device_limit");
    expectStatus(await account.client.delete(path), 200);
    expectError(await lost.client.get("/api/mobile/devices"), 401, "revoked_token");
    expectError(await tryRefresh(server(), lost.tokens.refreshToken, lost.deviceId), 401);
    expectStatus(await tryRegister(server(), account, "next"), 200);
  });
});

test("a device's token works for the other routes too", async () => {
  const { client } = await registerDevice(server(), await server().signUp());
  const id = await client.storedId("hello");
  expectStatus(await client.get(`/api/files/${id}`), 200);
  expectStatus(await client.get("/api/users/profile"), 200);
});

test("tokens and passwords are never logged", async () => {
  await withServer({ env: { LARDER_LOG_LEVEL: "debug" } }, async (own) => {
    const account = await own.signUp();
    const { client, deviceId, tokens } = await registerDevice(own, account, undefined, { pushToken: "push-secret-1" });
    const next = readDevice(own, await tryRefresh(own, tokens.refreshToken, deviceId));
    await client.get("/api/mobile/devices");
    await tryRefresh(own, tokens.refreshToken, "another");
    for (const secret of [tokens, next.tokens].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]))
      expect(own.log).not.toContain(secret);
    for (const secret of [account.password, "push-secret-1"]) expect(own.log).not.toContain(secret);
  });
});

test("wrong passwords of devices count as failed sign-ins", async () => {
  await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
    const account = await own.signUp();
    const wrong = { email: account.email, password: "wrong password" };
    for (let i = 0; i < 5; i++) expectError(await tryRegister(own, wrong, "phone"), 401, "bad_credentials");
    const limited = await tryRegister(own, account, "phone");
    expectError(limited, 429, "rate_limited");
    expect(limited.header("x-ratelimit-resource")).toBe("signin");
  });
});

testAllResponses(server);
