// App passwords: creating, listing and ending them.
import { describe, expect, test } from "bun:test";
import { createAppPassword, openDav, sendDav } from "../support/app-passwords.ts";
import { Client } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { freshDeviceId, registerDevice, tryRegister } from "../support/mobile.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const path = "/api/users/app-passwords";

describe("POST /api/users/app-passwords", () => {
  test("creates one that is shown once", async () => {
    const account = await server().signUp();
    const response = await account.client.post(path, { name: " laptop ", currentPassword: account.password });
    expectStatus(response, 201);
    const password = response.string("data.password");
    expect(password).toMatch(/^([a-km-np-z2-9]{5}-){5}[a-km-np-z2-9]{5}$/);
    const record = {
      id: expect.stringMatching(/^app_[a-z0-9]+$/),
      name: "laptop",
      access: "write",
      folder: "/",
      createdAt: expect.stringMatching(timestampPattern),
      expiresAt: null,
      lastUsedAt: null,
      lastAddress: null,
      lastClient: null,
    };
    const url = `${server().url}/dav/`;
    expect(response.at("data")).toEqual({ ...record, username: account.email, password, url });
    const list = await account.client.get(path);
    expect(list.list("data.appPasswords")).toEqual([record]);
    expect(list.string("data.url")).toBe(url);
    expect(list.text).not.toContain(password);
  });

  test("stores only its digest", async () => {
    await withServer({}, async (own) => {
      const { password } = await createAppPassword(await own.signUp());
      await own.stop();
      for (const name of ["larder.db", "larder.db-wal"]) {
        const file = Bun.file(`${own.dataDir}/${name}`);
        if (!(await file.exists())) continue;
        const content = Buffer.from(await file.arrayBuffer());
        for (const spelling of [password, password.replaceAll("-", "")]) {
          expect({ name, isStored: content.includes(spelling) }).toEqual({ name, isStored: false });
        }
      }
    });
  });

  test.each([
    ["no name", {}, "name"],
    ["an empty name", { name: " " }, "name"],
    ["a name with a control character", { name: "a\u0007b" }, "name"],
    ["a long name", { name: "x".repeat(101) }, "name"],
    ["an unknown access", { name: "x", access: "admin" }, "access"],
    ["an expiry in the past", { name: "x", expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    ["an expiry that is no time", { name: "x", expiresAt: "soon" }, "expiresAt"],
  ])("rejects %s", async (_what, body, field) => {
    const { client } = await confirmIdentity(await server().signUp());
    expectError(await client.post(path, body), 400, "invalid_field", field);
    expect((await client.get(path)).list("data.appPasswords")).toEqual([]);
  });

  test("rejects folders that are not there, not folders, or not one's own", async () => {
    const account = await confirmIdentity(await server().signUp());
    const other = await server().signUp();
    await other.client.folderId("theirs");
    await account.client.stored("x", { name: "file.txt" });
    const withFolder = (folder: string) => account.client.post(path, { name: "x", folder });
    for (const folder of ["/missing", "/theirs", "/file.txt"]) expectError(await withFolder(folder), 404, "not_found");
    for (const folder of ["/../x", "/a//b", "/a\\b"]) expectError(await withFolder(folder), 400, "invalid_path");
    expect((await account.client.get(path)).list("data.appPasswords")).toEqual([]);
  });

  test("needs proof", async () => {
    const { client, password } = await server().signUp();
    expectError(await client.post(path, { name: "x" }), 401, "password_required");
    expectError(await client.post(path, { name: "x", currentPassword: "wrong password" }), 401, "bad_credentials");
    expect((await client.get(path)).list("data.appPasswords")).toEqual([]);
    expectStatus(await client.post(path, { name: "x", currentPassword: password }), 201);
    expectStatus(await client.post("/api/auth/confirm", { currentPassword: password }), 200);
    expectStatus(await client.post(path, { name: "x" }), 201);
  });

  test("is not for devices, API keys, other accounts and anonymous callers", async () => {
    const account = await confirmIdentity(await server().signUp());
    const { id } = await createAppPassword(account);
    const phone = await registerDevice(server(), account);
    expectError(await phone.client.post(path, { name: "x", currentPassword: account.password }), 403, "scope");
    const scopes = ["files:read", "files:write", "shares", "profile"];
    const made = await account.client.post("/api/users/api-keys", { name: "x", scopes });
    const key = new Client(server(), made.string("data.key"));
    expectError(await key.post(path, { name: "x", currentPassword: account.password }), 403, "scope");
    expectError(await key.get(path), 403, "scope");
    expectError(await key.delete(`${path}/${id}`), 403, "scope");
    const other = await confirmIdentity(await server().signUp());
    expect((await other.client.get(path)).list("data.appPasswords")).toEqual([]);
    expectError(await other.client.delete(`${path}/${id}`), 404, "not_found");
    expectError(await server().visitor.get(path), 401, "missing_token");
    expect((await account.client.get(path)).strings("data.appPasswords", "id")).toEqual([id]);
  });

  test("gives viewers one that only reads", async () => {
    const viewer = await server().addUser(["--role", "viewer"]);
    const write = { name: "x", access: "write", currentPassword: viewer.password };
    expectError(await viewer.client.post(path, write), 403, "role");
    const appPassword = await createAppPassword(viewer);
    expect((await viewer.client.get(path)).strings("data.appPasswords", "access")).toEqual(["read"]);
    expectStatus(await openDav(server(), appPassword), 200);
    expectStatus(await sendDav(server(), appPassword, "PUT", "a.txt", { body: "x" }), 403);
  });

  test("reads but changes nothing with the access read, and after its owner became a viewer", async () => {
    const account = await server().signUp();
    const [reads, writes] = [await createAppPassword(account, { access: "read" }), await createAppPassword(account)];
    expectStatus(await sendDav(server(), writes, "PUT", "a.txt", { body: "one" }), 201);
    await server().change(account.id, { role: "viewer" });
    for (const appPassword of [reads, writes]) {
      expect((await sendDav(server(), appPassword, "GET", "a.txt")).text).toBe("one");
      for (const [method, name] of [
        ["PUT", "b.txt"],
        ["PUT", "a.txt"],
        ["DELETE", "a.txt"],
        ["MKCOL", "c"],
      ] as const) {
        expectStatus(await sendDav(server(), appPassword, method, name), 403);
      }
    }
    expect(await account.client.names()).toEqual(["a.txt"]);
  });

  test("creates at most 50", async () => {
    const account = await confirmIdentity(await server().signUp());
    const first = await createAppPassword(account);
    for (let i = 1; i < 50; i++) expectStatus(await account.client.post(path, { name: "x" }), 201);
    expectError(await account.client.post(path, { name: "x" }), 400, "invalid_request");
    expectStatus(await account.client.delete(`${path}/${first.id}`), 200);
    expectStatus(await account.client.post(path, { name: "x" }), 201);
  });

  test("notifies the account, and is audited without the password", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    const { id, password } = await createAppPassword(account, { name: "nightly" });
    const notifications = (await phone.client.get("/api/mobile/notifications")).list("data.notifications");
    expect(notifications).toContainEqual(
      expect.objectContaining({
        category: "security",
        data: expect.objectContaining({ event: "security.app_password_created", appPasswordId: id }),
      }),
    );
    await account.client.delete(`${path}/${id}`);
    const admin = await server().addUser(["--admin"]);
    const audit = await admin.client.get(`/api/admin/audit?limit=100&user=${account.id}`);
    const entries = audit.list("data.entries").map((entry) => Object(entry));
    for (const action of ["app_password.create", "app_password.delete"]) {
      expect(entries).toContainEqual(expect.objectContaining({ action, target: { type: "app_password", id } }));
    }
    expect(audit.text).not.toContain(password);
  });
});

describe("the hidden device of an app password", () => {
  test("is in no list of devices, and does not count", async () => {
    await withServer({ env: { LARDER_PLANS_ENTERPRISE_DEVICES: "1" } }, async (own) => {
      const account = await own.signUp();
      for (let i = 0; i < 3; i++) expectStatus(await openDav(own, await createAppPassword(account)), 200);
      const phone = await registerDevice(own, account);
      for (const client of [phone.client, account.client]) {
        const list = client === phone.client ? "/api/mobile/devices" : "/api/users/devices";
        expect((await client.get(list)).list("data.devices")).toHaveLength(1);
      }
      expect((await account.client.get("/api/users/usage")).at("data.devices")).toMatchObject({ count: 1 });
    });
  });

  test("can be neither registered, changed nor removed as a device", async () => {
    const account = await server().signUp();
    const { id } = await createAppPassword(account);
    expectError(await tryRegister(server(), account, id), 400, "invalid_field");
    const phone = await registerDevice(server(), account);
    expectStatus(await phone.client.put(`/api/mobile/devices/${id}/settings`, { wifiOnly: true }), 404);
    expectStatus(await phone.client.delete(`/api/mobile/devices/${id}`), 404);
    expectStatus(await account.client.delete(`/api/users/devices/${id}`), 404);
    const body = { email: account.email, password: account.password, deviceId: id };
    expectStatus(await server().visitor.post("/api/mobile/auth", body), 404);
    const push = { title: "x", body: "x", deviceId: id };
    expectStatus(await phone.client.post("/api/mobile/push", push), 404);
    expect((await account.client.get(path)).strings("data.appPasswords", "id")).toEqual([id]);
  });

  test("lets its owner undo what the program did, also after it was deleted", async () => {
    const account = await server().signUp();
    const appPassword = await createAppPassword(account);
    await account.client.stored("good", { name: "kept.txt" });
    const since = new Date(Date.now() - 60_000).toISOString();
    expectStatus(await sendDav(server(), appPassword, "PUT", "kept.txt", { body: "encrypted" }), 204);
    expectStatus(await sendDav(server(), appPassword, "PUT", "new.txt", { body: "ransom" }), 201);
    await account.client.delete(`${path}/${appPassword.id}`);
    const other = await server().signUp();
    const rewind = `/api/users/devices/${appPassword.id}/rewind`;
    expectStatus(await other.client.post(rewind, { since }), 404);
    expectStatus(await account.client.post(rewind, { since }), 200);
    expect(await account.client.names()).toEqual(["kept.txt"]);
    const phone = await registerDevice(server(), account, freshDeviceId());
    const [file] = (await phone.client.get("/api/files")).strings("data.files", "id");
    expect((await account.client.get(`/api/files/${file}/download`)).text).toBe("good");
  });
});

test("with an app password ends what waits for approval because of it", async () => {
  const env = { LARDER_MASS_CHANGE_FILES: "2", LARDER_MASS_CHANGE_PERCENT: "10" };
  await withServer({ env }, async (own) => {
    const account = await own.signUp();
    const appPassword = await createAppPassword(account);
    for (const name of ["a", "b", "c", "d"]) await account.client.stored(name, { name });
    const deleted = [];
    for (const name of ["a", "b", "c"]) deleted.push((await sendDav(own, appPassword, "DELETE", name)).status);
    expect(deleted).toEqual([204, 204, 403]);
    const open = async () => (await account.client.get("/api/users/holds")).strings("data.holds", "deviceId");
    expect(await open()).toEqual([appPassword.id]);
    expectStatus(await account.client.delete(`${path}/${appPassword.id}`), 200);
    expect(await open()).toEqual([]);
  });
});

describe("administrators", () => {
  test("list and end them with proof, and see no folders", async () => {
    const [account, admin] = [await server().signUp(), await server().addUser(["--admin"])];
    await account.client.folderId("secret plans");
    const appPassword = await createAppPassword(account, { folder: "/secret plans" });
    expectStatus(await openDav(server(), appPassword), 200);
    const list = `/api/admin/users/${account.id}/app-passwords`;
    const response = await admin.client.get(list);
    expect(response.list("data.appPasswords")).toMatchObject([{ id: appPassword.id, name: "laptop", folder: null }]);
    expect(response.text).not.toContain("secret plans");
    const one = `${list}/${appPassword.id}`;
    expectError(await admin.client.delete(one), 401, "password_required");
    expectStatus(await openDav(server(), appPassword), 200);
    expectError(await admin.client.delete(`${list}/app_0`, { currentPassword: admin.password }), 404, "not_found");
    expectStatus(await admin.client.delete(one, { currentPassword: admin.password }), 200);
    expectStatus(await openDav(server(), appPassword), 401);
    expect((await admin.client.get(list)).list("data.appPasswords")).toEqual([]);
  });

  test("only they may, and not with an API key or for their own account", async () => {
    const [account, admin] = [await server().signUp(), await server().addUser(["--admin"])];
    const { id } = await createAppPassword(account);
    const list = `/api/admin/users/${account.id}/app-passwords`;
    const proof = { currentPassword: account.password };
    expectError(await account.client.get(list), 403, "role");
    expectError(await account.client.delete(`${list}/${id}`, proof), 403, "role");
    await confirmIdentity(admin);
    const made = await admin.client.post("/api/users/api-keys", { name: "x", scopes: ["admin"] });
    const key = new Client(server(), made.string("data.key"));
    expectError(await key.get(list), 403, "scope");
    expectError(await key.delete(`${list}/${id}`), 403, "scope");
    const own = await createAppPassword(admin);
    expectError(await admin.client.delete(`/api/admin/users/${admin.id}/app-passwords/${own.id}`), 403, "role");
  });
});

testAllResponses(server);
