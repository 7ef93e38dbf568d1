import { describe, expect, test } from "bun:test";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("POST /api/files/folders", () => {
  test("responds 201 with the folder record and its description", async () => {
    const { client } = await server().signUp();
    const response = await client.post("/api/files/folders", { name: "docs", path: "/", description: "All of them" });
    expectStatus(response, 201);
    const stamp = expect.stringMatching(timestampPattern);
    expect(response.json).toEqual({
      success: true,
      data: expect.objectContaining({
        id: expect.stringMatching(/^fold_/),
        name: "docs",
        type: "folder",
        folder: "/",
        itemCount: 0,
        createdAt: stamp,
        modifiedAt: stamp,
        description: "All of them",
      }),
    });
    expect(await client.names()).toEqual(["docs"]);
    expect(await client.names("/docs")).toEqual([]);
  });

  test("creates missing parents", async () => {
    const { client } = await server().signUp();
    const response = await client.post("/api/files/folders", { name: "c", path: "/a/b/" });
    expectStatus(response, 201);
    expect(response.json).toMatchObject({ data: { name: "c", folder: "/a/b" } });
    expect(await client.names("/a")).toEqual(["b"]);
    expect(await client.names("/a/b")).toEqual(["c"]);
  });

  test("creates in the root without a path", async () => {
    const { client } = await server().signUp();
    const response = await client.post("/api/files/folders", { name: "top" });
    expectStatus(response, 201);
    expect(response.at("data.folder")).toBe("/");
  });

  test("rejects a name taken by a folder or a file", async () => {
    const { client } = await server().signUp();
    await client.folderId("docs");
    await client.stored("x", { name: "file" });
    for (const name of ["docs", "file"])
      expectError(await client.post("/api/files/folders", { name, path: "/" }), 409, "name_taken");
    const many = await Promise.all(
      Array.from({ length: 5 }, () => client.post("/api/files/folders", { name: "one", path: "/" })),
    );
    expect(sortedStatuses(many)).toEqual([201, 409, 409, 409, 409]);
    expect(await client.names()).toEqual(["docs", "one", "file"]);
  });

  test("accepts a path of at most 4,096 bytes in total", async () => {
    // Only the parent's path was once measured: a longer path was created and could not be listed.
    const { client } = await server().signUp();
    const path = Array.from({ length: 15 }, (_, index) => `/${String.fromCharCode(97 + index).repeat(255)}`).join("");
    for (const body of [
      { name: "x".repeat(254), path: `${path}/y` },
      { name: "z", path: `${path}/${"p".repeat(255)}` },
    ])
      expectError(await client.post("/api/files/folders", body), 400);
    expect(await client.names()).toEqual([]);
    const full = "x".repeat(255);
    expectStatus(await client.post("/api/files/folders", { name: full, path }), 201);
    expect(await client.names(path)).toEqual([full]);
    expect(await client.names(`${path}/${full}`)).toEqual([]);
    expectError(await client.post("/api/files/folders", { name: "z", path: `${path}/${full}` }), 400);
    expect(await client.names(`${path}/${full}`)).toEqual([]);
  });

  test("rejects a file as a parent", async () => {
    const { client } = await server().signUp();
    await client.stored("x", { name: "file" });
    const response = await client.post("/api/files/folders", { name: "sub", path: "/file" });
    expectError(response, 400, "not_a_folder");
  });

  test.each([
    [{ path: "/" }],
    [{ name: "", path: "/" }],
    [{ name: 7, path: "/" }],
    [{ name: null, path: "/" }],
    [{ name: "a/b", path: "/" }],
    [{ name: "a\\b", path: "/" }],
    [{ name: ".", path: "/" }],
    [{ name: "..", path: "/" }],
    [{ name: "ok", path: "relative" }],
    [{ name: "ok", path: "/a/../b" }],
    [{ name: "ok", path: 7 }],
    [{ name: "ok", path: "/", description: 7 }],
  ])("rejects %p", async (body) => {
    const { client } = await server().signUp();
    expectError(await client.post("/api/files/folders", body), 400);
    expect(await client.names()).toEqual([]);
  });
});

describe("GET /api/files/folders/{id}", () => {
  test("returns the folder", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs", "/top");
    await client.stored("x", { fields: { folder: "/top/docs" } });
    await client.folderId("sub", "/top/docs");
    const response = await client.get(`/api/files/folders/${id}`);
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: { id, name: "docs", type: "folder", folder: "/top", itemCount: 2 },
    });
  });

  test.each(["fold_00000000000000000000", "nothing", "%00", "file_00000000000000000000"])(
    "is 404 for %p",
    async (id) => {
      const { client } = await server().signUp();
      expectError(await client.get(`/api/files/folders/${id}`), 404);
    },
  );

  test("is 404 for file ids", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    expectError(await client.get(`/api/files/folders/${id}`), 404);
    expectError(await client.put(`/api/files/folders/${id}`, { name: "y" }), 404);
    expectError(await client.delete(`/api/files/folders/${id}?recursive=true`), 404);
    expect(await client.names()).toEqual(["file.txt"]);
  });
});

