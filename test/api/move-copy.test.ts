import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("POST /api/files/move", () => {
  test("moves files and folders, and reports each", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("x", { name: "a.txt" });
    const folder = await client.folderId("docs");
    const inside = await client.storedId("y", { name: "b.txt", fields: { folder: "/docs" } });
    const response = await client.post("/api/files/move", { fileIds: [file, folder], destinationFolder: "/new/box" });
    expectStatus(response, 200);
    expect(response.at("success")).toBe(true);
    expect(response.strings("data.moved", "id").sort()).toEqual([file, folder].sort());
    expect(response.list("data.failed")).toEqual([]);
    expect(await client.names("/new/box")).toEqual(["docs", "a.txt"]);
    expect(await client.names()).toEqual(["new"]);
    expect((await client.get(`/api/files/${inside}`)).at("data.folder")).toBe("/new/box/docs");
  });

  test("moves each item separately", async () => {
    const { client } = await server().signUp();
    const good = await client.storedId("x", { name: "good" });
    const taken = await client.storedId("y", { name: "taken" });
    await client.stored("z", { name: "taken", fields: { folder: "/box" } });
    const unknown = "file_00000000000000000000";
    const response = await client.post("/api/files/move", {
      fileIds: [unknown, taken, good],
      destinationFolder: "/box",
    });
    expectStatus(response, 200);
    expect(response.strings("data.moved", "id")).toEqual([good]);
    expect(response.list("data.failed")).toMatchObject([
      { id: unknown, error: { code: "RESOURCE_NOT_FOUND" } },
      { id: taken, error: { code: "VALIDATION_ERROR", details: { reason: "name_taken" } } },
    ]);
    expect(await client.names()).toEqual(["box", "taken"]);
  });

  test("fails with the error of the first item if all fail", async () => {
    const { client } = await server().signUp();
    const taken = await client.storedId("y", { name: "taken" });
    await client.stored("z", { name: "taken", fields: { folder: "/box" } });
    const unknown = "file_00000000000000000000";
    const move = async (fileIds: string[]) => client.post("/api/files/move", { fileIds, destinationFolder: "/box" });
    expectError(await move([unknown]), 404);
    expectError(await move([unknown, taken]), 404);
    expectError(await move([taken, unknown]), 409, "name_taken");
  });

  test("is 400 for a folder into itself or below", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    await client.folderId("sub", "/docs");
    for (const destinationFolder of ["/docs", "/docs/sub", "/docs/sub/new"])
      expectError(await client.post("/api/files/move", { fileIds: [id], destinationFolder }), 400);
    expect(await client.names()).toEqual(["docs"]);
    expect(await client.names("/docs")).toEqual(["sub"]);
    expectStatus(await client.post("/api/files/move", { fileIds: [id], destinationFolder: "/docs2" }), 200);
  });

  test("creates no cycle from two folders that move into each other at once", async () => {
    const { client } = await server().signUp();
    const [a, b] = [await client.folderId("a"), await client.folderId("b")];
    const responses = await Promise.all([
      client.post("/api/files/move", { fileIds: [a], destinationFolder: "/b" }),
      client.post("/api/files/move", { fileIds: [b], destinationFolder: "/a" }),
    ]);
    expect(responses.some((response) => response.status === 200)).toBe(true);
    expect(await client.names("/", "&recursive=true&type=folder")).toEqual(expect.arrayContaining(["a", "b"]));
  });

  test("rejects a file as the destination", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a" });
    await client.stored("y", { name: "b" });
    expectError(await client.post("/api/files/move", { fileIds: [id], destinationFolder: "/b" }), 400, "not_a_folder");
  });

  test("keeps id, content, tags, link and times", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { fields: { tags: "t", description: "d", isPublic: "true" } });
    const before = (await client.get(`/api/files/${id}`)).at("data");
    await client.post("/api/files/move", { fileIds: [id], destinationFolder: "/box" });
    const after = (await client.get(`/api/files/${id}`)).at("data");
    expect(after).toEqual({ ...Object(before), folder: "/box", modifiedAt: expect.any(String) });
  });
});

