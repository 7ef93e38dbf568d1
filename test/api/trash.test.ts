import { describe, expect, test } from "bun:test";
import type { Account, ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { runLarder, sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function moveToTrash(client: Client, ...fileIds: string[]): Promise<ApiResponse> {
  return client.post("/api/files/trash", { fileIds });
}

async function restore(client: Client, ...fileIds: string[]): Promise<ApiResponse> {
  return client.post("/api/files/trash/restore", { fileIds });
}

async function listTrash(client: Client): Promise<string[]> {
  const response = await client.get("/api/files/trash?limit=100");
  expectStatus(response, 200);
  return response.strings("data.files", "name");
}

async function readStorage(client: Client) {
  return (await client.get("/api/users/usage")).at("data.storage");
}

async function makeViewer(account: Account): Promise<void> {
  const result = await runLarder(["user", "set", account.email, "--role", "viewer", "--data", server().dataDir]);
  if (result.code !== 0) throw new Error(result.stderr);
}

describe("POST /api/files/trash", () => {
  test("removes a file from everything but usage", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello", {
      name: "note.txt",
      fields: { folder: "/docs", tags: "red", isPublic: "true" },
    });
    const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
    const response = await moveToTrash(client, id);
    expectStatus(response, 200);
    expect(response.at("data.failed")).toEqual([]);
    expect(response.at("data.trashed.0")).toMatchObject({
      id,
      name: "note.txt",
      type: "file",
      originalFolder: "/docs",
      trashedAt: expect.stringMatching(timestampPattern),
      deletedAt: response.string("data.trashed.0.trashedAt"),
      expiresAt: expect.stringMatching(timestampPattern),
    });
    const retainedMs =
      Date.parse(response.string("data.trashed.0.expiresAt")) - Date.parse(response.string("data.trashed.0.trashedAt"));
    expect(retainedMs).toBe(30 * 24 * 60 * 60 * 1000);

    expect(await client.names("/docs")).toEqual([]);
    expect(await client.names("/", "&search=note")).toEqual([]);
    expect(await client.names("/", "&tags=red")).toEqual([]);
    expect((await client.get("/api/files/tags")).at("data.tags")).toEqual([]);
    for (const path of ["", "/download", "/download?thumbnail=true", "/checksum"]) {
      expectError(await client.get(`/api/files/${id}${path}`), 404, "not_found");
    }
    expectError(await client.put(`/api/files/${id}`, { name: "x" }), 404, "not_found");
    expectError(await client.delete(`/api/files/${id}`), 404, "not_found");
    const token = link.slice(link.lastIndexOf("/") + 1);
    expectError(await server().visitor.get(`/api/public/${token}`), 404, "not_found");
    expectError(await server().visitor.get(`/api/public/${token}/download`), 404, "not_found");
    expect(await readStorage(client)).toMatchObject({ used: 5, files: 0, folders: 1, trash: 5 });
    expect((await client.get("/api/users/usage")).at("data.byType")).toEqual([]);
    expect(await listTrash(client)).toEqual(["note.txt"]);
  });

  test("moves a folder as one item, which can be restored whole", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("album");
    const id = await client.storedId("deep", { name: "c.txt", fields: { folder: "/album/x/y" } });
    const other = await client.storedId("top", { name: "t.txt" });
    const before = await readStorage(client);
    expectStatus(await moveToTrash(client, folder), 200);
    expect(await listTrash(client)).toEqual(["album"]);
    expect(await client.names()).toEqual(["t.txt"]);
    expectError(await client.get(`/api/files/${id}`), 404, "not_found");
    expectError(await client.get(`/api/files/folders/${folder}`), 404, "not_found");
    expectError(await client.get(`/api/files/folders/${folder}/archive`), 404, "not_found");
    // Its name is free while it is in the trash; the restored folder gets another one.
    await client.folderId("album");
    const back = await restore(client, folder);
    expectStatus(back, 200);
    expect(back.at("data.restored.0")).toMatchObject({ id: folder, name: "album (1)", type: "folder", itemCount: 1 });
    expect((await client.get(`/api/files/${id}`)).string("data.folder")).toBe("/album (1)/x/y");
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("deep");
    expect((await client.get(`/api/files/${other}/download`)).text).toBe("top");
    expect(await readStorage(client)).toMatchObject({ ...(before as object), folders: 4 });
  });

  test("fails per item, and as a whole if all items fail", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "x.txt" });
    const response = await moveToTrash(client, "file_nothing", id);
    expectStatus(response, 200);
    expect(response.strings("data.trashed", "id")).toEqual([id]);
    expect(response.at("data.failed.0")).toMatchObject({
      id: "file_nothing",
      error: { code: "RESOURCE_NOT_FOUND", details: { reason: "not_found" } },
    });
    expectError(await moveToTrash(client, id), 404, "not_found");
    expectError(await moveToTrash(client), 400, "invalid_field", "fileIds");
    expectError(await client.post("/api/files/trash", { fileIds: "x" }), 400, "invalid_field", "fileIds");
    const many = Array.from({ length: 1_001 }, (_, index) => `file_${index}`);
    expectError(await moveToTrash(client, ...many), 400, "invalid_field", "fileIds");
  });

  test("moves a folder of 5,000 files as one row, which can be restored", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("many");
    const first = await client.storedId("same", { name: "0.txt", fields: { folder: "/many" } });
    // Each round copies all copies so far.
    await client.folderId("0", "/many");
    let copied = 1;
    let ids = [first];
    while (copied < 5_000) {
      const response = await client.post("/api/files/copy", { fileIds: ids, destinationFolder: "/many" });
      expectStatus(response, 201);
      copied += ids.length;
      ids = [...ids, ...response.strings("data.copied", "id")].slice(0, Math.min(1_000, 5_000 - copied));
    }
    const before = await readStorage(client);
    expectStatus(await moveToTrash(client, folder), 200);
    expect(await readStorage(client)).toMatchObject({ files: 0, folders: 0, trash: 4 * 5_000 });
    expect((await client.get("/api/files/trash")).number("data.pagination.total")).toBe(1);
    expectStatus(await restore(client, folder), 200);
    expect(await readStorage(client)).toEqual(before);
    expect((await client.get("/api/files?folder=/many")).number("data.pagination.total")).toBe(5_001);
  });
});

