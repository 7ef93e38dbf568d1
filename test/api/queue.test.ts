import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus, waitForNextMillisecond, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

// The mass-change guard has its own tests; here it would hold the deletions.
const server = sharedServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } });

const past = "2026-01-02T03:04:05.678Z";

/** A phone of a new account. */
async function phone() {
  const account = await server().signUp();
  const { client: device, deviceId } = await registerDevice(server(), account);
  return { account, web: account.client, device, deviceId };
}

const deleteOf = (fileId: string, more: object = {}) => ({
  id: `delete ${fileId}`,
  type: "delete",
  priority: "normal",
  createdAt: past,
  fileId,
  ...more,
});

/** An operation that is created now: files that exist already do not count. */
const uploadTo = (remotePath: string, more: object = {}) => ({
  id: `upload ${remotePath}`,
  type: "upload",
  priority: "normal",
  createdAt: new Date().toISOString(),
  localPath: `/sdcard${remotePath}`,
  remotePath,
  ...more,
});

function add(device: Client, ...operations: object[]): Promise<ApiResponse> {
  return device.post("/api/mobile/queue/add", { operations });
}

/** The statuses of added operations, by id. */
async function added(device: Client, ...operations: object[]): Promise<Record<string, string>> {
  const response = await add(device, ...operations);
  expectStatus(response, 200);
  const statuses = response.strings("data.results", "status");
  return Object.fromEntries(response.strings("data.results", "id").map((id, index) => [id, statuses[index] ?? ""]));
}

/** The statuses of all operations of the device, by id. */
async function statuses(device: Client): Promise<Record<string, string>> {
  const response = await device.get("/api/mobile/queue");
  expectStatus(response, 200);
  const found = response.strings("data.operations", "status");
  return Object.fromEntries(response.strings("data.operations", "id").map((id, index) => [id, found[index] ?? ""]));
}

function becomes(device: Client, expected: Record<string, string>): Promise<void> {
  return eventually(JSON.stringify(expected), async () => {
    const now = await statuses(device);
    return Object.entries(expected).every(([id, status]) => now[id] === status);
  });
}

