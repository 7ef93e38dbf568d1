import { describe, expect, test } from "bun:test";
import { checksumOf } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("GET /api/files/{id}", () => {
  test("returns the whole record", async () => {
    const { client, id: userId, email } = await server().signUp({ name: "Ada" });
    const uploaded = await client.stored("hello", {
      name: "C:\\fakepath\\note.txt",
      fields: { folder: "/docs", tags: "a", description: "d" },
    });
    const id = uploaded.string("data.id");
    const response = await client.get(`/api/files/${id}`);
    expectStatus(response, 200);
    const stamp = expect.stringMatching(timestampPattern);
    expect(response.json).toEqual({
      success: true,
      data: expect.objectContaining({
        id,
        name: "note.txt",
        originalName: expect.stringContaining("note.txt"),
        mimeType: expect.stringMatching(/^text\/plain/),
        size: 5,
        folder: "/docs",
        url: `${server().url}/api/files/${id}/download`,
        downloadUrl: `${server().url}/api/files/${id}/download`,
        thumbnailUrl: `${server().url}/api/files/${id}/download?thumbnail=true`,
        createdAt: stamp,
        modifiedAt: stamp,
        lastAccessedAt: stamp,
        downloadCount: 0,
        isPublic: false,
        shareLink: null,
        tags: ["a"],
        metadata: { description: "d" },
        owner: { id: userId, name: "Ada", email },
      }),
    });
    expect(response.at("data.lastAccessedAt")).toBe(response.at("data.createdAt"));
    expect(uploaded.at("data.uploadedAt")).toBe(response.at("data.createdAt"));
    expect(Math.abs(Date.parse(response.string("data.createdAt")) - Date.now())).toBeLessThan(60_000);
  });

  test("has ids in order of time", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) ids.push(await client.storedId("x"));
    expect(ids).toEqual([...ids].sort());
  });

  test("shows new content: size, digest and version change, the id stays", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello");
    const before = await client.get(`/api/files/${id}`);
    await client.putContent(id, "hello again");
    const after = await client.get(`/api/files/${id}`);
    expect(after.json).toMatchObject({ data: { id, size: 11 } });
    expect(after.at("data.createdAt")).toBe(before.at("data.createdAt"));
    const row = (await client.get("/api/files")).list("data.files")[0];
    expect(row).toMatchObject({ version: 2, checksum: checksumOf("hello again") });
  });

  test.each([
    "file_00000000000000000000",
    "file_",
    "fold_00000000000000000000",
    "nothing",
    "1",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "%F0%9F%98%80",
    "x".repeat(2000),
    "'%20OR%201=1--",
  ])("is 404 for the id %p", async (id) => {
    const { client } = await server().signUp();
    await client.stored("x");
    expectError(await client.get(`/api/files/${id}`), 404);
  });

  test("is 404 for folder ids", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    expectError(await client.get(`/api/files/${id}`), 404);
    expectError(await client.get(`/api/files/${id}/download`), 404);
    expectError(await client.put(`/api/files/${id}`, { name: "x" }), 404);
    expectError(await client.delete(`/api/files/${id}`), 404);
    expectError(await client.putContent(id, "x"), 404);
    expectError(await client.get(`/api/files/${id}/checksum`), 404);
    expect(await client.names()).toEqual(["docs"]);
  });
});

describe("downloadCount", () => {
  test("counts GETs with status 200, and no HEAD, no 304, no thumbnail, no preview", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello");
    const path = `/api/files/${id}/download`;
    const count = async () => (await client.get(`/api/files/${id}`)).number("data.downloadCount");
    const first = await client.get(path);
    expect(await count()).toBe(1);
    await client.get(`${path}?inline=true`);
    expect(await count()).toBe(2);
    const preview = await client.get(`${path}?preview=true`);
    expect(preview.header("content-disposition")).toStartWith("inline");
    await client.get(`${path}?preview=true`, { range: "bytes=0-1" });
    expect(await count()).toBe(2);
    await client.head(path);
    expectStatus(await client.get(path, { "if-none-match": first.header("etag") }), 304);
    expectStatus(await client.get(path, { "if-match": '"other"' }), 412);
    expectStatus(await client.get(path, { range: "bytes=99-" }), 416);
    expect(await count()).toBe(2);
    const info = await client.get(`/api/files/${id}`);
    expect(Date.parse(info.string("data.lastAccessedAt"))).toBeGreaterThanOrEqual(
      Date.parse(info.string("data.createdAt")),
    );
  });

  test("of a new file is 0 with its creation as last access, even after a deletion", async () => {
    // Row ids were once reused, and pending counts of a deleted file went to the next one.
    const { client } = await server().signUp();
    for (const way of ["folder", "file"]) {
      const path = `/${way}`;
      const id = await client.storedId("old", { fields: { folder: path } });
      const response = await client.get("/api/files?type=folder");
      const [folderId = ""] = response.strings("data.files", "id");
      for (let index = 0; index < 3; index++) expectStatus(await client.get(`/api/files/${id}/download`), 200);
      const deleted =
        way === "folder"
          ? await client.delete(`/api/files/folders/${folderId}?recursive=true`)
          : await client.delete(`/api/files/${id}`);
      expectStatus(deleted, 200);
      for (let index = 0; index < 3; index++) {
        const { json } = await client.get(`/api/files/${await client.storedId("new", { name: `${way} ${index}` })}`);
        const data = Object(Object(json).data);
        expect({ way, count: data.downloadCount, lastAccessedAt: data.lastAccessedAt }).toEqual({
          way,
          count: 0,
          lastAccessedAt: data.createdAt,
        });
      }
    }
  });

  test("counts ranges once per caller, content and hour", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello world");
    const getRange = async (value: string) => client.get(`/api/files/${id}/download`, { range: value });
    const count = async () => (await client.get(`/api/files/${id}`)).number("data.downloadCount");
    for (const value of ["bytes=0-1", "bytes=2-3", "bytes=4-"]) expectStatus(await getRange(value), 206);
    expect(await count()).toBe(1);
    await client.putContent(id, "new content");
    expectStatus(await getRange("bytes=0-1"), 206);
    expect(await count()).toBe(2);
  });
});

testAllResponses(server);
