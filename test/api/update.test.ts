import { describe, expect, test } from "bun:test";
import { checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

describe("PUT /api/files/{id}", () => {
  test("changes all fields at once, and returns the updated record", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt", fields: { tags: "old" } });
    const before = await client.get(`/api/files/${id}`);
    const response = await client.put(`/api/files/${id}`, {
      name: "b.txt",
      folder: "/new/place",
      description: "said",
      tags: ["one", "two"],
      isPublic: true,
      metadata: { author: "Ada" },
    });
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: {
        id,
        name: "b.txt",
        folder: "/new/place",
        isPublic: true,
        tags: ["one", "two"],
        metadata: { description: "said", author: "Ada" },
      },
    });
    expect(response.string("data.modifiedAt")).toMatch(timestampPattern);
    expect(response.string("data.shareLink")).toStartWith(`${server().url}/s/`);
    const after = await client.get(`/api/files/${id}`);
    expect(after.json).toMatchObject({ data: { name: "b.txt", folder: "/new/place", tags: ["one", "two"] } });
    expect(after.at("data.createdAt")).toBe(before.at("data.createdAt"));
    expect(await client.names("/new/place")).toEqual(["b.txt"]);
    expect(await client.names("/")).toEqual(["new"]);
  });

  test("leaves other fields unchanged", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt", fields: { tags: "t", description: "d", isPublic: "true" } });
    expectStatus(await client.put(`/api/files/${id}`, { name: "b.txt" }), 200);
    expect((await client.get(`/api/files/${id}`)).json).toMatchObject({
      data: {
        name: "b.txt",
        originalName: "a.txt",
        tags: ["t"],
        metadata: { description: "d" },
        isPublic: true,
        folder: "/",
      },
    });
  });

  test.each([{}, { unknown: 1 }, { size: 5 }])("without any field is 400: %p", async (body) => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    expectError(await client.put(`/api/files/${id}`, body), 400);
  });

  test.each([
    ["name", 7],
    ["name", null],
    ["name", ""],
    ["name", "a/b"],
    ["name", "a\\b"],
    ["name", ".."],
    ["name", "a\u0000b"],
    ["folder", "relative"],
    ["folder", "/a/../b"],
    ["folder", 7],
    ["tags", "one,two"],
    ["tags", [1]],
    ["tags", ["a,b"]],
    ["tags", ["x".repeat(65)]],
    ["tags", Array.from({ length: 51 }, (_, index) => `t${index}`)],
    ["isPublic", "true"],
    ["isPublic", 1],
    ["metadata", []],
    ["metadata", { a: 1 }],
    ["metadata", { a: { b: "c" } }],
    ["metadata", { a: "x".repeat(65_537) }],
    ["metadata", "text"],
    ["description", 7],
  ])("refuses %s = %p and changes nothing", async (name, value) => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const before = (await client.get(`/api/files/${id}`)).json;
    const response = await client.put(`/api/files/${id}`, {
      [name]: value,
      ...(name === "tags" ? {} : { tags: ["new"] }),
    });
    expectError(response, 400);
    expect(["invalid_field", "invalid_path"]).toContain(String(response.at("error.details.reason")));
    expect((await client.get(`/api/files/${id}`)).json).toEqual(before);
  });

  test("merges metadata; null removes a key", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    await client.put(`/api/files/${id}`, { metadata: { a: "1", b: "2" }, description: "d" });
    const response = await client.put(`/api/files/${id}`, { metadata: { b: null, c: "3" } });
    expectStatus(response, 200);
    expect(response.at("data.metadata")).toEqual({ a: "1", c: "3", description: "d" });
    const third = await client.put(`/api/files/${id}`, { metadata: { description: "by metadata", missing: null } });
    expect(third.at("data.metadata")).toEqual({ a: "1", c: "3", description: "by metadata" });
  });

  test("stores metadata keys that JavaScript objects already have", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    const body = '{"metadata":{"__proto__":"p","constructor":"c","toString":"t"}}';
    const response = await client.request("PUT", `/api/files/${id}`, {
      body,
      headers: { "content-type": "application/json" },
    });
    expectStatus(response, 200);
    expect((await client.get(`/api/files/${id}`)).at("data.metadata")).toMatchObject({
      constructor: "c",
      toString: "t",
    });
  });

  test.each([[5], [true], [["x"]], [{ a: "1" }]])(
    "rejects the metadata value %p, also under a key with a line break",
    async (value) => {
      // Keys with a line break were not checked once, and a number under such a key caused a 500.
      const { client } = await server().signUp();
      const id = await client.storedId("x");
      for (const key of ["a", "a\nb", "\n", "a\r\n"])
        expectError(await client.put(`/api/files/${id}`, { metadata: { [key]: value } }), 400, "invalid_field");
      expect((await client.get(`/api/files/${id}`)).at("data.metadata")).toEqual({});
    },
  );

  test("replaces tags, trimmed and unique regardless of case", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { fields: { tags: "old" } });
    const response = await client.put(`/api/files/${id}`, { tags: ["  new  ", "b"] });
    expect(response.at("data.tags")).toEqual(["new", "b"]);
    expect((await client.put(`/api/files/${id}`, { tags: [] })).at("data.tags")).toEqual([]);
  });

  test("with a taken name is 409 name_taken, and nothing changes", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    await client.stored("y", { name: "b.txt" });
    await client.stored("z", { name: "a.txt", fields: { folder: "/other" } });
    await client.folderId("folder");
    expectError(await client.put(`/api/files/${id}`, { name: "b.txt", tags: ["new"] }), 409, "name_taken");
    expectError(await client.put(`/api/files/${id}`, { name: "folder" }), 409, "name_taken");
    expectError(await client.put(`/api/files/${id}`, { folder: "/other" }), 409, "name_taken");
    expect((await client.get(`/api/files/${id}`)).json).toMatchObject({
      data: { name: "a.txt", folder: "/", tags: [] },
    });
    expectStatus(await client.put(`/api/files/${id}`, { name: "a.txt" }), 200);
    expectStatus(await client.put(`/api/files/${id}`, { name: "A.txt" }), 200);
  });

  test("with one new name for several files at once succeeds once", async () => {
    const { client } = await server().signUp();
    const ids = await Promise.all(Array.from({ length: 6 }, (_, index) => client.storedId("x", { name: `${index}` })));
    const responses = await Promise.all(ids.map((id) => client.put(`/api/files/${id}`, { name: "wanted" })));
    expect(sortedStatuses(responses)).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await client.names()).filter((name) => name === "wanted")).toHaveLength(1);
  });

  test("with a file as the folder is rejected", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    await client.stored("y", { name: "b.txt" });
    expectError(await client.put(`/api/files/${id}`, { folder: "/b.txt" }), 400, "not_a_folder");
    expectError(await client.put(`/api/files/${id}`, { folder: "/b.txt/deep" }), 400, "not_a_folder");
    expect(await client.names()).toEqual(["a.txt", "b.txt"]);
  });

  test("supports If-Match with the content's ETag", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const stale = await client.put(`/api/files/${id}`, { name: "b.txt" }, { "if-match": '"stale"' });
    expectError(stale, 412, "precondition_failed");
    expect(await client.names()).toEqual(["a.txt"]);
    expectStatus(await client.put(`/api/files/${id}`, { name: "b.txt" }, { "if-match": `"${digestOf("x")}"` }), 200);
    expectStatus(await client.put(`/api/files/${id}`, { name: "c.txt" }, { "if-match": "*" }), 200);
  });
});