describe("POST /api/mobile/queue/add", () => {
  test("executes a delete, and returns the status of each operation", async () => {
    const { web, device } = await phone();
    const id = await web.storedId("x");
    const response = await add(device, deleteOf(id, { priority: "high" }), deleteOf("file_none"));
    expectStatus(response, 200);
    expect(response.at("data.results")).toEqual([
      { id: `delete ${id}`, status: "queued" },
      { id: "delete file_none", status: "queued" },
    ]);
    await becomes(device, { [`delete ${id}`]: "completed", "delete file_none": "failed" });
    expectError(await web.get(`/api/files/${id}`), 404);

    const list = await device.get("/api/mobile/queue");
    expect(list.list("data.operations")).toEqual([
      {
        id: "delete file_none",
        type: "delete",
        priority: "normal",
        status: "failed",
        attempts: 1,
        error: {
          code: "RESOURCE_NOT_FOUND",
          message: expect.any(String),
          details: { reason: "not_found" },
        },
        createdAt: past,
        finishedAt: expect.stringMatching(timestampPattern),
      },
      {
        id: `delete ${id}`,
        type: "delete",
        priority: "high",
        status: "completed",
        attempts: 1,
        createdAt: past,
        finishedAt: expect.stringMatching(timestampPattern),
      },
    ]);
  });

  test("executes a repeated operation once, and returns its current status", async () => {
    const { web, device } = await phone();
    const operation = deleteOf(await web.storedId("x"));
    expect(await added(device, operation, operation)).toEqual({ [operation.id]: "queued" });
    await becomes(device, { [operation.id]: "completed" });
    expect(await added(device, operation)).toEqual({ [operation.id]: "completed" });
    const list = await device.get("/api/mobile/queue");
    expect(list.list("data.operations")).toHaveLength(1);
    expect(list.number("data.operations.0.attempts")).toBe(1);
  });

  test("rejects a known id with other fields, but not the other operations", async () => {
    const { web, device } = await phone();
    const [a, b] = [await web.storedId("a"), await web.storedId("b")];
    await added(device, deleteOf(a, { id: "1" }));
    const response = await add(device, deleteOf(b, { id: "1" }), deleteOf(b, { id: "2" }));
    expect(response.at("data.results.0")).toMatchObject({
      id: "1",
      status: "failed",
      error: { details: { reason: "idempotency_key", field: "id" } },
    });
    expect(response.at("data.results.1")).toEqual({ id: "2", status: "queued" });
    await becomes(device, { 1: "completed", 2: "completed" });
  });

  test("is separate for each device, with its own ids", async () => {
    const { account, web, device } = await phone();
    const { client: other } = await registerDevice(server(), account);
    const [a, b] = [await web.storedId("a"), await web.storedId("b")];
    await added(device, deleteOf(a, { id: "1" }));
    expect(await statuses(other)).toEqual({});
    expect(await added(other, deleteOf(b, { id: "1" }))).toEqual({ 1: "queued" });
    const stranger = await phone();
    const c = await web.storedId("c");
    await added(stranger.device, deleteOf(c));
    await becomes(stranger.device, { [`delete ${c}`]: "failed" });
    expectStatus(await web.get(`/api/files/${c}`), 200);
  });

  test("rejects an invalid request as a whole", async () => {
    const { device } = await phone();
    const good = deleteOf("file_none");
    const cases: [unknown, string][] = [
      [{}, "operations"],
      [{ operations: [{ ...good, id: 1 }] }, "operations.0.id"],
      [{ operations: [{ ...good, id: "" }] }, "operations.0.id"],
      [{ operations: [good, { ...good, type: "rename" }] }, "operations.1.type"],
      [{ operations: [{ ...good, priority: "urgent" }] }, "operations.0.priority"],
      [{ operations: [{ ...good, createdAt: 5 }] }, "operations.0.createdAt"],
      [{ operations: [{ ...good, createdAt: "yesterday" }] }, "operations.0.createdAt"],
      [{ operations: [{ ...good, createdAt: "" }] }, "operations.0.createdAt"],
      [{ operations: [{ ...good, fileId: undefined }] }, "operations.0.fileId"],
      [{ operations: [uploadTo("/a", { remotePath: undefined })] }, "operations.0.remotePath"],
      [{ operations: [uploadTo("/a", { localPath: undefined })] }, "operations.0.localPath"],
      [{ operations: Array.from({ length: 501 }, (_, index) => deleteOf(`${index}`)) }, "operations"],
    ];
    for (const [body, field] of cases)
      expectError(await device.post("/api/mobile/queue/add", body), 400, "invalid_field", field);
    expect(await statuses(device)).toEqual({});
  });

  test("accepts no operations and up to 500, without a priority and with unknown fields", async () => {
    const { device } = await phone();
    expect(await added(device)).toEqual({});
    const many = Array.from({ length: 500 }, (_, index) => uploadTo(`/${index}`, { priority: undefined, extra: 1 }));
    const response = await add(device, ...many);
    expect(response.list("data.results")).toHaveLength(500);
    const list = await device.get("/api/mobile/queue?status=queued&limit=1");
    expect(list.string("data.operations.0.priority")).toBe("normal");
    expect(list.at("data.pagination")).toMatchObject({ page: 1, limit: 1, total: 500, hasNext: true });
  });
});

