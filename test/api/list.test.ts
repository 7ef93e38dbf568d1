import { describe, expect, test } from "bun:test";
import { type Client, checksumOf } from "../support/client.ts";
import { expectClientError, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Uploads small files by path, which determines the folder and the content. */
async function fill(client: Client, paths: string[]): Promise<void> {
  for (const path of paths) {
    const cut = path.lastIndexOf("/");
    await client.stored(path, { name: path.slice(cut + 1), fields: { folder: path.slice(0, cut) || "/" } });
  }
}

describe("GET /api/files", () => {
  test("of a new account is empty", async () => {
    const { client } = await server().signUp();
    const response = await client.get("/api/files");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({
      success: true,
      data: {
        files: [],
        pagination: { page: 1, limit: 20, total: 0, hasNext: false, hasPrev: false },
        currentFolder: { path: "/", name: "/", parent: "/" },
      },
    });
  });

  test("lists folders and files, each with its fields", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/docs/a.txt", "/docs/deep/b.txt"]);
    const uploaded = await client.stored("hello", { name: "top.txt", fields: { tags: "x", description: "d" } });
    const response = await client.get("/api/files");
    const id = uploaded.string("data.id");
    const stamp = expect.stringMatching(timestampPattern);
    expect(response.list("data.files")).toEqual([
      expect.objectContaining({
        id: expect.stringMatching(/^fold_/),
        name: "docs",
        type: "folder",
        folder: "/",
        itemCount: 2,
        createdAt: stamp,
        modifiedAt: stamp,
      }),
      expect.objectContaining({
        id,
        name: "top.txt",
        type: "file",
        mimeType: expect.stringMatching(/^text\/plain/),
        size: 5,
        folder: "/",
        url: `${server().url}/api/files/${id}/download`,
        thumbnailUrl: `${server().url}/api/files/${id}/download?thumbnail=true`,
        createdAt: stamp,
        modifiedAt: stamp,
        isPublic: false,
        tags: ["x"],
        metadata: { description: "d" },
        checksum: checksumOf("hello"),
        version: 1,
      }),
    ]);
  });

  test("lists one level of a folder and returns its path", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/docs/a.txt", "/docs/deep/b.txt", "/other/c.txt"]);
    const response = await client.get("/api/files?folder=/docs");
    expect(response.strings("data.files", "name")).toEqual(["deep", "a.txt"]);
    expect(response.at("data.currentFolder")).toEqual({ path: "/docs", name: "docs", parent: "/" });
    const deep = await client.get("/api/files?folder=/docs/deep/");
    expect(deep.at("data.currentFolder")).toEqual({ path: "/docs/deep", name: "deep", parent: "/docs" });
    expect(deep.strings("data.files", "folder")).toEqual(["/docs/deep"]);
  });

  test("is 404 for an unknown folder and for another user's", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    await fill(a.client, ["/secret/a.txt"]);
    expectError(await a.client.get("/api/files?folder=/nowhere"), 404);
    expectError(await a.client.get("/api/files?folder=/Secret"), 404);
    expectError(await b.client.get("/api/files?folder=/secret"), 404);
    expect(await b.client.names()).toEqual([]);
  });

  test("rejects a file as a folder", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/a.txt"]);
    expectClientError(await client.get("/api/files?folder=/a.txt"));
  });
});

