import { describe, expect, test } from "bun:test";
import { type ApiResponse, checksumOf, type Client } from "../support/client.ts";
import { tryLock } from "../support/dav-locks.ts";
import { expectError, expectStatus, waitForNextMillisecond } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { file, form, formType } from "../support/multipart.ts";
import { shareWith } from "../support/account-shares.ts";
import { appendTus, tryCreateTus, headTus, createTus } from "../support/tus.ts";
import { completeUpload, readPlan, putBytes, tryInit } from "../support/uploads.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const MAX_NODES = 40;
const server = sharedServer({ env: { LARDER_PLANS_FREE_MAX_NODES: String(MAX_NODES), LARDER_RATE_LIMITS: "off" } });

const nested = (levels: number, name = "d") => `/${name}`.repeat(levels);
/** Makes nested folders with a file in the last one, and returns the id of the first folder. */
async function createChain(client: Client, levels: number, name = "d"): Promise<string> {
  expectStatus(await client.upload("x", { fields: { folder: nested(levels, name) } }), 201);
  const top = await client.get("/api/files?type=folder");
  return (
    top.list("data.files").flatMap((entry) => {
      const { id, name: own } = entry as { id: string; name: string };
      return own === name ? [id] : [];
    })[0] ?? ""
  );
}

describe("folders can be nested 256 levels deep", () => {
  test("by every way to create one", async () => {
    const { client } = await server().signUp();
    const deep = await createChain(client, 256);
    const other = await createChain(client, 100, "e");
    const tooDeep = nested(257, "f");
    const id = await client.storedId("x", { name: "a" });
    for (const response of [
      await client.upload("x", { fields: { folder: tooDeep } }),
      await client.post("/api/files/folders", { name: "x", path: nested(256) }),
      await client.post("/api/files/folders", { name: "x", path: nested(256, "f") }),
      await client.put(`/api/files/${id}`, { folder: tooDeep }),
      await client.post("/api/files/move", { fileIds: [id], destinationFolder: tooDeep }),
      await client.post("/api/files/copy", { fileIds: [id], destinationFolder: tooDeep }),
      await client.post("/api/files/move", { fileIds: [deep], destinationFolder: "/e" }),
      await client.post("/api/files/copy", { fileIds: [deep], destinationFolder: "/e" }),
      await client.put(`/api/files/folders/${deep}`, { path: "/e" }),
    ]) {
      expectError(response, 400, "path_too_long");
    }
    expect(await client.names()).toEqual(["d", "e", "a"]);
    expectStatus(await client.post("/api/files/move", { fileIds: [other], destinationFolder: nested(156) }), 200);
    expectStatus(await client.upload("x", { name: "b", fields: { folder: nested(256) } }), 201);
  });

  test("and not deeper by concurrent moves", async () => {
    const { client } = await server().signUp();
    const ids = await Promise.all(["a", "b", "c"].map((name) => createChain(client, 120, name)));
    const move = (id: string | undefined, destinationFolder: string) =>
      client.post("/api/files/move", { fileIds: [id], destinationFolder });
    await Promise.all([move(ids[0], nested(110, "b")), move(ids[1], nested(110, "c")), move(ids[2], nested(110, "a"))]);
    // Each move alone is allowed; two of them combined make 340 levels.
    const all: string[] = [];
    for (let page = 1; all.length === (page - 1) * 100; page++) {
      const response = await client.get(`/api/files?recursive=true&type=folder&limit=100&page=${page}`);
      all.push(...response.strings("data.files", "path"));
    }
    expect(Math.max(...all.map((path) => path.split("/").length - 1))).toBeLessThanOrEqual(256);
  });

  test("and no move makes a path longer than 4,096 bytes", async () => {
    const { client } = await server().signUp();
    const id = await createChain(client, 20, "x".repeat(200));
    const response = await client.put(`/api/files/folders/${id}`, { name: "y".repeat(255) });
    expectStatus(response, 200);
    expectError(await client.put(`/api/files/folders/${id}`, { path: `/${"z".repeat(40)}` }), 400, "path_too_long");
  });

  test("and not deeper by trash and restore", async () => {
    const { client } = await server().signUp();
    const deep = await createChain(client, 200);
    const inner =
      (await client.get(`/api/files?type=folder&folder=${nested(99)}`)).strings("data.files", "id")[0] ?? "";
    expectStatus(await client.post("/api/files/trash", { fileIds: [inner] }), 200);
    expectStatus(await client.post("/api/files/move", { fileIds: [deep], destinationFolder: nested(100, "g") }), 200);
    expectError(await client.post("/api/files/trash/restore", { fileIds: [inner] }), 400, "path_too_long");
  });
});