describe("DELETE /api/files/{id}", () => {
  test("returns success, message, id, name and deletedAt, and the file is gone everywhere", async () => {
    const { client } = await server().signUp();
    const content = randomContent(1000);
    const id = await client.storedId(content, {
      name: "gone.bin",
      fields: { tags: "t", isPublic: "true", folder: "/f" },
    });
    const link = new URL((await client.get(`/api/files/${id}`)).string("data.shareLink")).pathname;
    const response = await client.delete(`/api/files/${id}`);
    expectStatus(response, 200);
    expect(response.json).toMatchObject({ success: true, data: { id, name: "gone.bin" } });
    expect(response.string("message")).not.toBe("");
    expect(response.string("data.deletedAt")).toMatch(timestampPattern);
    for (const path of ["", "/download", "/checksum"]) expectError(await client.get(`/api/files/${id}${path}`), 404);
    expectError(await client.put(`/api/files/${id}`, { name: "x" }), 404);
    expectError(await client.putContent(id, "x"), 404);
    expectError(await client.delete(`/api/files/${id}`), 404);
    expect(await client.names("/f")).toEqual([]);
    expect(await client.names("/", "&search=gone")).toEqual([]);
    expect(await client.names("/", "&tags=t")).toEqual([]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ used: 0, files: 0 });
    expectStatus(await server().visitor.get(`${link}/download`), 404);
    expectStatus(await server().visitor.get(link), 404);
    const stored = await client.stored("y", { name: "gone.bin", fields: { folder: "/f", onConflict: "error" } });
    expect(stored.string("data.id")).not.toBe(id);
  });

  test("by concurrent requests deletes once", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    const responses = await Promise.all(Array.from({ length: 5 }, () => client.delete(`/api/files/${id}`)));
    expect(sortedStatuses(responses)).toEqual([200, 404, 404, 404, 404]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ used: 0, files: 0 });
  });

  test("keeps a copy with the same content", async () => {
    const { client } = await server().signUp();
    const content = randomContent(3000);
    const [a, b] = [await client.storedId(content, { name: "a" }), await client.storedId(content, { name: "b" })];
    await client.delete(`/api/files/${a}`);
    expect(digestOf((await client.get(`/api/files/${b}/download`)).bytes)).toBe(digestOf(content));
  });
});