describe("sorting", () => {
  test("is by name regardless of case, then by code point, folders first", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/b", "/B", "/a", "/A", "/10", "/9", "/Zoo/x", "/apple/x", "/ä", "/Ä", "/z"]);
    expect(await client.names()).toEqual(["apple", "Zoo", "10", "9", "A", "a", "B", "b", "z", "Ä", "ä"]);
    expect(await client.names("/", "&sort=name&order=asc")).toEqual(await client.names());
    const descending = ["Zoo", "apple", "ä", "Ä", "z", "b", "B", "a", "A", "9", "10"];
    expect(await client.names("/", "&order=desc")).toEqual(descending);
  });

  test("is by size, createdAt or modifiedAt, in both directions", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (const [name, size] of [
      ["medium", 20],
      ["large", 300],
      ["small", 1],
    ] as const)
      ids.push(await client.storedId("x".repeat(size), { name }));
    expect(await client.names("/", "&sort=size")).toEqual(["small", "medium", "large"]);
    expect(await client.names("/", "&sort=size&order=desc")).toEqual(["large", "medium", "small"]);
    expect(await client.names("/", "&sort=createdAt")).toEqual(["medium", "large", "small"]);
    expect(await client.names("/", "&sort=createdAt&order=desc")).toEqual(["small", "large", "medium"]);
    await client.put(`/api/files/${ids[0]}`, { description: "touched" });
    expect((await client.names("/", "&sort=modifiedAt")).at(-1)).toBe("medium");
    expect((await client.names("/", "&sort=modifiedAt&order=desc"))[0]).toBe("medium");
  });

  test("is by the date of the file itself, and by that of its content if none was sent", async () => {
    const { client } = await server().signUp();
    const dates = { old: "2001-02-03T04:05:06Z", east: "2020-01-01T01:00:00+02:00", west: "2019-12-31T22:59:59-01:00" };
    await client.stored("x", { name: "none" });
    for (const [name, fileModifiedAt] of Object.entries(dates)) {
      await client.stored("x", { name, fields: { fileModifiedAt } });
    }
    await client.folderId("folder");
    expect(await client.names("/", "&sort=fileModifiedAt")).toEqual(["folder", "old", "east", "west", "none"]);
    const newestFirst = await client.names("/", "&sort=fileModifiedAt&order=desc&type=file");
    expect(newestFirst).toEqual(["none", "west", "east", "old"]);
  });

  test("in the natural order, numbers count by value, and accents and case do not count", async () => {
    const { client } = await server().signUp();
    const names = ["a2", "A10", "á9", "b", "IMG_0009.jpg", "img_10.jpg", "note 1", "note 2", "note 10", "Ö 1", "p"];
    await fill(
      client,
      ["s100", "s10", "s1"].map((folder) => `/n/${folder}/x`),
    );
    await fill(
      client,
      names.toReversed().map((name) => `/n/${name}`),
    );
    const folders = ["s1", "s10", "s100"];
    expect(await client.names("/n", "&sort=natural&limit=100")).toEqual([
      ...folders,
      "a2",
      "á9",
      "A10",
      ...names.slice(3),
    ]);
    expect(await client.names("/n", "&sort=natural&order=desc&type=folder")).toEqual(folders.toReversed());
    expect(await client.names("/", "&sort=natural&recursive=true&search=1&limit=100")).toEqual([
      ...folders,
      "A10",
      "img_10.jpg",
      "note 1",
      "note 10",
      "Ö 1",
    ]);
    expect(await client.names("/", "&sort=natural&order=desc&recursive=true&search=note")).toEqual([
      "note 10",
      "note 2",
      "note 1",
    ]);
  });

  test("breaks ties by id in the direction of the sort", async () => {
    const { client } = await server().signUp();
    for (let index = 0; index < 12; index++)
      await client.stored(`${index}`.padStart(3), { name: `n${(index * 7) % 12}` });
    const ids = async (order: string) =>
      (await client.get(`/api/files?sort=size&order=${order}`)).strings("data.files", "id");
    const ascending = await ids("asc");
    expect(ascending).toEqual([...ascending].sort());
    expect(await ids("desc")).toEqual([...ascending].reverse());
  });

  test("finds the page around an item, in every sort and direction", async () => {
    const { client } = await server().signUp();
    for (const name of ["f1", "f2"]) await client.folderId(name);
    for (let index = 0; index < 9; index++) await client.stored("x".repeat((index * 4) % 9), { name: `n${index}` });
    for (const query of [
      "",
      "&sort=natural&order=desc",
      "&sort=size&order=desc",
      "&sort=createdAt&order=desc&type=file",
      "&type=folder",
    ]) {
      const all = (await client.get(`/api/files?limit=100${query}`)).strings("data.files", "id");
      for (const [position, id] of all.entries()) {
        const response = await client.get(`/api/files?limit=2&around=${id}${query}`);
        expect(response.number("data.pagination.page")).toBe(Math.floor(position / 2) + 1);
        expect(response.strings("data.files", "id")).toContain(id);
      }
    }
    const [folder = "", , file = ""] = (await client.get("/api/files?limit=100")).strings("data.files", "id");
    expectError(await client.get(`/api/files?around=${folder}&type=file`), 404);
    expectError(await client.get(`/api/files?around=${file}&folder=/f1`), 404);
    expectError(await (await server().signUp()).client.get(`/api/files?around=${file}`), 404);
    expectClientError(await client.get(`/api/files?around=${file}&search=n`));
  });

  test("puts folders first in every sort and direction", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/m", "/folder/x", "/a", "/zfolder/x"]);
    for (const sort of ["name", "natural", "size", "createdAt", "modifiedAt", "fileModifiedAt"])
      for (const order of ["asc", "desc"]) {
        const response = await client.get(`/api/files?sort=${sort}&order=${order}`);
        expect(response.strings("data.files", "type")).toEqual(["folder", "folder", "file", "file"]);
      }
  });

  test.each(["sort=type", "sort=NAME", "sort=id;--", "order=up", "order=ASC"])("rejects %p", async (query) => {
    const { client } = await server().signUp();
    expectError(await client.get(`/api/files?${query}`), 400, "invalid_field", query.split("=")[0]);
  });
});

