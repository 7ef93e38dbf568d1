import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function changeTags(client: Client, fileIds: string[], body: Record<string, unknown>): Promise<ApiResponse> {
  return client.post("/api/files/tags", { fileIds, ...body });
}

async function readTags(client: Client, id: string): Promise<unknown> {
  return (await client.get(`/api/files/${id}`)).at("data.tags");
}

/** Lists `tag×count`, in the order of the response. */
async function listCounts(client: Client): Promise<string[]> {
  const response = await client.get("/api/files/tags");
  expectStatus(response, 200);
  const tags = response.strings("data.tags", "tag");
  return tags.map((tag, index) => `${tag}×${response.number(`data.tags.${index}.count`)}`);
}

describe("GET /api/files/tags", () => {
  test("lists the account's tags, most used first, then by name", async () => {
    const { client } = await server().signUp();
    expect(await listCounts(client)).toEqual([]);
    await client.stored("1", { fields: { tags: "beach,holiday" } });
    await client.stored("2", { fields: { tags: "Holiday,art" } });
    expect(await listCounts(client)).toEqual(["holiday×2", "art×1", "beach×1"]);
  });

  test("lists no tags of other accounts", async () => {
    const { client } = await server().signUp();
    await client.stored("1", { fields: { tags: "secret" } });
    expect(await listCounts((await server().signUp()).client)).toEqual([]);
  });

  test("omits a tag once its last file is deleted", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1", { fields: { tags: "once" } });
    await client.delete(`/api/files/${id}`);
    expect(await listCounts(client)).toEqual([]);
  });

  test("requires a token", async () => {
    expectError(await server().visitor.get("/api/files/tags"), 401);
    expectError(await server().visitor.post("/api/files/tags", { fileIds: ["file_1"], add: ["a"] }), 401);
  });
});

describe("POST /api/files/tags", () => {
  test("adds and removes tags, ignoring case, and returns the files", async () => {
    const { client } = await server().signUp();
    const first = await client.storedId("1", { name: "one.txt", fields: { tags: "Old,kept" } });
    const second = await client.storedId("2", { name: "two.txt" });
    const response = await changeTags(client, [first, second], { add: [" New ", "KEPT"], remove: ["old"] });
    expectStatus(response, 200);
    expect(response.strings("data.updated", "id")).toEqual([first, second]);
    expect(response.at("data.updated.0.tags")).toEqual(["kept", "New"]);
    expect(response.at("data.failed")).toEqual([]);
    expect(await readTags(client, second)).toEqual(["New", "KEPT"]);
    expect(await listCounts(client)).toEqual(["kept×2", "New×2"]);
  });

  test("without an effect leaves modifiedAt unchanged", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1", { fields: { tags: "a" } });
    const before = (await client.get(`/api/files/${id}`)).string("data.modifiedAt");
    expectStatus(await changeTags(client, [id], { add: ["A"], remove: ["b"] }), 200);
    expect((await client.get(`/api/files/${id}`)).string("data.modifiedAt")).toBe(before);
  });

  test("fails per file, and as a whole if all files fail", async () => {
    const { client } = await server().signUp();
    const other = await (await server().signUp()).client.storedId("theirs");
    const full = await client.storedId("1", {
      fields: { tags: Array.from({ length: 50 }, (_, index) => `t${index}`).join(",") },
    });
    const good = await client.storedId("2");
    const folder = await client.folderId("a folder");
    const response = await changeTags(client, [full, other, good, folder, "file_nothing"], { add: ["one more"] });
    expectStatus(response, 200);
    expect(response.strings("data.updated", "id")).toEqual([good]);
    expect(response.strings("data.failed", "id")).toEqual([full, other, folder, "file_nothing"]);
    expect(response.at("data.failed.0.error.details.reason")).toBe("invalid_field");
    for (const index of [1, 2, 3]) {
      expect(response.string(`data.failed.${index}.error.code`)).toBe("RESOURCE_NOT_FOUND");
    }
    expectError(await changeTags(client, [full], { add: ["one more"] }), 400, "invalid_field", "add");
    expectError(await changeTags(client, [other], { add: ["x"] }), 404, "not_found");
  });

  test("can replace a tag of a file that has the most allowed", async () => {
    const { client } = await server().signUp();
    const tags = Array.from({ length: 50 }, (_, index) => `t${index}`);
    const id = await client.storedId("1", { fields: { tags: tags.join(",") } });
    expectStatus(await changeTags(client, [id], { add: ["new"], remove: ["T7"] }), 200);
    expect(await readTags(client, id)).toEqual([...tags.filter((tag) => tag !== "t7"), "new"]);
  });

  test("rejects invalid tags, an empty change, a tag both added and removed, and too many files", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1");
    expectError(await changeTags(client, [id], {}), 400, "invalid_field", "add");
    expectError(await changeTags(client, [id], { add: [" "] }), 400, "invalid_field", "add");
    expectError(await changeTags(client, [id], { add: ["a,b"] }), 400, "invalid_field", "add");
    expectError(await changeTags(client, [id], { add: ["x".repeat(65)] }), 400, "invalid_field", "add");
    expectError(await changeTags(client, [id], { remove: ["x\u0007"] }), 400, "invalid_field", "remove");
    expectError(await changeTags(client, [id], { add: ["é"], remove: ["É"] }), 400, "invalid_field", "remove");
    expectError(await changeTags(client, [id], { add: [7] }), 400, "invalid_field");
    expectError(await changeTags(client, [], { add: ["a"] }), 400, "invalid_field", "fileIds");
    const many = Array.from({ length: 1001 }, () => id);
    expectError(await changeTags(client, many, { add: ["a"] }), 400, "invalid_field", "fileIds");
    expect(await readTags(client, id)).toEqual([]);
  });

  test("tags 300 files in one call, and the listing finds them", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("many");
    const one = await client.storedId("x", { fields: { folder: "/many" } });
    const ids = [one];
    for (let round = 0; ids.length < 300; round++) {
      const copied = await client.post("/api/files/copy", {
        fileIds: ids.slice(0, 300 - ids.length),
        destinationFolder: "/many",
      });
      ids.push(...copied.strings("data.copied", "id"));
    }
    expectStatus(await changeTags(client, ids, { add: ["all of them"] }), 200);
    expect(await listCounts(client)).toEqual(["all of them×300"]);
    const listed = await client.get(`/api/files?folder=/many&tags=${encodeURIComponent("ALL of them")}&limit=1`);
    expect(listed.number("data.pagination.total")).toBe(300);
    await client.delete(`/api/files/folders/${folder}?recursive=true`);
  });

  test("is closed to viewers", async () => {
    const { client } = await server().addUser(["--role", "viewer"]);
    expectError(await changeTags(client, ["file_1"], { add: ["a"] }), 403, "role");
    expectStatus(await client.get("/api/files/tags"), 200);
  });
});

testAllResponses(server);