describe("PUT /api/files/{id}/content", () => {
  test("stores a new version under the same id and name", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("old", {
      name: "a.txt",
      fields: { tags: "t", description: "d", isPublic: "true" },
    });
    const link = (await client.get(`/api/files/${id}`)).string("data.shareLink");
    const response = await client.putContent(id, "new content");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: { id, name: "a.txt", size: 11, version: 2, checksum: checksumOf("new content") },
    });
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("new content");
    expect((await client.get(`/api/files/${id}`)).json).toMatchObject({
      data: { name: "a.txt", tags: ["t"], metadata: { description: "d" }, isPublic: true, shareLink: link },
    });
    expect(await client.names()).toEqual(["a.txt"]);
    const third = await client.putContent(id, "");
    expect(third.json).toMatchObject({ data: { size: 0, version: 3 } });
  });

  test.each(["text/plain", "application/json", "image/png", "multipart/form-data; boundary=x", "nonsense"])(
    "accepts a raw body of type %s",
    async (type) => {
      const { client } = await server().signUp();
      const id = await client.storedId("old");
      expectStatus(await client.putContent(id, '{"not": "parsed', { "content-type": type }), 200);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe('{"not": "parsed');
    },
  );

  test("accepts a body without a content type", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("old");
    const content = randomContent(200_000);
    const response = await client.request("PUT", `/api/files/${id}/content`, { body: content });
    expectStatus(response, 200);
    expect(response.at("data.checksum")).toBe(checksumOf(content));
  });

  test("supports If-Match: of several concurrent requests with the same ETag, one succeeds", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("base");
    const etag = (await client.head(`/api/files/${id}/download`)).header("etag");
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => client.putContent(id, `try ${index}`, { "if-match": etag })),
    );
    expect(sortedStatuses(responses)).toEqual([200, 412, 412, 412, 412]);
    const winner = responses.findIndex((response) => response.status === 200);
    expect((await client.get(`/api/files/${id}/download`)).text).toBe(`try ${winner}`);
    expectError(await client.putContent(id, "late", { "if-match": etag }), 412, "precondition_failed");
    expect((await client.get(`/api/files/${id}`)).at("data.size")).toBe(5);
  });

  test("changes modifiedAt, but not createdAt", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("one");
    const before = await client.get(`/api/files/${id}`);
    await client.putContent(id, "two");
    const after = await client.get(`/api/files/${id}`);
    expect(after.at("data.createdAt")).toBe(before.at("data.createdAt"));
    expect(Date.parse(after.string("data.modifiedAt"))).toBeGreaterThan(Date.parse(before.string("data.modifiedAt")));
  });

  test("with an unknown or malformed id is 404", async () => {
    const { client } = await server().signUp();
    expectError(await client.putContent("file_00000000000000000000", "x"), 404);
    expectError(await client.putContent("nothing", "x"), 404);
  });
});

describe("GET /api/files/{id}/checksum", () => {
  test("reads the content again", async () => {
    const { client } = await server().signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content);
    const response = await client.get(`/api/files/${id}/checksum`);
    expectStatus(response, 200);
    const checksum = checksumOf(content);
    expect(response.json).toMatchObject({ success: true, data: { stored: checksum, actual: checksum, ok: true } });
  });
});

testAllResponses(server);
