import { describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { readDevice, freshDeviceId, registerDevice, tryRefresh, tryRegister } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** POST /api/mobile/auth, whatever it answers. */
function trySignIn(account: Pick<Account, "email" | "password">, deviceId: string) {
  const { email, password } = account;
  return server().visitor.post("/api/mobile/auth", { email, password, deviceId });
}

/** An account of the plan free: three devices. */
function freeAccount(): Promise<Account> {
  return server().addUser(["--plan", "free"]);
}

describe("POST /api/mobile/auth/register", () => {
  test("answers 200 with user, tokens, device and syncData", async () => {
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

  test("names a device by its model, else by its platform", async () => {
    const account = await server().signUp();
    const named = await tryRegister(server(), account, freshDeviceId(), { model: "iPhone 17", platform: "ios" });
    expect(named.string("device.name")).toBe("iPhone 17");
    for (const model of ["", "  ", undefined]) {
      const nameless = await tryRegister(server(), account, freshDeviceId(), { model, platform: "ios" });
      expect(nameless.string("device.name")).toBe("ios");
    }
  });

  test("refuses unknown accounts and wrong passwords alike", async () => {
    const account = await server().signUp();
    const wrong = await tryRegister(server(), { email: account.email, password: "wrong password" }, freshDeviceId());
    const unknown = await tryRegister(server(), { email: freshEmail(), password: "wrong password" }, freshDeviceId());
    expectError(wrong, 401, "bad_credentials");
    expect(unknown.status).toBe(401);
    expect(unknown.json).toEqual(wrong.json);
    expect(unknown.header("x-ratelimit-resource")).toBe("general");
  });

  test("tells that an account is disabled to the right password alone", async () => {
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

  test("says which field is at fault", async () => {
    const account = await server().signUp();
    const { email, password } = account;
    const refused = async (deviceInfo: unknown, field: string) =>
      expectError(
        await server().visitor.post("/api/mobile/auth/register", { email, password, deviceInfo }),
        400,
        "invalid_field",
        field,
      );
    await refused(undefined, "deviceInfo");
    await refused("android", "deviceInfo");
    await refused({ platform: "android" }, "deviceInfo.deviceId");
    await refused({ deviceId: "a" }, "deviceInfo.platform");
    await refused({ deviceId: "a", platform: "" }, "deviceInfo.platform");
    await refused({ deviceId: "a", platform: " " }, "deviceInfo.platform");
    await refused({ deviceId: "a", platform: 7 }, "deviceInfo.platform");
    await refused({ deviceId: "a", platform: "ios", model: "a\u0000b" }, "deviceInfo.model");
    await refused({ deviceId: "a", platform: "ios", pushToken: "x".repeat(5_000) }, "deviceInfo.pushToken");
    const inside = { platform: "ios", pushToken: "https://10.0.0.1/topic" };
    const forbidden = await tryRegister(server(), account, "a", inside);
    expectError(forbidden, 400, "forbidden_target", "deviceInfo.pushToken");
    const unprintable = ["a\n", "a\u0000", "a\u007f", "a\u0085", "a\u2028b", "a\u202eb", "\ufeffa", "\ud800"];
    for (const deviceId of ["", ".", "..", "a/b", "a\\b", ...unprintable, "a".repeat(201), "\u{1f4f1}".repeat(201), 7])
      await refused({ deviceId, platform: "ios" }, "deviceInfo.deviceId");
    for (const deviceId of ["a", "A.b_c:d-e", ".a", "-a", "0".repeat(200), "\u{1f4f1}".repeat(200)])
      expectStatus(await tryRegister(server(), account, deviceId), 200);
  });

  test("takes whatever a device is called, everywhere where devices are named", async () => {
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

  test("knows a device by its id in whatever form the same letters come", async () => {
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

  test("keeps the same deviceId of two accounts apart", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const ofA = await registerDevice(server(), a, "shared");
    const ofB = await registerDevice(server(), b, "shared");
    expectStatus(await ofA.client.delete("/api/mobile/devices/shared"), 200);
    expectStatus(await ofB.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), ofB.tokens.refreshToken, "shared"), 200);
  });

  test("renews a device: its former tokens end, its settings and its day stay", async () => {
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

  test("is for viewers too, who manage their devices", async () => {
    const viewer = await server().addUser(["--role", "viewer"]);
    const { client, deviceId } = await registerDevice(server(), viewer);
    expectStatus(await client.get("/api/mobile/devices"), 200);
    expectStatus(await client.put(`/api/mobile/devices/${deviceId}/settings`, { wifiOnly: false }), 200);
    expectStatus(await client.delete(`/api/mobile/devices/${deviceId}`), 200);
  });
});

describe("the plan's number of devices", () => {
  test("is kept by registrations at once, and told with limit and plan", async () => {
    const account = await freeAccount();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => tryRegister(server(), account, freshDeviceId())),
    );
    expect(sortedStatuses(responses)).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
    const refused = responses.find((response) => response.status === 403);
    expect(refused?.at("error.details")).toEqual({ reason: "device_limit", limit: 3, plan: "free" });
    expect((await account.client.get("/api/users/usage")).at("data.devices")).toEqual({ count: 3, limit: 3 });
  });

  test("does not stop a known device from registering again", async () => {
    const account = await freeAccount();
    const ids = [freshDeviceId(), freshDeviceId(), freshDeviceId()];
    for (const id of ids) await registerDevice(server(), account, id);
    const responses = await Promise.all(ids.map((id) => tryRegister(server(), account, id)));
    expect(sortedStatuses(responses)).toEqual([200, 200, 200]);
    expectError(await tryRegister(server(), account, freshDeviceId()), 403, "device_limit");
  });

  test("counts the same new device once, however many times at once", async () => {
    const account = await freeAccount();
    const id = freshDeviceId();
    const responses = await Promise.all(Array.from({ length: 5 }, () => tryRegister(server(), account, id)));
    expect(sortedStatuses(responses)).toEqual([200, 200, 200, 200, 200]);
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(1);
    const live = await Promise.all(
      responses.map((response) => readDevice(server(), response).client.get("/api/mobile/devices")),
    );
    expect(sortedStatuses(live)).toEqual([200, 401, 401, 401, 401]);
  });

  test("is freed by a removal", async () => {
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

  test("that is lowered later stops new ones alone", async () => {
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
  test("signs a registered device in, as register answers, and ends its former tokens", async () => {
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

  test("tells how many uploads of this device are under way", async () => {
    const account = await server().signUp();
    const { client, deviceId } = await registerDevice(server(), account);
    await registerDevice(server(), account);
    const file = (localId: string) => ({ localId, name: localId, size: 5, mimeType: "text/plain", folder: "/" });
    expectStatus(await client.post("/api/mobile/upload/init", { files: [file("a"), file("b")] }), 200);
    expect((await trySignIn(account, deviceId)).number("syncData.pendingUploads")).toBe(2);
    const other = await tryRegister(server(), account, freshDeviceId());
    expect(other.number("syncData.pendingUploads")).toBe(0);
  });

  test("knows no unknown or removed device, and tells so to the right password alone", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), await server().signUp());
    const { client, deviceId } = await registerDevice(server(), account);
    await client.delete(`/api/mobile/devices/${deviceId}`);
    for (const id of [deviceId, other.deviceId, freshDeviceId()]) {
      expectError(await trySignIn(account, id), 404, "not_found");
      expectError(await trySignIn({ ...account, password: "wrong password" }, id), 401, "bad_credentials");
    }
  });

  test("refuses what is missing or malformed", async () => {
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
  test("gives new tokens and the device", async () => {
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
    // Requests with the former one may be under way: it stays good until it expires.
    expectStatus(await client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), next.tokens.refreshToken, deviceId), 200);
  });

  test("gives a fresh pair once more where the answer got lost; the unused pair dies", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    const lost = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    const fresh = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    expectError(await lost.client.get("/api/mobile/devices"), 401, "revoked_token");
    expectError(await tryRefresh(server(), lost.tokens.refreshToken, deviceId), 401);
    expectStatus(await fresh.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), fresh.tokens.refreshToken, deviceId), 200);
  });

  test("a third time with the same token signs the device out", async () => {
    const { client, deviceId, tokens } = await registerDevice(server(), await server().signUp());
    await tryRefresh(server(), tokens.refreshToken, deviceId);
    const fresh = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "revoked_token");
    for (const dead of [client, fresh.client]) expectError(await dead.get("/api/mobile/devices"), 401);
    expectError(await tryRefresh(server(), fresh.tokens.refreshToken, deviceId), 401);
  });

  test("with a token whose successor was used signs the device out, and no other", async () => {
    const account = await server().signUp();
    const other = await registerDevice(server(), account);
    const { client, deviceId, tokens } = await registerDevice(server(), account);
    const second = readDevice(server(), await tryRefresh(server(), tokens.refreshToken, deviceId));
    const third = readDevice(server(), await tryRefresh(server(), second.tokens.refreshToken, deviceId));
    expectError(await tryRefresh(server(), tokens.refreshToken, deviceId), 401, "revoked_token");
    for (const dead of [client, second.client, third.client])
      expectError(await dead.get("/api/auth/session"), 401, "revoked_token");
    expectError(await tryRefresh(server(), third.tokens.refreshToken, deviceId), 401);
    expectStatus(await other.client.get("/api/mobile/devices"), 200);
    expectStatus(await tryRefresh(server(), other.tokens.refreshToken, other.deviceId), 200);
    // The device is registered still, and may sign in.
    expectStatus(await trySignIn(account, deviceId), 200);
  });

  test("by several at once leaves one pair at most", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    const two = await Promise.all([1, 2].map(() => tryRefresh(server(), tokens.refreshToken, deviceId)));
    expect(sortedStatuses(two)).toEqual([200, 200]);
    const pairs = two.map((response) => readDevice(server(), response));
    const live = await Promise.all(pairs.map((pair) => pair.client.get("/api/mobile/devices")));
    expect(sortedStatuses(live)).toEqual([200, 401]);

    const crowd = await registerDevice(server(), await server().signUp());
    const many = await Promise.all(
      Array.from({ length: 6 }, () => tryRefresh(server(), crowd.tokens.refreshToken, crowd.deviceId)),
    );
    expect(sortedStatuses(many)).toEqual([200, 200, 401, 401, 401, 401]);
    for (const response of many)
      if (response.status === 200)
        expectError(await readDevice(server(), response).client.get("/api/mobile/devices"), 401, "revoked_token");
  });

  test("refuses a genuine token with another deviceId, which harms nothing", async () => {
    const account = await server().signUp();
    const a = await registerDevice(server(), account);
    const b = await registerDevice(server(), account);
    for (const id of [b.deviceId, freshDeviceId(), ""])
      expectError(await tryRefresh(server(), a.tokens.refreshToken, id), 401, "invalid_token");
    expectStatus(await tryRefresh(server(), a.tokens.refreshToken, a.deviceId), 200);
  });

  test("refuses unknown tokens, access tokens and what is no token", async () => {
    const { deviceId, tokens } = await registerDevice(server(), await server().signUp());
    for (const token of ["", "nonsense", tokens.accessToken, `${tokens.refreshToken}A`, tokens.refreshToken.slice(1)])
      expectError(await tryRefresh(server(), token, deviceId), 401, "invalid_token");
    const post = (json: unknown) => server().visitor.post("/api/mobile/auth/refresh", json);
    expectError(await post({ deviceId }), 400, "invalid_field", "refreshToken");
    expectError(await post({ refreshToken: tokens.refreshToken }), 400, "invalid_field", "deviceId");
    expectError(await post({ refreshToken: 1, deviceId }), 400, "invalid_field", "refreshToken");
  });

  test("a refresh token opens nothing by itself", async () => {
    const { tokens } = await registerDevice(server(), await server().signUp());
    const client = new Client(server(), tokens.refreshToken);
    expectError(await client.get("/api/mobile/devices"), 401, "invalid_token");
  });

  test("outlives a restart, and so does its single use", async () => {
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
  test("lists all devices of the account and says which one asks", async () => {
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

  test("is for devices: nobody and a web token are 401", async () => {
    const { client } = await server().signUp();
    expectError(await server().visitor.get("/api/mobile/devices"), 401, "missing_token");
    expectError(await client.get("/api/mobile/devices"), 401, "invalid_token");
    expectError(await client.put("/api/mobile/devices/a/settings", {}), 401, "invalid_token");
    expectError(await client.delete("/api/mobile/devices/a"), 401, "invalid_token");
  });
});

describe("PUT /api/mobile/devices/{deviceId}/settings", () => {
  test("merges, and returns all settings of the device", async () => {
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
    // By another device of the same account.
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

  test("loses no change of two at once", async () => {
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

  test("refuses wrong types and values, and changes nothing then", async () => {
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

  test("knows no unknown device, and none of others", async () => {
    const { client } = await registerDevice(server(), await server().signUp());
    const other = await registerDevice(server(), await server().signUp());
    for (const id of [other.deviceId, freshDeviceId(), "%20", "a%2Fb"])
      expectError(await client.put(`/api/mobile/devices/${id}/settings`, { wifiOnly: false }), 404, "not_found");
  });
});

describe("DELETE /api/mobile/devices/{deviceId}", () => {
  test("ends the device's tokens at once, and no other's", async () => {
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
    for (const dead of [b.client, refreshed.client]) {
      expectError(await dead.get("/api/mobile/devices"), 401, "revoked_token");
      expectError(await dead.get("/api/files"), 401, "revoked_token");
    }
    expectError(await tryRefresh(server(), refreshed.tokens.refreshToken, b.deviceId), 401);
    expect((await a.client.get("/api/mobile/devices")).strings("data.devices", "id")).toEqual([a.deviceId]);
    expectStatus(await account.client.get("/api/files"), 200);
    expectError(await a.client.delete(`/api/mobile/devices/${b.deviceId}`), 404, "not_found");
    expectError(await a.client.put(`/api/mobile/devices/${b.deviceId}/settings`, {}), 404, "not_found");
    expect((await account.client.get("/api/users/usage")).number("data.devices.count")).toBe(1);
  });

  test("may be asked by the device itself", async () => {
    const { client, deviceId } = await registerDevice(server(), await server().signUp());
    expectStatus(await client.delete(`/api/mobile/devices/${deviceId}`), 200);
    expectError(await client.get("/api/mobile/devices"), 401, "revoked_token");
  });

  test("knows no unknown device, and none of others", async () => {
    const { client } = await registerDevice(server(), await server().signUp());
    const other = await registerDevice(server(), await server().signUp());
    for (const id of [other.deviceId, freshDeviceId()])
      expectError(await client.delete(`/api/mobile/devices/${id}`), 404, "not_found");
    expectStatus(await other.client.get("/api/mobile/devices"), 200);
  });

  test("a removed device that registers again begins anew", async () => {
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
  test("lets whoever has lost all phones see them and free a place", async () => {
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

test("a device's token opens the other endpoints too", async () => {
  const { client } = await registerDevice(server(), await server().signUp());
  const id = await client.storedId("hello");
  expectStatus(await client.get(`/api/files/${id}`), 200);
  expectStatus(await client.get("/api/users/profile"), 200);
});

test("no token and no password is ever written to the log", async () => {
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

test("wrong passwords of devices count as wrong sign-ins do, and lock no other address out", async () => {
  await withServer({ env: { LARDER_RATE_LIMITS: "on", LARDER_DEFAULT_PLAN: "free" } }, async (own) => {
    const account = await own.signUp();
    const wrong = { email: account.email, password: "wrong password" };
    for (let i = 0; i < 5; i++) expectError(await tryRegister(own, wrong, "phone"), 401, "bad_credentials");
    const refused = await tryRegister(own, account, "phone");
    expectError(refused, 429, "rate_limited");
    expect(refused.header("x-ratelimit-resource")).toBe("signin");
  });
});

testAllResponses(server);