describe("POST /api/files/copy", () => {
  test("responds 201 with the copies, and writes no blob", async () => {
    const { client } = await server().signUp();
    const content = randomContent(10_000);
    const source = await client.storedId(content, { name: "a.bin", fields: { tags: "t", description: "d" } });
    const blobs = async () => (await readdir(join(server().dataDir, "blobs", "sha256"), { recursive: true })).length;
    const before = await blobs();
    const response = await client.post("/api/files/copy", { fileIds: [source], destinationFolder: "/copies" });
    expectStatus(response, 201);
    expect(response.list("data.failed")).toEqual([]);
    expect(response.list("data.copied")).toMatchObject([
      {
        sourceId: source,
        name: "a.bin",
        folder: "/copies",
        size: 10_000,
        tags: ["t"],
        metadata: { description: "d" },
        isPublic: false,
      },
    ]);
    const [id = ""] = response.strings("data.copied", "id");
    expect(id).not.toBe(source);
    expect(await blobs()).toBe(before);
    expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
    await client.putContent(source, "changed");
    expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
  });

  test("never copies isPublic, and drops tags and metadata if preserveMetadata is false", async () => {
    const { client } = await server().signUp();
    const source = await client.storedId("x", { fields: { tags: "t", description: "d", isPublic: "true" } });
    const withMetadata = await client.post("/api/files/copy", { fileIds: [source], destinationFolder: "/kept" });
    expect(withMetadata.list("data.copied")).toMatchObject([
      { tags: ["t"], metadata: { description: "d" }, isPublic: false },
    ]);
    const [withMetadataId = ""] = withMetadata.strings("data.copied", "id");
    expect((await client.get(`/api/files/${withMetadataId}`)).at("data.shareLink")).toBeNull();
    const bare = { fileIds: [source], destinationFolder: "/bare", preserveMetadata: false };
    const [bareId = ""] = (await client.post("/api/files/copy", bare)).strings("data.copied", "id");
    const info = await client.get(`/api/files/${bareId}`);
    expect(info.json).toMatchObject({ data: { tags: [], metadata: {}, isPublic: false } });
    expect(info.at("data.metadata.description")).toBeUndefined();
  });

  test("numbers a taken name, or fails or creates a version as requested", async () => {
    const { client } = await server().signUp();
    const source = await client.storedId("source", { name: "a.txt" });
    const copy = async (onConflict?: string) =>
      client.post("/api/files/copy", {
        fileIds: [source],
        destinationFolder: "/",
        ...(onConflict === undefined ? {} : { onConflict }),
      });
    expect((await copy()).strings("data.copied", "name")).toEqual(["a (1).txt"]);
    expect((await copy("rename")).strings("data.copied", "name")).toEqual(["a (2).txt"]);
    expectError(await copy("error"), 409, "name_taken");
    expectError(await copy("never"), 400, "invalid_field", "onConflict");
    const other = await client.storedId("other", { name: "a.txt", fields: { folder: "/box" } });
    const versioned = await client.post("/api/files/copy", {
      fileIds: [source],
      destinationFolder: "/box",
      onConflict: "version",
    });
    expectStatus(versioned, 201);
    expect(await client.names("/box")).toEqual(["a.txt"]);
    expect((await client.get(`/api/files/${other}/download`)).text).toBe("source");
  });

  test("copies a folder with everything below", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("docs");
    await client.stored("one", { name: "1.txt", fields: { folder: "/docs" } });
    await client.stored("two", { name: "2.txt", fields: { folder: "/docs/deep/down" } });
    const response = await client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/box" });
    expectStatus(response, 201);
    expect(response.list("data.copied")).toMatchObject([
      { sourceId: id, name: "docs", type: "folder", folder: "/box" },
    ]);
    expect(await client.names("/box/docs")).toEqual(["deep", "1.txt"]);
    expect(await client.names("/box/docs/deep/down")).toEqual(["2.txt"]);
    const again = await client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/" });
    expect(again.strings("data.copied", "name")).toEqual(["docs (1)"]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ files: 6, used: 18 });
    expectError(await client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/docs" }), 400);
    expectError(await client.post("/api/files/copy", { fileIds: [id], destinationFolder: "/docs/deep" }), 400);
  });

  test("copies a folder with thousands of items", async () => {
    // More than 2,000 items were once 400, because the code for large folders was never called.
    const { client } = await server().signUp();
    const seed = await client.folderId("seed");
    const contents = Array.from({ length: 15 }, (_, index) => `content ${index}`);
    await Promise.all(
      contents.map((content, index) => client.stored(content, { name: `${index}`, fields: { folder: "/seed" } })),
    );
    const large = await client.folderId("large");
    const fill = { fileIds: Array.from({ length: 140 }, () => seed), destinationFolder: "/large" };
    expect((await client.post("/api/files/copy", fill)).list("data.copied")).toHaveLength(140);
    const count = async (folder: string) =>
      (await client.get(`/api/files?folder=${encodeURIComponent(folder)}&recursive=true&limit=1`)).at(
        "data.pagination.total",
      );
    const entries = 140 * 16;

    const usage = async () => (await client.get("/api/users/usage")).at("data.storage");
    const before = Object(await usage());
    const response = await client.post("/api/files/copy", { fileIds: [large], destinationFolder: "/" });
    expectStatus(response, 201);
    expect(response.list("data.copied")).toMatchObject([{ sourceId: large, name: "large (1)", folder: "/" }]);
    expect(await count("/large (1)")).toBe(entries);
    expect(await usage()).toMatchObject({
      files: before.files + 140 * 15,
      folders: before.folders + 141,
      used: before.used + 140 * contents.join("").length,
    });
    expect(await client.names()).toEqual(["large", "large (1)", "seed"]);
    const last = await client.get("/api/files?folder=/large (1)/seed (139)&limit=100&sort=name");
    expect(last.list("data.files")).toHaveLength(15);
    const [copied = ""] = last.strings("data.files", "id");
    const [name = ""] = last.strings("data.files", "name");
    expect((await client.get(`/api/files/${copied}/download`)).text).toBe(`content ${name}`);

    const into = await client.post("/api/files/copy", { fileIds: [large], destinationFolder: "/large/seed" });
    expectError(into, 400);
    const taken = { fileIds: [large], destinationFolder: "/", onConflict: "error" };
    expectError(await client.post("/api/files/copy", taken), 409, "name_taken");
    expect(await count("/")).toBe(2 * entries + 16 + 2);
    expectStatus(await client.delete(`/api/files/folders/${large}?recursive=true`), 200);
    expect(await count("/large (1)")).toBe(entries);
  });

  test("copies each item separately, and fails with the first error if all fail", async () => {
    const { client } = await server().signUp();
    const good = await client.storedId("x", { name: "good" });
    const unknown = "file_00000000000000000000";
    const response = await client.post("/api/files/copy", { fileIds: [unknown, good], destinationFolder: "/box" });
    expectStatus(response, 201);
    expect(response.strings("data.copied", "sourceId")).toEqual([good]);
    expect(response.list("data.failed")).toMatchObject([{ id: unknown, error: { code: "RESOURCE_NOT_FOUND" } }]);
    expectError(await client.post("/api/files/copy", { fileIds: [unknown], destinationFolder: "/box" }), 404);
  });
});