describe("an upload operation", () => {
  test("waits, and is completed by any change that puts a file at its path", async () => {
    const { web, device } = await phone();
    const old = await web.storedId("old", { name: "updated.jpg", fields: { folder: "/p" } });
    const moved = await web.storedId("m", { name: "moved.jpg" });
    const renamed = await web.storedId("r", { name: "before.jpg", fields: { folder: "/p" } });
    const paths = ["/p/new.jpg", "/p/updated.jpg", "/p/moved.jpg", "/p/renamed.jpg", "/p/copied.jpg", "/p/never.jpg"];
    // The existing files are older than the operations.
    await waitForNextMillisecond();
    const operations = paths.map((path) => uploadTo(path, { id: path }));
    expect(await added(device, ...operations)).toEqual(Object.fromEntries(paths.map((path) => [path, "queued"])));

    await device.stored("new", { name: "new.jpg", fields: { folder: "/p" } });
    await web.putContent(old, "new content");
    expectStatus(await web.post("/api/files/move", { fileIds: [moved], destinationFolder: "/p" }), 200);
    expectStatus(await web.put(`/api/files/${renamed}`, { name: "renamed.jpg" }), 200);
    const source = await web.storedId("c", { name: "copied.jpg", fields: { folder: "/q" } });
    expectStatus(await web.post("/api/files/copy", { fileIds: [source], destinationFolder: "/p" }), 201);
    // They were completed in the same transactions, so there is nothing to wait for.
    expect(await statuses(device)).toEqual({
      ...Object.fromEntries(paths.map((path) => [path, "completed"])),
      "/p/never.jpg": "queued",
    });
  });

  test("is completed at once if a file at its path is newer than createdAt", async () => {
    const { web, device } = await phone();
    await web.stored("x", { name: "a.jpg" });
    await waitForNextMillisecond();
    const newer = uploadTo("/a.jpg", { id: "newer", createdAt: past });
    expect(await added(device, newer, uploadTo("/a.jpg", { id: "older" }))).toEqual({
      newer: "completed",
      older: "queued",
    });
  });

  test("of a phone whose clock is ahead counts as created when it was received", async () => {
    const { device } = await phone();
    const sentAt = Date.now();
    expect(await added(device, uploadTo("/a.jpg", { createdAt: "2099-01-01T00:00:00Z" }))).toEqual({
      "upload /a.jpg": "queued",
    });
    const list = await device.get("/api/mobile/queue");
    const createdAt = Date.parse(list.string("data.operations.0.createdAt"));
    expect(createdAt).toBeGreaterThanOrEqual(sentAt);
    expect(createdAt).toBeLessThanOrEqual(Date.now());
    await device.stored("x", { name: "a.jpg" });
    expect(await statuses(device)).toEqual({ "upload /a.jpg": "completed" });
  });

  test("with an invalid path is rejected separately, and its id can be used again", async () => {
    const { device } = await phone();
    const response = await add(device, uploadTo("/a/../b", { id: "1" }), uploadTo("/", { id: "2" }), uploadTo("/ok"));
    expect(response.at("data.results.0")).toMatchObject({
      status: "failed",
      error: { code: "VALIDATION_ERROR", details: { reason: "invalid_path", field: "remotePath" } },
    });
    expect(response.at("data.results.1")).toMatchObject({ status: "failed" });
    expect(await added(device, uploadTo("/b", { id: "1" }))).toEqual({ 1: "queued" });
    expect(await statuses(device)).toEqual({ 1: "queued", "upload /ok": "queued" });
  });

  test("waits for its normalized path", async () => {
    // A trailing slash was rejected, although all other routes accept it.
    const { device } = await phone();
    await added(device, uploadTo("/p/cafe\u0301.jpg/", { id: "1" }));
    await device.stored("x", { name: "caf\u00e9.jpg", fields: { folder: "/p/" } });
    expect(await statuses(device)).toEqual({ 1: "completed" });
  });

  test("does not delay other operations", async () => {
    const { web, device } = await phone();
    const id = await web.storedId("x");
    await added(device, uploadTo("/a", { priority: "high" }), deleteOf(id, { priority: "low" }));
    await becomes(device, { [`delete ${id}`]: "completed", "upload /a": "queued" });
  });
});