describe("pages", () => {
  test("add up to the whole without gaps or repeats, in every sort", async () => {
    const { client } = await server().signUp();
    await Promise.all(
      Array.from({ length: 43 }, (_, index) => client.stored("x".repeat(index % 5), { name: `f${index}` })),
    );
    for (let index = 0; index < 7; index++) await client.folderId(`d${index}`);
    for (const sort of ["name", "natural", "size", "createdAt", "modifiedAt", "fileModifiedAt"])
      for (const order of ["asc", "desc"]) {
        const whole = (await client.get(`/api/files?limit=100&sort=${sort}&order=${order}`)).strings(
          "data.files",
          "id",
        );
        const paged: string[] = [];
        for (let page = 1; page <= 5; page++) {
          const response = await client.get(`/api/files?limit=11&page=${page}&sort=${sort}&order=${order}`);
          expect(response.at("data.pagination")).toEqual({
            page,
            limit: 11,
            total: 50,
            totalPages: 5,
            hasNext: page < 5,
            hasPrev: page > 1,
          });
          paged.push(...response.strings("data.files", "id"));
        }
        expect(new Set(paged).size).toBe(50);
        expect(paged).toEqual(whole);
      }
  });

  test("are 20 long by default", async () => {
    const { client } = await server().signUp();
    await Promise.all(Array.from({ length: 21 }, (_, index) => client.stored("x", { name: `f${index}` })));
    const response = await client.get("/api/files");
    expect(response.list("data.files")).toHaveLength(20);
    expect(response.at("data.pagination")).toMatchObject({ limit: 20, total: 21, totalPages: 2, hasNext: true });
  });

  test("beyond the last are empty", async () => {
    const { client } = await server().signUp();
    await client.stored("x");
    for (const page of [2, 1000, 1_000_000]) {
      const response = await client.get(`/api/files?page=${page}`);
      expectStatus(response, 200);
      expect(response.json).toMatchObject({ data: { files: [], pagination: { page, total: 1, hasNext: false } } });
    }
  });

  test.each([
    ["limit", "101"],
    ["limit", "0"],
    ["limit", "-1"],
    ["limit", "1.5"],
    ["limit", "ten"],
    ["limit", "1e1"],
    ["limit", "0x10"],
    ["limit", "NaN"],
    ["page", "0"],
    ["page", "-1"],
    ["page", "1.5"],
    ["page", "one"],
    ["page", "99999999999999999999999"],
  ])("reject %s=%s", async (name, value) => {
    const { client } = await server().signUp();
    expectError(await client.get(`/api/files?${name}=${value}`), 400, "invalid_field", name);
  });

  test("accept limits of 1 and 100", async () => {
    const { client } = await server().signUp();
    expectStatus(await client.get("/api/files?limit=1"), 200);
    expectStatus(await client.get("/api/files?limit=100&page=1"), 200);
  });
});