describe("files and folders count against the plan's limit", () => {
  const createFullAccount = async () => {
    const own = await server().addUser(["--plan", "free"]);
    const folder = await own.client.folderId("box");
    for (let i = 0; i < MAX_NODES - 2; i++)
      expectStatus(await own.client.upload(`${i}`, { name: `${i}`, fields: { folder: "/box" } }), 201);
    const last = await own.client.storedId("last", { name: "last" });
    return { ...own, folder, last };
  };

  test("one more than allowed is 413, by every way to create one", async () => {
    const { client, folder, last } = await createFullAccount();
    const refused = [
      await client.upload("x"),
      await client.post("/api/files/folders", { name: "x" }),
      await client.put(`/api/files/${last}`, { folder: "/made/for/it" }),
      await client.post("/api/files/copy", { fileIds: [last], destinationFolder: "/" }),
      await client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/" }),
    ];
    for (const response of refused) {
      expectError(response, 413, "quota_exceeded");
      expect(response.json).toMatchObject({ error: { details: { limit: MAX_NODES, of: "nodes", plan: "free" } } });
    }
    expect((await client.get("/api/users/usage")).at("data.plan.maxNodes")).toBe(MAX_NODES);
    expect((await client.get("/api/users/usage")).json).toMatchObject({ data: { storage: { files: 39, folders: 1 } } });
    // Existing files can still be read, changed, moved and deleted.
    expectStatus(await client.putContent(last, "another content"), 200);
    expectStatus(await client.post("/api/files/move", { fileIds: [last], destinationFolder: "/box" }), 200);
    expectStatus(await client.post("/api/files/trash", { fileIds: [last] }), 200);
    expectError(await client.upload("x"), 413, "quota_exceeded");
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [last] }), 200);
    expectStatus(await client.delete(`/api/files/${last}`), 200);
    expectStatus(await client.upload("x"), 201);
  });

  test("one more than allowed is 507 for WebDAV, and nothing is left", async () => {
    const account = await server().addUser(["--plan", "free"]);
    const dav = await connectDav(account);
    expectStatus(await dav.mkcol("box"), 201);
    for (let i = 1; i < MAX_NODES; i++) expectStatus(await dav.put(`box/${i}`, String(i)), 201);
    const before = (await account.client.get("/api/users/usage")).at("data.storage");
    const rejected = [
      await dav.put("new", "x"),
      await dav.mkcol("new"),
      await tryLock(dav, "new"),
      await dav.relocate("COPY", "box", "new"),
      await dav.relocate("COPY", "box/1", "new"),
    ];
    for (const response of rejected) {
      expectStatus(response, 507);
      expect(response.text).toContain(`at most ${MAX_NODES} files and folders`);
    }
    expect((await account.client.get("/api/users/usage")).at("data.storage")).toEqual(before);
    expectStatus(await dav.put("box/1", "next"), 204);
    expectStatus(await dav.relocate("MOVE", "box/1", "new"), 201);
  });

  test("a restore is rejected before it begins, instead of failing midway", async () => {
    const own = await server().addUser(["--plan", "free"]);
    const { client } = own;
    const laptop = await registerDevice(server(), own);
    const ids: string[] = [];
    for (let i = 0; i < MAX_NODES / 2; i++) ids.push(await client.storedId(`${i}`, { name: `${i}` }));
    await waitForNextMillisecond();
    const last = (await client.get(`/api/files/${ids.at(-1)}`)).string("data.modifiedAt");
    await waitForNextMillisecond();
    const [renamed = "", ...others] = ids;
    expectStatus(await client.put(`/api/files/${renamed}`, { name: "a new name" }), 200);
    for (const id of others) expectStatus(await laptop.client.delete(`/api/files/${id}`), 200);
    for (let i = 0; i < MAX_NODES - 5; i++) expectStatus(await client.upload("x", { name: `new ${i}` }), 201);
    const before = await client.names();
    const refused = await client.post("/api/files/restore", { folder: "/", at: last });
    expectError(refused, 413, "quota_exceeded");
    expect(refused.at("error.details")).toMatchObject({ limit: MAX_NODES, of: "nodes" });
    expect(await client.names()).toEqual(before);
  });

  test("concurrent copies don't exceed it together", async () => {
    const { client } = await server().addUser(["--plan", "free"]);
    for (let i = 0; i < 9; i++)
      expectStatus(await client.upload("x", { name: `${i}`, fields: { folder: "/box" } }), 201);
    const [box = ""] = (await client.get("/api/files")).strings("data.files", "id");
    const copies = Array.from({ length: 6 }, () =>
      client.post("/api/files/copy", { fileIds: [box], destinationFolder: "/" }),
    );
    const statuses = (await Promise.all(copies)).map(({ status }) => status);
    // 10 of 40 each; after three, only 9 nodes are left.
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 413, 413, 413]);
  });

  test("phones and resumable uploads follow it, and the depth limit", async () => {
    const own = await createFullAccount();
    const device = await registerDevice(server(), own);
    const sent = async (fields: Record<string, unknown>) => {
      const begun = await tryInit(device.client, { name: "new", size: 1, ...fields });
      if (begun.status !== 200) return begun;
      const { path, uploadId } = readPlan(begun);
      const put = await putBytes(device.client, path, "x");
      return put.status < 400 ? completeUpload(device.client, uploadId) : put;
    };
    const resumed = (metadata: Record<string, string>) =>
      tryCreateTus(own.client, { "upload-length": "1" }, metadata, { bytes: "x" });
    const reasonOf = async (change: object) => {
      const response = await device.client.post("/api/mobile/sync/files", { localChanges: [change] });
      return (response.list("data.results")[0] as { error?: { details: { reason: string } } }).error?.details.reason;
    };
    const move = { action: "move", localId: "1", fileId: own.last, folder: "/new/folders" };
    expectError(await sent({}), 413, "quota_exceeded");
    expectError(await resumed({ filename: "new" }), 413, "quota_exceeded");
    expect(await reasonOf(move)).toBe("quota_exceeded");
    expectStatus(await own.client.delete(`/api/files/folders/${own.folder}?recursive=true`), 200);
    expectError(await sent({ folder: nested(257) }), 400, "path_too_long");
    expectError(await resumed({ filename: "new", folder: nested(257) }), 400, "path_too_long");
    expect(await reasonOf({ ...move, folder: nested(257) })).toBe("path_too_long");
    expect(await own.client.names()).toEqual(["last"]);
  });

  test("uploads of others into the owner's folders count for the owner", async () => {
    const { client, folder } = await createFullAccount();
    const guest = await server().addUser(["--plan", "free"]);
    const share = await shareWith(client, folder, guest, { permissions: "write" });
    const response = await guest.client.upload("x", { fields: { folder: "/", share } });
    expectError(response, 413, "quota_exceeded");
    expect(response.at("error.details.of")).toBe("nodes");
    const box = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
    const dropped = await server().visitor.request("POST", `/api/public/${box.string("data.token")}/upload`, {
      headers: { "content-type": formType },
      body: form([file("a", "x")]),
    });
    expectError(dropped, 413, "quota_exceeded");
    // The response names the exceeded limit, but not how much the owner stores.
    expect(dropped.at("error.details")).toEqual({
      reason: "quota_exceeded",
      limit: MAX_NODES,
      of: "nodes",
      plan: "free",
    });
    expect(dropped.string("error.message")).not.toMatch(/\d|smaller/);
  });
});