describe("PUT /api/files/folders/{id}", () => {
  test("renames, and changes all paths below", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    const file = await client.storedId("x", { name: "a.txt", fields: { folder: "/docs/deep" } });
    const response = await client.put(`/api/files/folders/${id}`, { name: "papers" });
    expectStatus(response, 200);
    expect(response.json).toMatchObject({ data: { id, name: "papers", folder: "/" } });
    expect((await client.get(`/api/files/${file}`)).at("data.folder")).toBe("/papers/deep");
    expect(await client.names("/papers")).toEqual(["deep"]);
    expectError(await client.get("/api/files?folder=/docs"), 404);
  });

  test("moves, and creates missing parents", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    await client.stored("x", { name: "a.txt", fields: { folder: "/docs" } });
    const response = await client.put(`/api/files/folders/${id}`, { folder: "/new/place" });
    expectStatus(response, 200);
    expect(response.at("data.folder")).toBe("/new/place");
    expect(await client.names("/new/place/docs")).toEqual(["a.txt"]);
    expect(await client.names()).toEqual(["new"]);
  });

  test("sets the description", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    expectStatus(await client.put(`/api/files/folders/${id}`, { description: "papers" }), 200);
    expect((await client.get(`/api/files/folders/${id}`)).at("data.description")).toBe("papers");
    expect((await client.get(`/api/files/folders/${id}`)).at("data.name")).toBe("docs");
  });

  test("rejects a taken name and its own subtree", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    await client.folderId("sub", "/docs");
    await client.folderId("taken");
    await client.stored("x", { name: "file" });
    expectError(await client.put(`/api/files/folders/${id}`, { name: "taken" }), 409, "name_taken");
    expectError(await client.put(`/api/files/folders/${id}`, { name: "file" }), 409, "name_taken");
    expectError(await client.put(`/api/files/folders/${id}`, { folder: "/docs" }), 400);
    expectError(await client.put(`/api/files/folders/${id}`, { folder: "/docs/sub" }), 400);
    expectError(await client.put(`/api/files/folders/${id}`, { folder: "/docs/new" }), 400);
    expectError(await client.put(`/api/files/folders/${id}`, { name: "a/b" }), 400);
    expectError(await client.put(`/api/files/folders/${id}`, { name: 7 }), 400, "invalid_field", "name");
    expect(await client.names()).toEqual(["docs", "taken", "file"]);
    expect(await client.names("/docs")).toEqual(["sub"]);
    expectStatus(await client.put(`/api/files/folders/${id}`, { name: "DOCS" }), 200);
  });
});

describe("DELETE /api/files/folders/{id}", () => {
  test("deletes an empty folder", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    const response = await client.delete(`/api/files/folders/${id}`);
    expectStatus(response, 200);
    expect(response.at("success")).toBe(true);
    expect(await client.names()).toEqual([]);
    expectError(await client.delete(`/api/files/folders/${id}`), 404);
  });

  test("rejects a folder that is not empty, unless recursive", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    const file = await client.storedId("hello", { fields: { folder: "/docs/deep", isPublic: "true" } });
    const link = new URL((await client.get(`/api/files/${file}`)).string("data.shareLink")).pathname;
    expectError(await client.delete(`/api/files/folders/${id}`), 409, "folder_not_empty");
    expectError(await client.delete(`/api/files/folders/${id}?recursive=false`), 409, "folder_not_empty");
    expectError(await client.delete(`/api/files/folders/${id}?recursive=si`), 400, "invalid_field", "recursive");
    expectStatus(await client.get(`/api/files/${file}`), 200);
    expectStatus(await client.delete(`/api/files/folders/${id}?recursive=true`), 200);
    expectError(await client.get(`/api/files/${file}`), 404);
    expectError(await client.get(`/api/files/${file}/download`), 404);
    expectError(await client.get("/api/files?folder=/docs/deep"), 404);
    expectStatus(await server().visitor.get(`${link}/download`), 404);
    expect(await client.names("/", "&search=file")).toEqual([]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ used: 0, files: 0, folders: 0 });
    expectStatus(await client.post("/api/files/folders", { name: "docs", path: "/" }), 201);
    expect(await client.names("/docs")).toEqual([]);
  });
});

describe("itemCount", () => {
  test("counts direct children of both kinds and follows every change", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    const count = async () => (await client.get(`/api/files/folders/${id}`)).number("data.itemCount");
    const file = await client.storedId("x", { fields: { folder: "/docs" } });
    const sub = await client.folderId("sub", "/docs");
    await client.stored("y", { fields: { folder: "/docs/sub" } });
    expect(await count()).toBe(2);
    await client.post("/api/files/move", { fileIds: [file], destinationFolder: "/" });
    expect(await count()).toBe(1);
    await client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/docs" });
    expect(await count()).toBe(2);
    await client.delete(`/api/files/folders/${sub}?recursive=true`);
    expect(await count()).toBe(1);
    const listed = (await client.get("/api/files?type=folder")).list("data.files");
    expect(listed).toEqual([expect.objectContaining({ id, itemCount: 1 })]);
  });
});

testAllResponses(server);