describe.each(["move", "copy"])("the body of %s", (verb) => {
  test("accepts 1 to 1,000 ids", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    const send = async (body: unknown) => client.post(`/api/files/${verb}`, body);
    expectError(await send({ fileIds: [], destinationFolder: "/box" }), 400, "invalid_field", "fileIds");
    const over = Array.from({ length: 1001 }, () => id);
    expectError(await send({ fileIds: over, destinationFolder: "/box" }), 400, "invalid_field", "fileIds");
    const unknown = Array.from({ length: 999 }, (_, index) => `file_${String(index).padStart(20, "0")}`);
    const full = await send({ fileIds: [id, ...unknown], destinationFolder: "/box" });
    expect([200, 201]).toContain(full.status);
    expect(full.list("data.failed")).toHaveLength(999);
  });

  test.each([
    ["fileIds", { destinationFolder: "/box" }],
    ["fileIds", { fileIds: "file_1", destinationFolder: "/box" }],
    ["destinationFolder", { fileIds: ["file_1"] }],
    ["destinationFolder", { fileIds: ["file_1"], destinationFolder: 7 }],
  ])("names the invalid field %s in %p", async (field, body) => {
    const { client } = await server().signUp();
    expectError(await client.post(`/api/files/${verb}`, body), 400, "invalid_field", field);
  });

  test.each(["", "relative", "/a/../b", "/a//b", "/a\\b", "/a\u0000", `/${"x".repeat(256)}`])(
    "rejects the destination %p",
    async (destinationFolder) => {
      const { client } = await server().signUp();
      const id = await client.storedId("x");
      expectError(await client.post(`/api/files/${verb}`, { fileIds: [id], destinationFolder }), 400);
      expect(await client.names()).toEqual(["file.txt"]);
    },
  );
});

testAllResponses(server);