describe("filters", () => {
  test("type selects files or folders", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/f/x", "/a", "/b"]);
    expect(await client.names("/", "&type=file")).toEqual(["a", "b"]);
    expect(await client.names("/", "&type=folder")).toEqual(["f"]);
    expect((await client.get("/api/files?type=file")).number("data.pagination.total")).toBe(2);
    expectError(await client.get("/api/files?type=link"), 400, "invalid_field", "type");
  });

  test("mimeType matches one type or a whole family", async () => {
    const { client } = await server().signUp();
    await client.stored(tinyPng(), { name: "p.png" });
    await client.stored("words", { name: "t.txt", type: "text/plain" });
    await client.stored("a,b", { name: "t.csv", type: "text/csv" });
    expect(await client.names("/", "&type=file&mimeType=image/*")).toEqual(["p.png"]);
    expect(await client.names("/", "&type=file&mimeType=image/png")).toEqual(["p.png"]);
    expect(await client.names("/", "&type=file&mimeType=text/*")).toEqual(["t.csv", "t.txt"]);
    expect(await client.names("/", "&type=file&mimeType=text/csv")).toEqual(["t.csv"]);
    expect(await client.names("/", "&type=file&mimeType=video/*")).toEqual([]);
  });

  test("tags match all of them, or any with tagMode=any, in the whole subtree", async () => {
    const { client } = await server().signUp();
    await client.stored("1", { name: "1", fields: { tags: "red,blue" } });
    await client.stored("2", { name: "2", fields: { tags: "red" } });
    await client.stored("3", { name: "3", fields: { tags: "Blue", folder: "/deep/down" } });
    await client.stored("4", { name: "4" });
    expect(await client.names("/", "&tags=red,blue")).toEqual(["1"]);
    expect(await client.names("/", "&tags=red")).toEqual(["1", "2"]);
    expect(await client.names("/", "&tags=red,blue&tagMode=any")).toEqual(["1", "2", "3"]);
    expect(await client.names("/", "&tags=red,blue&tagMode=all")).toEqual(["1"]);
    expect(await client.names("/", "&tags=blue&recursive=false")).toEqual(["1"]);
    expect(await client.names("/deep", "&tags=blue")).toEqual(["3"]);
    expect(await client.names("/", "&tags=green")).toEqual([]);
    expectError(await client.get("/api/files?tags=red&tagMode=some"), 400, "invalid_field", "tagMode");
  });

  test("recursive lists the whole subtree", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/a", "/d/b", "/d/e/c", "/other/z"]);
    expect(await client.names("/d", "&recursive=true")).toEqual(["e", "b", "c"]);
    expect(await client.names("/d", "&recursive=true&type=file")).toEqual(["b", "c"]);
    expect(await client.names("/d", "&recursive")).toEqual(["e", "b", "c"]);
    expect(await client.names("/d", "&recursive=0")).toEqual(["e", "b"]);
    const folders = await client.get("/api/files?folder=/d&recursive=1&type=file");
    expect(folders.strings("data.files", "folder")).toEqual(["/d", "/d/e"]);
    expectError(await client.get("/api/files?recursive=maybe"), 400, "invalid_field", "recursive");
  });

  test("combine", async () => {
    const { client } = await server().signUp();
    await client.stored(tinyPng(), { name: "red photo.png", fields: { tags: "t", folder: "/x" } });
    await client.stored("w", { name: "red note.txt", fields: { tags: "t", folder: "/x" } });
    await client.stored(tinyPng(3, 3), { name: "red other.png", fields: { folder: "/x" } });
    expect(await client.names("/", "&search=red&tags=t&mimeType=image/*&type=file")).toEqual(["red photo.png"]);
  });
});

