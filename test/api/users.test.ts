import { describe, expect, test } from "bun:test";
import { Client, freshEmail, randomContent } from "../support/client.ts";
import { expectClientError, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { asObject } from "../support/openapi.ts";
import { sendHalfUpload } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("profile", () => {
  test("returns id, email, name, role, plan and createdAt, and no secrets", async () => {
    const { client, id, email } = await server().signUp({ name: "Ada" });
    const response = await client.get("/api/users/profile");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: { id, email, name: "Ada", role: "user", plan: "enterprise" },
    });
    expect(response.string("data.createdAt")).toMatch(timestampPattern);
    expect(response.text).not.toMatch(/argon2|hash|password/i);
  });

  test("accepts a new name without the password", async () => {
    const { client } = await server().signUp();
    const response = await client.put("/api/users/profile", { name: "Grace Hopper ☕" });
    expectStatus(response, 200);
    expect((await client.get("/api/users/profile")).at("data.name")).toBe("Grace Hopper ☕");
    expect((await client.get("/api/auth/session")).at("user.name")).toBe("Grace Hopper ☕");
  });

  test("accepts a new email only with the password", async () => {
    const { client, email, password, id } = await server().signUp();
    const newEmail = freshEmail();
    expectClientError(await client.put("/api/users/profile", { email: newEmail }));
    const wrong = await client.put("/api/users/profile", { email: newEmail, currentPassword: "wrong password" });
    expectError(wrong, 401, "bad_credentials");
    expect((await client.get("/api/users/profile")).at("data.email")).toBe(email);
    expectStatus(await client.put("/api/users/profile", { email: newEmail, currentPassword: password }), 200);
    const signedIn = await server().visitor.post("/api/auth/signin", { email: newEmail, password });
    expect(signedIn.at("user.id")).toBe(id);
    expectError(await server().visitor.post("/api/auth/signin", { email, password }), 401, "bad_credentials");
  });

  test("rejects an email that another account has, in any letter case", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const body = { email: b.email.toUpperCase(), currentPassword: a.password };
    expectError(await a.client.put("/api/users/profile", body), 409, "email_taken");
    const malformed = { email: "none", currentPassword: a.password };
    expectError(await a.client.put("/api/users/profile", malformed), 400, "invalid_field", "email");
  });

  test("a new password requires the current one, and ends all other sessions", async () => {
    const { client, email, password } = await server().signUp();
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    const newPassword = "another battery staple";
    expectClientError(await client.put("/api/users/profile", { newPassword }));
    const wrong = await client.put("/api/users/profile", { newPassword, currentPassword: "wrong password" });
    expectError(wrong, 401, "bad_credentials");
    const short = await client.put("/api/users/profile", { newPassword: "short", currentPassword: password });
    expectError(short, 400, "invalid_field", "newPassword");
    expectStatus(await client.put("/api/users/profile", { newPassword, currentPassword: password }), 200);
    expectError(await new Client(server(), other.string("token")).get("/api/auth/session"), 401, "revoked_token");
    expectStatus(await client.get("/api/auth/session"), 200);
    expectError(await server().visitor.post("/api/auth/signin", { email, password }), 401, "bad_credentials");
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: newPassword }), 200);
  });

  test.each([{ name: 7 }, { name: null }, { email: [] }, { newPassword: 123456789, currentPassword: "x" }])(
    "rejects %p",
    async (body) => {
      const { client } = await server().signUp();
      expectError(await client.put("/api/users/profile", body), 400, "invalid_field");
    },
  );

  test("role and plan can't be changed by the user", async () => {
    const { client } = await server().signUp();
    await client.put("/api/users/profile", { name: "Ada", role: "admin", plan: "pro" });
    const profile = await client.get("/api/users/profile");
    expect(profile.json).toMatchObject({ data: { role: "user", plan: "enterprise" } });
  });
});

