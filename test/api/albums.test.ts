import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function storeFiles(client: Client, names: readonly string[], folder = "/"): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push(await client.storedId(name, { name, fields: { folder } }));
  return ids;
}

async function createAlbum(client: Client, fileIds: readonly string[] = [], name = "Rome"): Promise<string> {
  const response = await client.post("/api/albums", { name, fileIds });
  expectStatus(response, 201);
  return response.string("data.id");
}

async function listItems(client: Client, album: string, query = ""): Promise<string[]> {
  const response = await client.get(`/api/albums/${album}/items${query}`);
  expectStatus(response, 200);
  if (query === "") {
    const shapes = await client.get(`/api/albums/${album}/aspects`);
    expect(shapes.at("data.fileIds")).toEqual(response.strings("data.items", "id"));
    expect(shapes.list("data.aspects")).toHaveLength(response.list("data.items").length);
  }
  return response.strings("data.items", "name");
}

async function countItems(client: Client, album: string): Promise<number> {
  const count = (await client.get(`/api/albums/${album}`)).number("data.itemCount");
  // Every list agrees with the record.
  const items = await client.get(`/api/albums/${album}/items?limit=1`);
  expect(items.number("data.pagination.total")).toBe(count);
  const listed = (await client.get("/api/albums")).list("data.albums");
  expect(listed).toContainEqual(expect.objectContaining({ id: album, itemCount: count }));
  return count;
}

async function move(client: Client, album: string, fileIds: string[], before: string | null): Promise<ApiResponse> {
  return client.post(`/api/albums/${album}/items/move`, { fileIds, before });
}

describe("albums", () => {
  test("an album is created, listed, renamed, described and deleted, and its files stay", async () => {
    const { client } = await server().signUp();
    const [one = "", two = ""] = await storeFiles(client, ["1.txt", "2.txt"]);
    const created = await client.post("/api/albums", { name: " Rome ", description: "Spring", fileIds: [two, one] });
    expectStatus(created, 201);
    const album = created.string("data.id");
    const record = {
      id: album,
      type: "album",
      name: "Rome",
      description: "Spring",
      itemCount: 2,
      coverFileId: null,
      coverUrl: expect.stringContaining(two),
      isShared: false,
      createdAt: expect.stringMatching(timestampPattern),
      modifiedAt: expect.stringMatching(timestampPattern),
    };
    expect(created.at("data")).toEqual({ ...record, failed: [] });
    expect((await client.get("/api/albums")).at("data.albums")).toEqual([record]);
    expect((await client.get(`/api/albums/${album}`)).at("data")).toEqual(record);
    const changed = await client.patch(`/api/albums/${album}`, { name: "Roma", description: "", coverFileId: one });
    expect(changed.at("data")).toMatchObject({ name: "Roma", description: "", coverFileId: one });
    expect(changed.string("data.coverUrl")).toContain(one);
    expectStatus(await client.delete(`/api/albums/${album}`), 200);
    expectError(await client.get(`/api/albums/${album}`), 404);
    expectStatus(await client.get(`/api/files/${one}`), 200);
    expect((await client.get(`/api/files/${one}/albums`)).at("data.albums")).toEqual([]);
  });

  test("albums are sorted by name, and by the times of their creation and change", async () => {
    const { client } = await server().signUp();
    const ids = [];
    for (const name of ["beta", "Alpha", "gamma"]) ids.push(await createAlbum(client, [], name));
    const names = async (query: string) => (await client.get(`/api/albums?${query}`)).strings("data.albums", "name");
    expect(await names("")).toEqual(["Alpha", "beta", "gamma"]);
    expect(await names("sort=name&order=desc&limit=2&page=2")).toEqual(["Alpha"]);
    expect(await names("sort=createdAt&order=desc")).toEqual(["gamma", "Alpha", "beta"]);
    expectStatus(await client.patch(`/api/albums/${ids[0]}`, { description: "changed" }), 200);
    expect((await names("sort=modifiedAt&order=desc"))[0]).toBe("beta");
  });

  test("invalid names, changes and pages are rejected", async () => {
    const { client } = await server().signUp();
    const album = await createAlbum(client);
    for (const name of ["", "  ", "a\u0007b", "x".repeat(256)]) {
      expectError(await client.post("/api/albums", { name }), 400, "invalid_field", "name");
      expectError(await client.patch(`/api/albums/${album}`, { name }), 400, "invalid_field", "name");
    }
    expectError(await client.patch(`/api/albums/${album}`, {}), 400, "invalid_field");
    expectError(await client.patch(`/api/albums/${album}`, { description: "x".repeat(10_001) }), 400, "invalid_field");
    expectError(await client.get("/api/albums?sort=size"), 400, "invalid_field", "sort");
    expectError(await client.get(`/api/albums/${album}/items?limit=501`), 400, "invalid_field", "limit");
    expectError(await client.post(`/api/albums/${album}/items`, { fileIds: [] }), 400, "invalid_field");
  });

  test("an account has at most 1,000 albums", async () => {
    const { client } = await server().signUp();
    for (let start = 0; start < 1_000; start += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => createAlbum(client, [], `Album ${start + index}`)));
    }
    const rejected = await client.post("/api/albums", { name: "one too many" });
    expectError(rejected, 413, "quota_exceeded");
    expect(rejected.at("error.details")).toMatchObject({ limit: 1_000, of: "albums" });
    expect((await client.get("/api/albums?limit=1000")).list("data.albums")).toHaveLength(1_000);
  });
});

