import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

/** The folders of a listing as "name size". */
async function sizes(client: Client, query = ""): Promise<string[]> {
  const response = await client.get(`/api/files?type=folder&${query}`);
  expectStatus(response, 200);
  return response.list("data.files").map((folder) => {
    const { name, size } = folder as { name: string; size: unknown };
    return `${name} ${String(size)}`;
  });
}

test("the size of a folder is that of all files below it, at once after each change", async () => {
  const { client } = await server().signUp();
  const deep = await client.folderId("c", "/a/b");
  expect(await sizes(client)).toEqual(["a 0"]);
  const file = await client.storedId("12345", { name: "x.txt", fields: { folder: "/a/b/c" } });
  await client.storedId("123", { name: "y.txt", fields: { folder: "/a" } });
  expect(await sizes(client)).toEqual(["a 8"]);
  expect(await sizes(client, "folder=/a/b")).toEqual(["c 5"]);
  await client.putContent(file, "1234567");
  expect(await sizes(client)).toEqual(["a 10"]);
  expect((await client.get(`/api/files/folders/${deep}`)).at("data.size")).toBe(7);
  // What is in the trash is not in the folder.
  await client.post("/api/files/trash", { fileIds: [deep] });
  expect(await sizes(client)).toEqual(["a 3"]);
  await client.post("/api/files/trash/restore", { fileIds: [deep] });
  expect(await sizes(client)).toEqual(["a 10"]);
  await client.post("/api/files/move", { fileIds: [deep], destinationFolder: "/" });
  expect(await sizes(client)).toEqual(["a 3", "c 7"]);
  await client.post("/api/files/copy", { fileIds: [deep], destinationFolder: "/a" });
  expect(await sizes(client)).toEqual(["a 10", "c 7"]);
  await client.delete(`/api/files/${file}`);
  expect(await sizes(client)).toEqual(["a 10", "c 0"]);
});

test("the sort by size orders folders by what is in them, on every page", async () => {
  const { client } = await server().signUp();
  const bytes: [string, number][] = [
    ["small", 1],
    ["large", 9],
    ["empty", 0],
    ["middle", 5],
  ];
  for (const [name, count] of bytes) {
    await client.folderId(name);
    if (count > 0) await client.storedId("x".repeat(count), { name: "x", fields: { folder: `/${name}` } });
  }
  await client.storedId("xxx", { name: "file.txt" });
  const ascending = ["empty 0", "small 1", "middle 5", "large 9"];
  expect(await sizes(client, "sort=size")).toEqual(ascending);
  expect(await sizes(client, "sort=size&order=desc")).toEqual(ascending.toReversed());
  const pages = [await sizes(client, "sort=size&limit=3"), await sizes(client, "sort=size&limit=3&page=2")];
  expect(pages.flat()).toEqual(ascending);
  const all = await client.get("/api/files?sort=size&order=desc");
  expect(all.strings("data.files", "name")).toEqual(["large", "middle", "small", "empty", "file.txt"]);
  const [, , last = ""] = all.strings("data.files", "id");
  const around = await client.get(`/api/files?sort=size&order=desc&limit=1&around=${last}`);
  expect([around.at("data.files.0.name"), around.at("data.pagination.page")]).toEqual(["small", 3]);
});

test("recipients see the size of what is shared with them, and nothing of the rest", async () => {
  const owner = await server().signUp();
  const reader = await server().signUp();
  const shared = await owner.client.folderId("shared", "/private");
  await owner.client.folderId("inside", "/private/shared");
  await owner.client.storedId("12", { name: "x", fields: { folder: "/private/shared/inside" } });
  await owner.client.storedId("1234567", { name: "secret", fields: { folder: "/private" } });
  const share = await shareWith(owner.client, shared, reader);
  expect(await sizes(reader.client, `share=${share}`)).toEqual(["inside 2"]);
  expect((await reader.client.get(`/api/files/folders/${shared}`)).at("data.size")).toBe(2);
  expect(await sizes(reader.client)).toEqual([]);
});

testAllResponses(server);