describe("POST /api/files/trash/restore", () => {
  test("restores id, link, tags and versions", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("one", { name: "v.txt", fields: { tags: "a,b", isPublic: "true" } });
    expectStatus(await client.putContent(id, "two"), 200);
    const before = await client.get(`/api/files/${id}`);
    expectStatus(await moveToTrash(client, id), 200);
    expect(await readStorage(client)).toMatchObject({ used: 6, versions: 0, trash: 6 });
    const back = await restore(client, id);
    expectStatus(back, 200);
    expect(back.at("data")).toMatchObject({ restored: [{ id, name: "v.txt", folder: "/" }], failed: [] });
    const after = await client.get(`/api/files/${id}`);
    expect(after.at("data")).toMatchObject({ ...(before.at("data") as object), modifiedAt: expect.any(String) });
    expect(await readStorage(client)).toMatchObject({ used: 6, versions: 3, trash: 0 });
    expect((await server().visitor.get(`${new URL(before.string("data.shareLink")).pathname}/download`)).text).toBe(
      "two",
    );
    expectError(await restore(client, id), 404, "not_found");
  });

  test("restores to the nearest existing folder, or to one restored in the same call", async () => {
    const { client } = await server().signUp();
    const inner = await client.storedId("i", { name: "i.txt", fields: { folder: "/a/b" } });
    const both = await client.storedId("j", { name: "j.txt", fields: { folder: "/c" } });
    const listed = await client.get("/api/files?folder=/");
    const folders = new Map(
      listed
        .strings("data.files", "name")
        .map((name, index) => [name, listed.strings("data.files", "id")[index] ?? ""]),
    );
    expectStatus(await moveToTrash(client, inner), 200);
    expectStatus(await client.delete(`/api/files/folders/${folders.get("a")}?recursive=true`), 200);
    expectStatus(await moveToTrash(client, both), 200);
    expectStatus(await moveToTrash(client, folders.get("c") ?? ""), 200);
    const response = await restore(client, inner, both, folders.get("c") ?? "");
    expect(response.list("data.restored").map((item) => (item as { folder: string }).folder)).toEqual(["/", "/c", "/"]);
  });
});