describe("GET /api/mobile/queue", () => {
  test("lists operations by priority, then by createdAt, filtered by status and in pages", async () => {
    const { device } = await phone();
    await added(
      device,
      uploadTo("/4", { id: "4", priority: "low" }),
      uploadTo("/3", { id: "3", createdAt: "2026-01-02T00:00:00Z" }),
      uploadTo("/2", { id: "2", createdAt: "2026-01-02T01:00:00+02:00" }),
      uploadTo("/1", { id: "1", priority: "high" }),
      deleteOf("file_none", { id: "gone" }),
    );
    await becomes(device, { gone: "failed" });
    const ids = async (query: string) =>
      (await device.get(`/api/mobile/queue?${query}`)).strings("data.operations", "id");
    expect(await ids("")).toEqual(["1", "2", "3", "4", "gone"]);
    expect(await ids("status=queued")).toEqual(["1", "2", "3", "4"]);
    expect(await ids("status=failed")).toEqual(["gone"]);
    expect(await ids("status=running")).toEqual([]);
    expect(await ids("status=completed")).toEqual([]);
    expect(await ids("limit=2&page=2")).toEqual(["3", "4"]);
    expect(await ids("page=999999999999&limit=500")).toEqual([]);
    const page = await device.get("/api/mobile/queue?limit=2&page=3");
    expect(page.at("data.pagination")).toEqual({
      page: 3,
      limit: 2,
      total: 5,
      totalPages: 3,
      hasNext: false,
      hasPrev: true,
    });
    for (const query of ["status=done", "limit=0", "limit=501", "page=0"])
      expectError(await device.get(`/api/mobile/queue?${query}`), 400, "invalid_field");
  });
});

test("the queue of a removed device is dropped, and is empty when it registers again", async () => {
  const { account, web, device, deviceId } = await phone();
  const { client: other } = await registerDevice(server(), account);
  await added(device, uploadTo("/a"));
  expectStatus(await other.delete(`/api/mobile/devices/${deviceId}`), 200);
  const { client: again } = await registerDevice(server(), account, deviceId);
  await web.stored("x", { name: "a" });
  expect(await statuses(again)).toEqual({});
});

test("held deletions stay queued until they are accepted", async () => {
  await withServer({ env: { LARDER_MASS_CHANGE_FILES: "5", LARDER_MASS_CHANGE_PERCENT: "25" } }, async (own) => {
    const account = await own.signUp();
    const { client: device } = await registerDevice(own, account);
    const ids: string[] = [];
    for (let index = 0; index < 20; index++) ids.push(await account.client.storedId("x", { name: `${index}` }));
    await added(device, ...ids.slice(0, 12).map((id) => deleteOf(id)));
    const countOf = async (status: string) =>
      (await device.get(`/api/mobile/queue?status=${status}`)).number("data.pagination.total");
    const reasons = async () => {
      const list = await device.get("/api/mobile/queue?status=queued");
      return list.list("data.operations").map((_, index) => list.at(`data.operations.${index}.error.details.reason`));
    };
    // The guard considers all queued deletions together: the first five used to be executed, and were lost.
    await eventually("all deletions are held", async () => (await reasons()).every(Boolean));
    expect(await reasons()).toEqual(Array.from({ length: 12 }, () => "confirmation_required"));
    expect(await countOf("completed")).toBe(0);
    // Uploads continue.
    await added(device, uploadTo("/new"));
    await device.stored("new", { name: "new" });
    expect(await countOf("completed")).toBe(1);

    const hold = (await account.client.get("/api/users/holds")).string("data.holds.0.holdId");
    expectStatus(await account.client.post(`/api/users/holds/${hold}`, { accept: true }), 200);
    await eventually("all operations are completed", async () => (await countOf("completed")) === 13);
    expect(await account.client.names()).toHaveLength(9);
  });
});

test("viewers and clients that are no device are rejected", async () => {
  const { web } = await phone();
  for (const client of [web, server().visitor]) {
    expectError(await add(client, deleteOf("file_none")), 401);
    expectError(await client.get("/api/mobile/queue"), 401);
  }
  const viewer = await server().addUser(["--role", "viewer"]);
  const { client: device } = await registerDevice(server(), viewer);
  expectError(await add(device, deleteOf("file_none")), 403, "role");
  expect(await statuses(device)).toEqual({});
});

testAllResponses(server);