describe("DELETE /api/users/profile", () => {
  test("erases the account with its files, links and sessions", async () => {
    const { client, email, password } = await server().signUp();
    const id = await client.storedId("content", { fields: { isPublic: "true" } });
    const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    expectStatus(await client.request("DELETE", "/api/users/profile", { json: { password } }), 200);
    expectError(await client.get("/api/auth/session"), 401);
    expectError(await new Client(server(), other.string("token")).get("/api/files"), 401);
    expectError(await server().visitor.post("/api/auth/signin", { email, password }), 401, "bad_credentials");
    expect((await server().visitor.get(`${new URL(link).pathname}/download`)).status).toBe(404);
    const again = await server().signUp({ email });
    expect(await again.client.names()).toEqual([]);
    expectError(await again.client.get(`/api/files/${id}`), 404);
  });

  test("ends an upload in progress, even if another account is created before its last bytes", async () => {
    // The next account once got the erased one's row id, and with it the unfinished upload.
    const admin = await server().addUser(["--admin"]);
    const { client, token, password } = await server().signUp();
    const { connection, rest } = await sendHalfUpload(server().port, token);
    // With this response, the server has started with the upload.
    expectStatus(await client.get("/api/auth/session"), 200);
    expectStatus(await client.delete("/api/users/profile", { password }), 200);
    await runJob(admin.client, "reap-deleted");
    const next = await server().signUp();
    await connection.write(rest);
    expectError(await connection.response(), 401, "revoked_token");
    connection.cut();
    expect(await next.client.names()).toEqual([]);
    expect((await next.client.get("/api/users/usage")).at("data")).toMatchObject({
      storage: { used: 0, files: 0 },
      transfers: { uploads: 0, uploadedBytes: 0 },
    });
  });

  test("requires the password", async () => {
    const { client } = await server().signUp();
    const wrong = await client.delete("/api/users/profile", { password: "wrong password" });
    expectError(wrong, 401, "bad_credentials");
    expectError(await client.delete("/api/users/profile", {}), 401, "password_required");
    expectError(await client.delete("/api/users/profile"), 401, "password_required");
    expectStatus(await client.get("/api/auth/session"), 200);
  });
});

describe("usage", () => {
  test("of a new account is zero, with the plan's numbers", async () => {
    const { client } = await server().signUp();
    const response = await client.get("/api/users/usage");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: {
        storage: { used: 0, quota: null, files: 0, folders: 0, versions: 0, trash: 0 },
        byType: [],
        transfers: { uploads: 0, uploadedBytes: 0, downloads: 0, downloadedBytes: 0 },
        devices: { count: 0 },
        plan: { name: "enterprise", maxFileSize: 1_073_741_824, maxNodes: 10_000_000 },
      },
    });
    expect(response.string("data.transfers.period")).not.toBe("");
  });

  test.each([
    ["free", 10_485_760, 5 * 1024 ** 3, 200_000, 3],
    ["pro", 104_857_600, 100 * 1024 ** 3, 2_000_000, 10],
  ])("shows the numbers of the plan %s", async (plan, maxFileSize, quota, maxNodes, devices) => {
    const { client } = await server().addUser(["--plan", plan]);
    const response = await client.get("/api/users/usage");
    expect(response.json).toMatchObject({
      data: {
        storage: { used: 0, quota, remaining: quota, percentage: 0 },
        devices: { count: 0, limit: devices },
        plan: { name: plan, maxFileSize, maxNodes },
      },
    });
  });

  test("counts each file with its size, even if files have the same content", async () => {
    const { client } = await server().signUp();
    const content = randomContent(1000);
    const id = await client.storedId(content, { name: "a.bin" });
    await client.stored(content, { name: "b.bin" });
    await client.post("/api/files/folders", { name: "f", path: "/" });
    await client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/f" });
    const usage = async () => (await client.get("/api/users/usage")).at("data.storage");
    expect(await usage()).toMatchObject({ used: 3000, files: 3, folders: 1, versions: 0, trash: 0 });
    await client.delete(`/api/files/${id}`);
    expect(await usage()).toMatchObject({ used: 2000, files: 2, folders: 1 });
  });

  test("counts earlier versions", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(randomContent(1000));
    expectStatus(await client.putContent(id, randomContent(500)), 200);
    const response = await client.get("/api/users/usage");
    expect(response.number("data.storage.used")).toBe(1500);
    expect(response.number("data.storage.files")).toBe(1);
    expect(response.number("data.storage.versions")).toBeGreaterThan(0);
    await client.delete(`/api/files/${id}`);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ used: 0, files: 0, versions: 0 });
  });

  test("counts transfers", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(randomContent(1234));
    await client.get(`/api/files/${id}/download`);
    const transfers = (await client.get("/api/users/usage")).at("data.transfers");
    expect(transfers).toMatchObject({ uploads: 1, uploadedBytes: 1234, downloads: 1, downloadedBytes: 1234 });
  });

  test("lists totals by type", async () => {
    const { client } = await server().signUp();
    await client.stored("plain text", { name: "a.txt" });
    await client.stored("more of it", { name: "b.txt" });
    const types = (await client.get("/api/users/usage")).list("data.byType");
    expect(types).toHaveLength(1);
    expect(types[0]).toMatchObject({ files: 2, bytes: 20 });
    expect(typeof asObject(types[0])?.["type"]).toBe("string");
  });

  test("reports used, remaining and percentage of a quota", async () => {
    await withServer({ env: { LARDER_PLANS_ENTERPRISE_QUOTA: "4000" } }, async (own) => {
      const { client } = await own.signUp();
      await client.stored(randomContent(1000));
      const storage = (await client.get("/api/users/usage")).at("data.storage");
      expect(storage).toMatchObject({ used: 1000, quota: 4000, remaining: 3000, percentage: 25 });
    });
  });
});

