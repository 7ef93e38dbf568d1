import { describe, expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/laws.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function change(client: Client, fileIds: string[], body: Record<string, unknown>): Promise<ApiResponse> {
  return client.post("/api/files/tags", { fileIds, ...body });
}

async function tagsOf(client: Client, id: string): Promise<unknown> {
  return (await client.get(`/api/files/${id}`)).at("data.tags");
}

/** `tag×count` in the order of the list. */
async function counts(client: Client): Promise<string[]> {
  const response = await client.get("/api/files/tags");
  expectStatus(response, 200);
  const tags = response.strings("data.tags", "tag");
  return tags.map((tag, index) => `${tag}×${response.number(`data.tags.${index}.count`)}`);
}

describe("GET /api/files/tags", () => {
  test("lists the account's tags, most used first, then by name", async () => {
    const { client } = await server().signUp();
    expect(await counts(client)).toEqual([]);
    await client.stored("1", { fields: { tags: "beach,holiday" } });
    await client.stored("2", { fields: { tags: "Holiday,art" } });
    expect(await counts(client)).toEqual(["holiday×2", "art×1", "beach×1"]);
  });

  test("tells nothing of other accounts", async () => {
    const { client } = await server().signUp();
    await client.stored("1", { fields: { tags: "secret" } });
    expect(await counts((await server().signUp()).client)).toEqual([]);
  });

  test("forgets a tag with the last file that carried it", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1", { fields: { tags: "once" } });
    await client.delete(`/api/files/${id}`);
    expect(await counts(client)).toEqual([]);
  });

  test("needs a token", async () => {
    expectError(await server().visitor.get("/api/files/tags"), 401);
    expectError(await server().visitor.post("/api/files/tags", { fileIds: ["file_1"], add: ["a"] }), 401);
  });
});

describe("POST /api/files/tags", () => {
  test("adds and removes, upper and lower case alike, and answers the files", async () => {
    const { client } = await server().signUp();
    const first = await client.storedId("1", { name: "one.txt", fields: { tags: "Old,kept" } });
    const second = await client.storedId("2", { name: "two.txt" });
    const response = await change(client, [first, second], { add: [" New ", "KEPT"], remove: ["old"] });
    expectStatus(response, 200);
    expect(response.strings("data.updated", "id")).toEqual([first, second]);
    expect(response.at("data.updated.0.tags")).toEqual(["kept", "New"]);
    expect(response.at("data.failed")).toEqual([]);
    expect(await tagsOf(client, second)).toEqual(["New", "KEPT"]);
    expect(await counts(client)).toEqual(["kept×2", "New×2"]);
  });

  test("what changes nothing is no change", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1", { fields: { tags: "a" } });
    const before = (await client.get(`/api/files/${id}`)).string("data.modifiedAt");
    expectStatus(await change(client, [id], { add: ["A"], remove: ["b"] }), 200);
    expect((await client.get(`/api/files/${id}`)).string("data.modifiedAt")).toBe(before);
  });

  test("each file by itself; all failed fails the call", async () => {
    const { client } = await server().signUp();
    const other = await (await server().signUp()).client.storedId("theirs");
    const full = await client.storedId("1", {
      fields: { tags: Array.from({ length: 50 }, (_, index) => `t${index}`).join(",") },
    });
    const good = await client.storedId("2");
    const folder = await client.folderId("a folder");
    const response = await change(client, [full, other, good, folder, "file_nothing"], { add: ["one more"] });
    expectStatus(response, 200);
    expect(response.strings("data.updated", "id")).toEqual([good]);
    expect(response.strings("data.failed", "id")).toEqual([full, other, folder, "file_nothing"]);
    expect(response.at("data.failed.0.error.details.reason")).toBe("invalid_field");
    for (const index of [1, 2, 3]) {
      expect(response.string(`data.failed.${index}.error.code`)).toBe("RESOURCE_NOT_FOUND");
    }
    expectError(await change(client, [full], { add: ["one more"] }), 400, "invalid_field", "add");
    expectError(await change(client, [other], { add: ["x"] }), 404, "not_found");
  });

  test("a full file may swap one tag for another", async () => {
    const { client } = await server().signUp();
    const tags = Array.from({ length: 50 }, (_, index) => `t${index}`);
    const id = await client.storedId("1", { fields: { tags: tags.join(",") } });
    expectStatus(await change(client, [id], { add: ["new"], remove: ["T7"] }), 200);
    expect(await tagsOf(client, id)).toEqual([...tags.filter((tag) => tag !== "t7"), "new"]);
  });

  test("refuses what is no tag, none at all, one both ways, and too many files", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("1");
    expectError(await change(client, [id], {}), 400, "invalid_field", "add");
    expectError(await change(client, [id], { add: [" "] }), 400, "invalid_field", "add");
    expectError(await change(client, [id], { add: ["a,b"] }), 400, "invalid_field", "add");
    expectError(await change(client, [id], { add: ["x".repeat(65)] }), 400, "invalid_field", "add");
    expectError(await change(client, [id], { remove: ["x\u0007"] }), 400, "invalid_field", "remove");
    expectError(await change(client, [id], { add: ["é"], remove: ["É"] }), 400, "invalid_field", "remove");
    expectError(await change(client, [id], { add: [7] }), 400, "invalid_field");
    expectError(await change(client, [], { add: ["a"] }), 400, "invalid_field", "fileIds");
    const many = Array.from({ length: 1001 }, () => id);
    expectError(await change(client, many, { add: ["a"] }), 400, "invalid_field", "fileIds");
    expect(await tagsOf(client, id)).toEqual([]);
  });

  test("a thousand files in one call, and the listing finds them", async () => {
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
    expectStatus(await change(client, ids, { add: ["all of them"] }), 200);
    expect(await counts(client)).toEqual(["all of them×300"]);
    const listed = await client.get(`/api/files?folder=/many&tags=${encodeURIComponent("ALL of them")}&limit=1`);
    expect(listed.number("data.pagination.total")).toBe(300);
    await client.delete(`/api/files/folders/${folder}?recursive=true`);
  });

  test("a viewer can't", async () => {
    const { client } = await server().addUser(["--role", "viewer"]);
    expectError(await change(client, ["file_1"], { add: ["a"] }), 403, "role");
    expectStatus(await client.get("/api/files/tags"), 200);
  });
});

testAllResponses(server);