describe("GET and DELETE /api/files/trash", () => {
  test("lists the newest first, in pages", async () => {
    const { client } = await server().signUp();
    for (const name of ["1", "2", "3"])
      expectStatus(await moveToTrash(client, await client.storedId(name, { name })), 200);
    expect(await listTrash(client)).toEqual(["3", "2", "1"]);
    const page = await client.get("/api/files/trash?page=2&limit=2");
    expect(page.strings("data.files", "name")).toEqual(["1"]);
    expect(page.at("data.pagination")).toEqual({
      page: 2,
      limit: 2,
      total: 3,
      totalPages: 2,
      hasNext: false,
      hasPrev: true,
    });
    expectError(await client.get("/api/files/trash?limit=101"), 400, "invalid_field", "limit");
    expectError(await client.get("/api/files/trash?page=0"), 400, "invalid_field", "page");
  });

  test("sorts by time, name and size, with folders first by name and size, over pages", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (const [name, sizeBytes] of [
      ["Note 10", 3],
      ["note 9", 5],
      ["b", 4],
      ["Ä", 5],
    ] as const)
      ids.push(await client.storedId("x".repeat(sizeBytes), { name }));
    ids.push(await client.folderId("z 10"), await client.folderId("z 2"));
    for (const id of ids) expectStatus(await moveToTrash(client, id), 200);
    const byTime = ["Note 10", "note 9", "b", "Ä", "z 10", "z 2"];
    const orders: [query: string, names: string[]][] = [
      ["sort=deletedAt", byTime.toReversed()],
      ["order=desc", byTime.toReversed()],
      ["order=asc", byTime],
      ["sort=natural", ["z 2", "z 10", "Ä", "b", "note 9", "Note 10"]],
      ["sort=natural&order=desc", ["z 10", "z 2", "Note 10", "note 9", "b", "Ä"]],
      ["sort=name", ["z 10", "z 2", "b", "Note 10", "note 9", "Ä"]],
      ["sort=size", ["z 10", "z 2", "Note 10", "b", "note 9", "Ä"]],
      ["sort=size&order=desc", ["z 2", "z 10", "Ä", "note 9", "b", "Note 10"]],
    ];
    for (const [query, names] of orders) {
      const pages = [];
      for (const page of [1, 2]) pages.push(await client.get(`/api/files/trash?${query}&limit=4&page=${page}`));
      expect([query, ...pages.flatMap((page) => page.strings("data.files", "name"))]).toEqual([query, ...names]);
    }
    expectError(await client.get("/api/files/trash?sort=trashedAt"), 400, "invalid_field", "sort");
    expectError(await client.get("/api/files/trash?order=up"), 400, "invalid_field", "order");
  });

  test("empties the trash, and frees its space", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("f");
    await client.stored("below", { name: "below.txt", fields: { folder: "/f" } });
    const outside = await client.storedId("kept", { name: "kept.txt" });
    const one = await client.storedId("one!", { name: "one.txt" });
    expectStatus(await moveToTrash(client, folder, one), 200);
    const gone = await client.delete(`/api/files/trash/${one}`);
    expectStatus(gone, 200);
    expect(gone.at("data")).toMatchObject({
      id: one,
      name: "one.txt",
      deletedAt: expect.stringMatching(timestampPattern),
    });
    expectError(await client.delete(`/api/files/trash/${one}`), 404, "not_found");
    expectError(await client.delete(`/api/files/trash/${outside}`), 404, "not_found");
    const emptied = await client.delete("/api/files/trash");
    expectStatus(emptied, 200);
    expect(emptied.at("data")).toEqual({ deleted: 1 });
    expect(await listTrash(client)).toEqual([]);
    expect(await readStorage(client)).toMatchObject({ used: 4, files: 1, folders: 0, trash: 0 });
    expect((await client.delete("/api/files/trash")).at("data")).toEqual({ deleted: 0 });
    expectError(await restore(client, folder), 404, "not_found");
  });

  test("are limited to the owner's trash; viewers can only list", async () => {
    const owner = await server().signUp();
    const other = await server().signUp();
    const id = await owner.client.storedId("x", { name: "x.txt" });
    expectError(await moveToTrash(other.client, id), 404, "not_found");
    expectStatus(await moveToTrash(owner.client, id), 200);
    expect(await listTrash(other.client)).toEqual([]);
    expectError(await restore(other.client, id), 404, "not_found");
    expectError(await other.client.delete(`/api/files/trash/${id}`), 404, "not_found");
    expect((await other.client.delete("/api/files/trash")).at("data")).toEqual({ deleted: 0 });
    await makeViewer(owner);
    expect(await listTrash(owner.client)).toEqual(["x.txt"]);
    expectError(await moveToTrash(owner.client, id), 403, "role");
    expectError(await restore(owner.client, id), 403, "role");
    expectError(await owner.client.delete("/api/files/trash"), 403, "role");
    expectError(await owner.client.delete(`/api/files/trash/${id}`), 403, "role");
    expectError(await server().visitor.get("/api/files/trash"), 401, "missing_token");
  });
});