describe("items", () => {
  test("files are added once, at the end or before an item", async () => {
    const { client } = await server().signUp();
    const [a = "", b = "", c = "", d = ""] = await storeFiles(client, ["a", "b", "c", "d"]);
    const album = await createAlbum(client, [a, b]);
    const added = await client.post(`/api/albums/${album}/items`, { fileIds: [c, a, c], before: b });
    expect(added.at("data")).toMatchObject({ added: 1, alreadyThere: 1, failed: [], album: { itemCount: 3 } });
    expect(await listItems(client, album)).toEqual(["a", "c", "b"]);
    await client.post(`/api/albums/${album}/items`, { fileIds: [d] });
    expect(await listItems(client, album)).toEqual(["a", "c", "b", "d"]);
    expect(await listItems(client, album, "?sort=name&order=desc")).toEqual(["d", "c", "b", "a"]);
    expect(await listItems(client, album, "?order=desc&limit=2&page=2")).toEqual(["c", "a"]);
    expect((await client.get(`/api/files/${c}/albums`)).strings("data.albums", "id")).toEqual([album]);
  });

  test("items are sorted by the time they were taken", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (const [name, capturedAt] of [
      ["new.jpg", "2026-03-01T10:00:00Z"],
      ["old.jpg", "2020-03-01T10:00:00Z"],
    ] as const) {
      ids.push(await client.storedId(name, { name, type: "image/jpeg", fields: { capturedAt } }));
    }
    const album = await createAlbum(client, ids);
    expect(await listItems(client, album, "?sort=capturedAt")).toEqual(["old.jpg", "new.jpg"]);
  });

  test("moving orders the items in the order of the request", async () => {
    const { client } = await server().signUp();
    const names = ["a", "b", "c", "d", "e"];
    const ids = await storeFiles(client, names);
    const [a = "", b = "", , d = "", e = ""] = ids;
    const album = await createAlbum(client, ids);
    expectStatus(await move(client, album, [e, d], b), 200);
    expect(await listItems(client, album)).toEqual(["a", "e", "d", "b", "c"]);
    expectStatus(await move(client, album, [a], null), 200);
    expect(await listItems(client, album)).toEqual(["e", "d", "b", "c", "a"]);
    expectStatus(await move(client, album, [a], e), 200);
    expect(await listItems(client, album)).toEqual(["a", "e", "d", "b", "c"]);
    expectError(await move(client, album, [a], a), 400, "invalid_field", "before");
    const other = await client.storedId("other");
    expectError(await move(client, album, [a], other), 404, "not_found", "before");
    expectStatus(await move(client, album, [other, b], a), 200);
    expect(await listItems(client, album)).toEqual(["b", "a", "e", "d", "c"]);
  });

  test("the order stays right after very many moves to the same place", async () => {
    const { client } = await server().signUp();
    const names = ["a", "b", "c"];
    const [a = "", b = "", c = ""] = await storeFiles(client, names);
    const album = await createAlbum(client, [a, b, c]);
    // Each move halves a gap: far more than the bits of a position.
    for (let round = 0; round < 60; round++)
      expectStatus(await move(client, album, [round % 2 === 0 ? c : b], round % 2 === 0 ? b : c), 200);
    expect(await listItems(client, album)).toEqual(["a", "b", "c"]);
  });

  test("removing files from an album leaves the files", async () => {
    const { client } = await server().signUp();
    const [a = "", b = ""] = await storeFiles(client, ["a", "b"]);
    const album = await createAlbum(client, [a, b]);
    await client.patch(`/api/albums/${album}`, { coverFileId: b });
    const removed = await client.post(`/api/albums/${album}/items/remove`, { fileIds: [b, "file_unknown"] });
    expect(removed.at("data")).toMatchObject({ removed: 1, album: { itemCount: 1, coverFileId: null } });
    expect(removed.string("data.album.coverUrl")).toContain(a);
    expectStatus(await client.get(`/api/files/${b}`), 200);
    expectError(await client.patch(`/api/albums/${album}`, { coverFileId: b }), 404, "not_found", "coverFileId");
  });

  test("a file in the trash is left out, and returns to its place", async () => {
    const { client } = await server().signUp();
    const [a = "", b = "", c = ""] = await storeFiles(client, ["a", "b", "c"]);
    const album = await createAlbum(client, [a, b, c]);
    await client.patch(`/api/albums/${album}`, { coverFileId: b });
    expectStatus(await client.post("/api/files/trash", { fileIds: [b] }), 200);
    expect(await listItems(client, album)).toEqual(["a", "c"]);
    expect(await countItems(client, album)).toBe(2);
    expect((await client.get(`/api/albums/${album}`)).at("data")).toMatchObject({
      coverFileId: null,
      coverUrl: expect.stringContaining(a),
    });
    expectError(await client.post(`/api/albums/${album}/items`, { fileIds: [b] }), 404);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [b] }), 200);
    expect(await listItems(client, album)).toEqual(["a", "b", "c"]);
    expect((await client.get(`/api/albums/${album}`)).at("data")).toMatchObject({ coverFileId: b, itemCount: 3 });
  });

  test("files in a folder that goes to the trash are left out, and return with it", async () => {
    const { client } = await server().signUp();
    const [top = ""] = await storeFiles(client, ["top"]);
    const [deep = ""] = await storeFiles(client, ["deep"], "/trips/rome");
    const album = await createAlbum(client, [deep, top]);
    const folder = (await client.get("/api/files")).at("data.files.0.id") as string;
    expectStatus(await client.post("/api/files/trash", { fileIds: [folder] }), 200);
    for (const query of ["", "?sort=name", "?sort=capturedAt"]) {
      expect(await listItems(client, album, query)).toEqual(["top"]);
    }
    expect(await countItems(client, album)).toBe(1);
    expect((await client.get(`/api/albums/${album}`)).string("data.coverUrl")).toContain(top);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [folder] }), 200);
    expect(await listItems(client, album)).toEqual(["deep", "top"]);
    expect(await countItems(client, album)).toBe(2);
  });

  test("a permanently deleted file leaves its albums", async () => {
    const { client } = await server().signUp();
    const [a = "", b = ""] = await storeFiles(client, ["a", "b"]);
    const [deep = ""] = await storeFiles(client, ["deep"], "/gone");
    const album = await createAlbum(client, [a, b, deep]);
    expectStatus(await client.delete(`/api/files/${a}`), 200);
    await client.post("/api/files/trash", { fileIds: [b] });
    expectStatus(await client.delete("/api/files/trash"), 200);
    expect(await listItems(client, album)).toEqual(["deep"]);
    const folder = await client.get("/api/files?type=folder");
    expectStatus(await client.delete(`/api/files/folders/${folder.string("data.files.0.id")}?recursive=true`), 200);
    expect(await listItems(client, album)).toEqual([]);
    expect(await countItems(client, album)).toBe(0);
    expect((await client.get(`/api/albums/${album}`)).at("data.coverUrl")).toBeNull();
  });

  test("a renamed, moved or replaced file stays, and a copy is not added", async () => {
    const { client } = await server().signUp();
    const [a = ""] = await storeFiles(client, ["a.txt"]);
    const album = await createAlbum(client, [a]);
    expectStatus(await client.put(`/api/files/${a}`, { name: "b.txt", folder: "/elsewhere" }), 200);
    expectStatus(await client.putContent(a, "new content"), 200);
    expectStatus(await client.post("/api/files/copy", { fileIds: [a], destinationFolder: "/copies" }), 201);
    expect(await listItems(client, album)).toEqual(["b.txt"]);
  });

  test("an album has at most 10,000 files", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("source");
    // Copies of copies make many files with few requests.
    const copied = [await client.storedId("x", { name: "x", fields: { folder: "/source" } })];
    while (copied.length < 1_024) {
      const response = await client.post("/api/files/copy", { fileIds: copied, destinationFolder: "/source" });
      copied.push(...response.strings("data.copied", "id"));
    }
    for (let copy = 1; copy < 10; copy++) {
      expectStatus(await client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/" }), 201);
    }
    const ids: string[] = [];
    for (let page = 1; ids.length < 10_001; page++) {
      const found = await client.get(`/api/files?recursive=true&type=file&limit=100&page=${page}`);
      ids.push(...found.strings("data.files", "id"));
    }
    const album = await createAlbum(client);
    for (let start = 0; start < 9_500; start += 500) {
      await client.post(`/api/albums/${album}/items`, { fileIds: ids.slice(start, start + 500) });
    }
    const last = await client.post(`/api/albums/${album}/items`, { fileIds: ids.slice(9_499, 10_001) });
    expect(last.at("data")).toMatchObject({ added: 500, alreadyThere: 1, album: { itemCount: 10_000 } });
    expect(last.at("data.failed")).toMatchObject([
      { id: ids[10_000], error: { details: { reason: "quota_exceeded", limit: 10_000, of: "albumItems" } } },
    ]);
    expectError(await client.post(`/api/albums/${album}/items`, { fileIds: [ids[10_000]] }), 413, "quota_exceeded");
    expect((await client.get(`/api/albums/${album}/items?limit=500&page=20`)).strings("data.items", "id")).toEqual(
      ids.slice(9_500, 10_000),
    );
  });
});