describe("search", () => {
  test("finds file and folder names below the folder by a part, regardless of case", async () => {
    const { client } = await server().signUp();
    await fill(client, ["/Report.txt", "/a/my report 2.txt", "/a/REPORTS/x.txt", "/b/other.txt"]);
    expect(await client.names("/", "&search=report")).toEqual(["REPORTS", "my report 2.txt", "Report.txt"]);
    expect(await client.names("/a", "&search=EPORT")).toEqual(["REPORTS", "my report 2.txt"]);
    expect(await client.names("/", "&search=report&recursive=false")).toEqual(["Report.txt"]);
    expect(await client.names("/", "&search=nothing-like-it")).toEqual([]);
    const found = await client.get("/api/files?search=report&limit=1");
    expect(found.at("data.pagination")).toMatchObject({ total: 3, totalPages: 3, hasNext: true });
    expect((await client.get("/api/files?search=my%20report")).strings("data.files", "folder")).toEqual(["/a"]);
  });

  test.each([
    ["ÄRGER", "ärger.txt"],
    ["ärger", "ÄRGER.TXT"],
    ["a\u0308rger", "ärger.txt"],
    ["МОСКВА", "москва.txt"],
    ["σ", "ΟΔΟΣ"],
    ["東京", "旅行 東京 2024.txt"],
    ["🎉", "party 🎉.txt"],
    ["שלום", "שלום עולם.txt"],
    ["x", "x"],
    ["xy", "axyb"],
  ])("%p finds %p", async (query, name) => {
    const { client } = await server().signUp();
    await fill(client, [`/deep/${name}`, "/decoy.pdf"]);
    const found = await client.names("/", `&type=file&search=${encodeURIComponent(query)}`);
    expect(found).toEqual([name.normalize("NFC")]);
  });

  test.each(["%", "_", "*", "'", '"', "a%b", "\\", "()", "AND", "-", "^", "a b"])(
    "treats %p as plain text",
    async (text) => {
      const { client } = await server().signUp();
      const name = `before${text === "\\" ? "" : text}after`;
      await fill(client, [`/${name}`, "/decoy"]);
      const found = await client.names("/", `&search=${encodeURIComponent(text)}`);
      expect(found).toEqual(text === "\\" ? [] : [name]);
    },
  );

  test("shows no files of another user", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    await fill(a.client, ["/needle.txt"]);
    expect(await b.client.names("/", "&search=needle")).toEqual([]);
    expect(await a.client.names("/", "&search=needle")).toEqual(["needle.txt"]);
  });

  test("follows a rename, a move and a deletion at once", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "needle.txt" });
    await client.put(`/api/files/${id}`, { name: "thread.txt", folder: "/box" });
    expect(await client.names("/", "&search=needle")).toEqual([]);
    expect(await client.names("/", "&search=thread")).toEqual(["thread.txt"]);
    expect(await client.names("/box", "&search=thread")).toEqual(["thread.txt"]);
    await client.delete(`/api/files/${id}`);
    expect(await client.names("/", "&search=thread")).toEqual([]);
  });

  test("sorts and pages its results", async () => {
    const { client } = await server().signUp();
    await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        client.stored("x".repeat(index + 1), { name: `hit ${index}`, fields: { folder: `/d${index % 3}` } }),
      ),
    );
    const sizes: unknown[] = [];
    for (const page of [1, 2, 3]) {
      const response = await client.get(`/api/files?search=hit&sort=size&order=desc&limit=10&page=${page}`);
      for (const item of response.list("data.files")) sizes.push(Reflect.get(Object(item), "size"));
    }
    expect(sizes).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index));
  });
});

testAllResponses(server);