describe("settings", () => {
  test("have all fields from the start, with all notifications on", async () => {
    const { client } = await server().signUp();
    const response = await client.get("/api/users/settings");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: { notifications: { uploads: true, shares: true, storage: true, security: true } },
    });
    for (const key of ["language", "timezone", "theme", "defaultView"])
      expect(response.string(`data.${key}`)).not.toBe("");
    expect(response.number("data.versioning.keep")).toBe(10);
  });

  test("are merged deeply with the given ones", async () => {
    const { client } = await server().signUp();
    const before = asObject((await client.get("/api/users/settings")).at("data")) ?? {};
    const put = await client.put("/api/users/settings", {
      timezone: "Europe/Berlin",
      notifications: { shares: false },
      versioning: { keep: 3 },
    });
    expectStatus(put, 200);
    const after = asObject((await client.get("/api/users/settings")).at("data")) ?? {};
    expect(after).toMatchObject({
      timezone: "Europe/Berlin",
      language: before["language"],
      theme: before["theme"],
      notifications: { uploads: true, shares: false, storage: true, security: true },
      versioning: { keep: 3 },
    });
    expect(put.at("data")).toEqual(after);
  });

  test.each([
    { notifications: { uploads: "yes" } },
    { notifications: { quietHours: { enabled: true, start: "25:00", end: "07:00", timezone: "UTC" } } },
    { notifications: [] },
    { versioning: { keep: -1 } },
    { versioning: { keep: 1.5 } },
    { versioning: { keep: "3" } },
    { timezone: "Middle/Earth" },
    { timezone: 7 },
    { language: {} },
  ])("refuse %p and stay as they were", async (body) => {
    const { client } = await server().signUp();
    const before = (await client.get("/api/users/settings")).at("data");
    expectError(await client.put("/api/users/settings", body), 400, "invalid_field");
    expect((await client.get("/api/users/settings")).at("data")).toEqual(before);
  });

  test("belong to the user only", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    await a.client.put("/api/users/settings", { versioning: { keep: 2 } });
    expect((await b.client.get("/api/users/settings")).number("data.versioning.keep")).toBe(10);
  });
});

testAllResponses(server);