describe("an account at its limit is rejected before the bytes are sent", () => {
  const large = 5_000_000;
  const expectNodesExceeded = (response: ApiResponse) => {
    expectError(response, 413, "quota_exceeded");
    expect(response.at("error.details")).toMatchObject({ limit: MAX_NODES, of: "nodes", plan: "free" });
  };
  const fill = async (client: Client, left: number) => {
    const missing = MAX_NODES - left - (await client.names("/", "&recursive=true")).length;
    for (let i = 0; i < missing; i++) await client.storedId("x", { name: `filler ${i}` });
  };

  test("when a phone starts an upload, and again when it completes one", async () => {
    const own = await server().addUser(["--plan", "free"]);
    const { client } = await registerDevice(server(), own);
    const there = await own.client.storedId("there", { name: "there" });
    await fill(own.client, 2);
    const entry = (name: string, fields: object = {}) => ({ localId: name, name, size: large, ...fields });
    // There is room for two of the three; the third is not planned.
    const files = [entry("a", { size: 1 }), entry("b"), entry("c")];
    const begun = await client.post("/api/mobile/upload/init", { files, uploadOptions: { chunkSize: large } });
    expectStatus(begun, 200);
    expect(begun.at("data.files.2.error.details")).toMatchObject({ reason: "quota_exceeded", of: "nodes" });
    const plan = readPlan(begun);
    await fill(own.client, 0);
    expectNodesExceeded(await tryInit(client, entry("new")));
    // Uploads that create no new file are allowed.
    expectStatus(await tryInit(client, entry("there", { onConflict: "version" })), 200);
    expectStatus(await tryInit(client, entry("there", { fileId: there })), 200);
    const same = { name: "there", size: 5, checksum: checksumOf("there") };
    expectStatus(await tryInit(client, same), 200);
    expectStatus(await putBytes(client, plan.path, "x"), 200);
    expectNodesExceeded(await completeUpload(client, plan.uploadId));
    expectStatus(await own.client.delete(`/api/files/${there}`), 200);
    expectStatus(await completeUpload(client, plan.uploadId), 200);
  });

  test("when a resumable upload starts, and again when its last bytes arrive", async () => {
    const { client } = await server().addUser(["--plan", "free"]);
    const there = await client.storedId("there", { name: "there" });
    await fill(client, 1);
    const before = await createTus(client, 2, { filename: "new" });
    expectStatus(await appendTus(client, before, 0, "x"), 204);
    const parts = [await createTus(client, 1, {}, { headers: { "upload-concat": "partial" } })];
    expectStatus(await appendTus(client, parts[0] ?? "", 0, "x"), 204);
    await fill(client, 0);
    const begin = (metadata: Record<string, string>) =>
      tryCreateTus(client, { "upload-length": String(large) }, metadata);
    expectNodesExceeded(await begin({ filename: "other" }));
    const final = { "upload-concat": `final;${parts.join(" ")}` };
    expectNodesExceeded(await tryCreateTus(client, final, { filename: "joined" }));
    // Uploads that create no new file are allowed.
    expectStatus(await begin({ filename: "there", onConflict: "version" }), 201);
    expectStatus(await tryCreateTus(client, final, { filename: "there", onConflict: "version" }), 201);
    expectNodesExceeded(await appendTus(client, before, 1, "y"));
    expectStatus(await client.delete(`/api/files/${there}`), 200);
    expectStatus(await headTus(client, before), 200);
    expect(await client.names()).toContain("new");
  });

  test("when a guest starts an upload into a drop box, without revealing how much the owner stores", async () => {
    const { client } = await server().addUser(["--plan", "free"]);
    const folder = await client.folderId("box");
    const box = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
    const home = `/api/public/${box.string("data.token")}/tus`;
    const guest = server().visitor;
    await fill(client, 1);
    const before = await createTus(guest, 2, { filename: "new" }, { home });
    await fill(client, 0);
    for (const response of [
      await tryCreateTus(guest, { "upload-length": String(large) }, { filename: "other" }, { home }),
      await tryCreateTus(guest, { "upload-length": "9" }, { filename: "new", onConflict: "version" }, { home }),
      await appendTus(guest, before, 0, "xy"),
    ]) {
      expectNodesExceeded(response);
      expect(Object.keys(response.at("error.details") as object).toSorted()).toEqual(["limit", "of", "plan", "reason"]);
      expect(response.string("error.message")).not.toMatch(/\d|smaller/);
    }
  });

  test("when a guest starts an upload in a shared folder, without revealing how much the owner stores", async () => {
    const own = await server().addUser(["--plan", "free"]);
    const guest = await server().addUser(["--plan", "enterprise"]);
    const folder = await own.client.folderId("shared");
    const share = await shareWith(own.client, folder, guest, { permissions: "write" });
    expect((await server().larder(["user", "set", own.email, "--quota", "1KB"])).code).toBe(0);
    const begin = (length: number) =>
      tryCreateTus(guest.client, { "upload-length": String(length) }, { filename: "x", share });
    const tooLarge = await begin(large);
    expectError(tooLarge, 413, "quota_exceeded");
    expect(tooLarge.at("error.details")).toEqual({ reason: "quota_exceeded", limit: 1024, plan: "free" });
    expect(tooLarge.string("error.message")).not.toMatch(/\d/);
    await fill(own.client, 0);
    const refused = await begin(1);
    expectNodesExceeded(refused);
    expect(Object.keys(refused.at("error.details") as object).toSorted()).toEqual(["limit", "of", "plan", "reason"]);
    expect(refused.string("error.message")).not.toMatch(/\d/);
  });
});

testAllResponses(server, { mayFail: [507] });