describe("a folder shared between accounts", () => {
  test("an item deleted by a recipient is in the owner's trash, and no longer shared", async () => {
    const owner = await server().signUp();
    const guest = await server().signUp();
    const folder = await owner.client.folderId("shared");
    const id = await owner.client.storedId("mine", { name: "x.txt", fields: { folder: "/shared" } });
    const other = await owner.client.storedId("kept", { name: "k.txt", fields: { folder: "/shared" } });
    const share = { user: guest.email, permissions: "write" };
    expectStatus(await owner.client.post(`/api/files/folders/${folder}/shares`, share), 201);
    // The shared folder itself can be deleted by its owner only.
    expectError(await moveToTrash(guest.client, folder), 403, "share_permission");
    expectStatus(await moveToTrash(guest.client, id), 200);
    expect(await listTrash(owner.client)).toEqual(["x.txt"]);
    expect(await listTrash(guest.client)).toEqual([]);
    expectError(await restore(guest.client, id), 404, "not_found");
    expectStatus(await guest.client.get(`/api/files/folders/${folder}/archive`), 200);
    expectStatus(await moveToTrash(owner.client, folder), 200);
    for (const path of [
      `/api/files/${other}`,
      `/api/files/${other}/download`,
      `/api/files/folders/${folder}/archive`,
    ]) {
      expectError(await guest.client.get(path), 404, "not_found");
    }
    expectStatus(await restore(owner.client, folder, id), 200);
    expectStatus(await guest.client.get(`/api/files/${id}`), 200);
  });
});

describe("a phone", () => {
  test("syncs each deletion and each restore once", async () => {
    const account = await server().signUp();
    const { client } = account;
    const phone = await registerDevice(server(), account, "phone");
    const folder = await client.folderId("f");
    const id = await client.storedId("x", { name: "x.txt", fields: { folder: "/f" } });
    const start = await phone.client.get("/api/mobile/sync");
    const next = async (token: string) => phone.client.get(`/api/mobile/sync?syncToken=${encodeURIComponent(token)}`);
    expectStatus(await moveToTrash(client, folder), 200);
    const gone = await next(start.string("syncData.nextSyncToken"));
    expectStatus(gone, 200);
    expect(gone.strings("syncData.changes.deleted", "id").toSorted()).toEqual([id, folder].toSorted());
    expectStatus(await restore(client, folder), 200);
    const back = await next(gone.string("syncData.nextSyncToken"));
    expect(back.strings("syncData.changes.created", "id").toSorted()).toEqual([id, folder].toSorted());
    expect(back.at("syncData.changes.deleted")).toEqual([]);
  });

  test("that deletes permanently what it moved to the trash can be rewound", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account, "stolen");
    const other = await registerDevice(server(), account, "other");
    const folder = await account.client.folderId("f");
    const single = await account.client.storedId("single", { name: "s.txt" });
    await account.client.stored("below", { name: "b.txt", fields: { folder: "/f" } });
    const since = (await account.client.get(`/api/files/${single}`)).string("data.modifiedAt");
    expectStatus(await moveToTrash(phone.client, single, folder), 200);
    expectStatus(await phone.client.delete("/api/files/trash"), 200);
    const path = `/api/mobile/devices/${phone.deviceId}/rewind`;
    expectStatus(await other.client.post(path, { since }), 200);
    const found = await account.client.get("/api/files?recursive=true&type=file");
    expect(found.strings("data.files", "name").toSorted()).toEqual(["b.txt", "s.txt"]);
    for (const id of found.strings("data.files", "id")) {
      expect(["single", "below"]).toContain((await account.client.get(`/api/files/${id}/download`)).text);
    }
  });
});

testAllResponses(server);