describe("other accounts", () => {
  test("nobody reads or changes an album of somebody else", async () => {
    const { client } = await server().signUp();
    const other = (await server().signUp()).client;
    const [mine = ""] = await storeFiles(client, ["mine"]);
    const [theirs = ""] = await storeFiles(other, ["theirs"]);
    const album = await createAlbum(client, [mine]);
    const own = await createAlbum(other, [theirs]);
    for (const response of [
      await other.get(`/api/albums/${album}`),
      await other.get(`/api/albums/${album}/items`),
      await other.patch(`/api/albums/${album}`, { name: "x" }),
      await other.delete(`/api/albums/${album}`),
      await other.post(`/api/albums/${album}/items`, { fileIds: [theirs] }),
      await other.post(`/api/albums/${album}/items/move`, { fileIds: [theirs], before: null }),
      await other.post(`/api/albums/${album}/items/remove`, { fileIds: [mine] }),
      await other.get(`/api/files/${mine}/albums`),
      await other.post(`/api/albums/${own}/items`, { fileIds: [mine] }),
      await other.patch(`/api/albums/${own}`, { coverFileId: mine }),
      await other.post(`/api/albums/${own}/items/move`, { fileIds: [theirs], before: mine }),
    ]) {
      expectError(response, 404, "not_found");
    }
    const mixed = await other.post(`/api/albums/${own}/items`, { fileIds: [mine, theirs] });
    expect(mixed.at("data")).toMatchObject({
      added: 0,
      alreadyThere: 1,
      failed: [{ id: mine, error: { details: { reason: "not_found" } } }],
    });
    expect(await listItems(client, album)).toEqual(["mine"]);
    expectError(await server().visitor.get("/api/albums"), 401);
  });
});

testAllResponses(server);
