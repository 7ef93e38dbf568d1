import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { ApiResponse, Client } from "../support/client.ts";
import { avoidMidnight, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function search(client: Client, q: string, more = ""): Promise<ApiResponse> {
  return client.get(`/api/files/search?q=${encodeURIComponent(q)}${more}`);
}

/** Names of the files that a search finds, in order. */
async function searchNames(client: Client, q: string, more = ""): Promise<string[]> {
  const response = await search(client, q, more);
  expectStatus(response, 200);
  return response.strings("data.files", "name");
}

async function store(client: Client, name: string, fields: Record<string, string> = {}): Promise<string> {
  return client.storedId(`content of ${name} ${crypto.randomUUID()}`, { name, fields });
}

describe("GET /api/files/search: words", () => {
  test("finds a file right after its upload, with the same record as the listing", async () => {
    const { client } = await server().signUp();
    // Without the word in its content, which may have been read already.
    const id = await client.storedId("some text", { name: "Beach house.txt" });
    const response = await search(client, "beach");
    expectStatus(response, 200);
    expect(response.strings("data.files", "id")).toEqual([id]);
    const listed = (await client.get("/api/files?search=beach")).at("data.files.0");
    expect(response.list("data.files")).toEqual([
      Object.assign({}, listed, { permission: "own", canManage: true, showsVersions: true }),
    ]);
    expect(response.at("data.pagination.total")).toBe(1);
    expect(response.at("data.totalIsLowerBound")).toBe(false);
    expect(response.at("data.isIndexing")).toBe(false);
    expect(response.at("data.query")).toEqual([{ key: "text", value: "beach", isPhrase: false, isExcluded: false }]);
  });

  test("requires all words, matches their beginnings and exact phrases, and excludes with a minus", async () => {
    const { client } = await server().signUp();
    await store(client, "red house.txt");
    await store(client, "house red.txt");
    await store(client, "redder housing.txt");
    expect((await searchNames(client, "red hous")).sort()).toEqual([
      "house red.txt",
      "red house.txt",
      "redder housing.txt",
    ]);
    expect((await searchNames(client, "red house")).sort()).toEqual(["house red.txt", "red house.txt"]);
    expect(await searchNames(client, '"red house"')).toEqual(["red house.txt"]);
    expect(await searchNames(client, '"red hous"')).toEqual([]);
    expect((await searchNames(client, "hous -housing")).sort()).toEqual(["house red.txt", "red house.txt"]);
    expect(await searchNames(client, '-"red house" -housing ext:txt')).toEqual(["house red.txt"]);
    expect(await searchNames(client, "house castle")).toEqual([]);
  });

  test("ignores case and accents, and finds words within scripts without spaces, and symbols", async () => {
    const { client } = await server().signUp();
    for (const name of [
      "Café Zürich.txt",
      "ПЛЯЖ летом.txt",
      "夏の海辺の写真.jpg",
      "데이터베이스.txt",
      "party 🎉🌊.txt",
    ])
      await store(client, name);
    expect(await searchNames(client, "cafe ZURICH")).toEqual(["Café Zürich.txt"]);
    expect(await searchNames(client, "cafe\u0301")).toEqual(["Café Zürich.txt"]);
    expect(await searchNames(client, "пляж")).toEqual(["ПЛЯЖ летом.txt"]);
    expect(await searchNames(client, "海辺")).toEqual(["夏の海辺の写真.jpg"]);
    expect(await searchNames(client, "辺海")).toEqual([]);
    expect(await searchNames(client, "데이터")).toEqual(["데이터베이스.txt"]);
    expect(await searchNames(client, "🌊")).toEqual(["party 🎉🌊.txt"]);
    expect(await searchNames(client, "ｐａｒｔｙ")).toEqual(["party 🎉🌊.txt"]);
  });

  test("ranks names before tags, the description and metadata, then the newest first", async () => {
    const { client } = await server().signUp();
    await store(client, "1.txt", { metadata: '{"place":"lagoon"}' });
    await store(client, "2.txt", { description: "by the lagoon" });
    await store(client, "3.txt", { tags: "lagoon" });
    await store(client, "4 lagoon.txt");
    await store(client, "5 lagoon.txt");
    expect(await searchNames(client, "lagoon")).toEqual(["5 lagoon.txt", "4 lagoon.txt", "3.txt", "2.txt", "1.txt"]);
    expect(await searchNames(client, "name:lagoon")).toEqual(["5 lagoon.txt", "4 lagoon.txt"]);
    expect(await searchNames(client, "lagoon", "&limit=2&page=2")).toEqual(["3.txt", "2.txt"]);
    expect(await searchNames(client, "lagoon", "&limit=2&page=9")).toEqual([]);
  });

  test("sorts by relevance, name, size and dates, with folders first, over pages", async () => {
    const { client } = await server().signUp();
    await client.folderId("hit 10");
    await client.folderId("hit 9");
    await store(client, "Hit 10.txt", { fileModifiedAt: "2001-01-01T00:00:00Z" });
    await client.storedId("x", { name: "hít 2.txt", fields: { fileModifiedAt: "2003-01-01T00:00:00Z" } });
    await client.storedId("xyz", {
      name: "other.txt",
      fields: { tags: "hit", fileModifiedAt: "2002-01-01T00:00:00Z" },
    });
    const folders = ["hit 9", "hit 10"];
    const newestFirst = ["hít 2.txt", "Hit 10.txt", "hit 9", "hit 10", "other.txt"];
    const orders: [query: string, names: string[]][] = [
      ["", newestFirst],
      ["&sort=relevance", newestFirst],
      ["&sort=natural", [...folders, "hít 2.txt", "Hit 10.txt", "other.txt"]],
      ["&sort=natural&order=desc", [...folders.toReversed(), "other.txt", "Hit 10.txt", "hít 2.txt"]],
      ["&sort=name", [...folders.toReversed(), "Hit 10.txt", "hít 2.txt", "other.txt"]],
      ["&sort=size", [...folders.toReversed(), "hít 2.txt", "other.txt", "Hit 10.txt"]],
      ["&sort=fileModifiedAt", [...folders.toReversed(), "Hit 10.txt", "other.txt", "hít 2.txt"]],
      ["&sort=createdAt&order=desc", [...folders, "other.txt", "hít 2.txt", "Hit 10.txt"]],
      ["&sort=modifiedAt", [...folders.toReversed(), "Hit 10.txt", "hít 2.txt", "other.txt"]],
    ];
    for (const [query, names] of orders) {
      const found = [];
      for (const page of [1, 2]) found.push(...(await searchNames(client, "hit", `${query}&limit=3&page=${page}`)));
      expect([query, ...found]).toEqual([query, ...names]);
    }
    const response = await search(client, "hit", "&sort=size&order=desc");
    expect([response.at("data.sort"), response.at("data.order")]).toEqual(["size", "desc"]);
    expectError(await search(client, "hit", "&sort=best"), 400, "invalid_field", "sort");
    expectError(await search(client, "hit", "&order=best"), 400, "invalid_field", "order");
  });

  test("finds folders, too", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("Lagoon trip");
    await client.stored("seven b", { name: "boats.txt", fields: { folder: "/Lagoon trip" } });
    const response = await search(client, "lagoon type:folder");
    expect(response.strings("data.files", "id")).toEqual([id]);
    expect(response.at("data.files.0")).toMatchObject({ type: "folder", size: 7 });
    expect(await searchNames(client, "lagoon -type:folder")).toEqual([]);
  });
});

describe("GET /api/files/search: filters", () => {
  test("type, tag, ext, is, in and folder", async () => {
    const { client } = await server().signUp();
    await client.folderId("photos");
    await store(client, "a.txt", { tags: "Summer Holiday", folder: "/photos" });
    await store(client, "b.md", { tags: "work", isPublic: "true", folder: "/photos/old" });
    await store(client, "c.pdf");
    expect(await searchNames(client, 'tag:"summer holiday"')).toEqual(["a.txt"]);
    expect((await searchNames(client, "type:text")).sort()).toEqual(["a.txt", "b.md"]);
    expect(await searchNames(client, "type:text/plain")).toEqual(["a.txt"]);
    expect(await searchNames(client, "type:pdf")).toEqual(["c.pdf"]);
    expect(await searchNames(client, "type:document")).toEqual(["c.pdf"]);
    expect(await searchNames(client, "ext:.PDF")).toEqual(["c.pdf"]);
    expect(await searchNames(client, "is:public")).toEqual(["b.md"]);
    expect((await searchNames(client, "-is:public -type:folder")).sort()).toEqual(["a.txt", "c.pdf"]);
    expect((await searchNames(client, "in:/photos type:text")).sort()).toEqual(["a.txt", "b.md"]);
    expect(await searchNames(client, "type:text", "&folder=/photos/old")).toEqual(["b.md"]);
    expect(await searchNames(client, "type:text in:photos/old/")).toEqual(["b.md"]);
    expect(await searchNames(client, "-tag:work type:text")).toEqual(["a.txt"]);
    expectError(await search(client, "in:/nowhere a"), 404, "not_found");
  });

  test("favorites of the account, at once after a change of them", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    const folder = await client.folderId("lake house");
    const note = await store(client, "lake.txt");
    const trashed = await store(client, "lake old.txt");
    await store(client, "sea.txt");
    await store(other.client, "lake.txt");
    const mark = async (ids: readonly string[], favorite: boolean) =>
      expectStatus(await client.post("/api/favorites", { ids, favorite }), 200);
    expect(await searchNames(client, "is:favorite")).toEqual([]);
    await mark([folder, note, trashed], true);
    expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
    expect((await searchNames(client, "is:favorite")).sort()).toEqual(["lake house", "lake.txt"]);
    expect(await searchNames(client, "lake is:favorite type:text size:<1MB")).toEqual(["lake.txt"]);
    expect(await searchNames(client, "-is:favorite")).toEqual(["sea.txt"]);
    expect(await searchNames(client, "is:favorite -is:favorite")).toEqual([]);
    const sorted = await searchNames(client, "is:favorite", "&sort=name&order=desc");
    expect(sorted).toEqual(["lake house", "lake.txt"]);
    // The tree has not changed in between.
    await mark([note], false);
    expect(await searchNames(client, "is:favorite")).toEqual(["lake house"]);
    expect(await searchNames(other.client, "is:favorite")).toEqual([]);
    expectError(await search(client, "is:starred"), 400, "invalid_field");
  });

  test("sizes, exact at the limits", async () => {
    const { client } = await server().signUp();
    for (const size of [0, 1, 1023, 1024, 1025, 5000]) await client.storedId("x".repeat(size), { name: `${size}.bin` });
    const sorted = async (q: string) =>
      (await searchNames(client, q)).map((name) => Number.parseInt(name)).sort((a, b) => a - b);
    expect(await sorted("size:>1KB")).toEqual([1025, 5000]);
    expect(await sorted("size:>=1KB")).toEqual([1024, 1025, 5000]);
    expect(await sorted("size:<1k")).toEqual([0, 1, 1023]);
    expect(await sorted("size:1KiB")).toEqual([1024]);
    expect(await sorted("size:1023..1025B")).toEqual([1023, 1024, 1025]);
    expect(await sorted("size:0")).toEqual([0]);
    expect(await sorted("size:..1023")).toEqual([0, 1, 1023]);
    expect(await sorted("size:4.8KB..")).toEqual([5000]);
  });

  test("dates: of the change, of the upload, of the capture", async () => {
    await avoidMidnight();
    const { client } = await server().signUp();
    await store(client, "old.txt", { capturedAt: "2019-12-31T23:30:00+02:00" });
    await store(client, "new.txt", { capturedAt: "2020-01-01T00:00:00Z" });
    await store(client, "untold.txt");
    const today = new Date().toISOString().slice(0, 10);
    const year = Number(today.slice(0, 4));
    expect(await searchNames(client, `modified:${today}`)).toHaveLength(3);
    expect(await searchNames(client, `created:${year - 1}..${year + 1}`)).toHaveLength(3);
    expect(await searchNames(client, `created:>${year}`)).toEqual([]);
    expect(await searchNames(client, `modified:<${today}`)).toEqual([]);
    expect(await searchNames(client, "taken:2019-12-31")).toEqual(["old.txt"]);
    expect(await searchNames(client, "taken:2019")).toEqual(["old.txt"]);
    expect(await searchNames(client, "taken:>2019-12-31")).toEqual(["new.txt"]);
    expect(await searchNames(client, "taken:2019-12..2020-01")).toEqual(["new.txt", "old.txt"]);
    expect(await searchNames(client, "taken:<2019-12-31")).toEqual([]);
  });
});

describe("GET /api/files/search: changes", () => {
  test("finds a file by its new name, tags, description, link, content and folder at once", async () => {
    const { client } = await server().signUp();
    const id = await store(client, "alpha.txt");
    expect(await searchNames(client, "alpha")).toEqual(["alpha.txt"]);
    const change = async (json: unknown) => expectStatus(await client.put(`/api/files/${id}`, json), 200);
    await change({ name: "beta.txt", description: "a quokka", tags: ["fauna"] });
    expect(await searchNames(client, "alpha")).toEqual([]);
    expect(await searchNames(client, "beta quokka tag:fauna")).toEqual(["beta.txt"]);
    await change({ isPublic: true, folder: "/zoo" });
    expect(await searchNames(client, "in:/zoo is:public")).toEqual(["beta.txt"]);
    await change({ tags: [] });
    expect(await searchNames(client, "tag:fauna")).toEqual([]);
    expectStatus(await client.putContent(id, "x".repeat(3000)), 200);
    expect(await searchNames(client, "beta size:3000")).toEqual(["beta.txt"]);
    const zoo = (await client.get("/api/files?search=zoo")).string("data.files.0.id");
    expectStatus(await client.put(`/api/files/folders/${zoo}`, { name: "park" }), 200);
    expect(await searchNames(client, "quokka in:/park")).toEqual(["beta.txt"]);
    expectStatus(await client.delete(`/api/files/${id}`), 200);
    expect(await searchNames(client, "beta")).toEqual([]);
  });

  test("finds nothing of a deleted folder", async () => {
    const { client } = await server().signUp();
    const ids = [];
    for (let index = 0; index < 3; index++) ids.push(await store(client, `gamma ${index}.txt`, { folder: "/top/sub" }));
    const copied = await client.post("/api/files/copy", { fileIds: ids, destinationFolder: "/top/other" });
    expectStatus(copied, 201);
    expect(await searchNames(client, "gamma")).toHaveLength(6);
    const top = (await client.get("/api/files")).string("data.files.0.id");
    expectStatus(await client.delete(`/api/files/folders/${top}?recursive=true`), 200);
    const response = await search(client, "gamma");
    expect(response.at("data.files")).toEqual([]);
    expect(response.at("data.pagination.total")).toBe(0);
  });

  test("never finds another account's files", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    await store(client, "delta.txt", { tags: "secret" });
    await store(other.client, "delta of the other.txt");
    expect(await searchNames(client, "delta")).toEqual(["delta.txt"]);
    expect(await searchNames(other.client, "delta")).toEqual(["delta of the other.txt"]);
    expect(await searchNames(other.client, "tag:secret")).toEqual([]);
    expect(await searchNames(other.client, "-nothing")).toEqual(["delta of the other.txt"]);
    expectError(await server().visitor.get("/api/files/search?q=delta"), 401);
  });

  test("finds what others change in a share at once, by name", async () => {
    const [owner, reader] = [await server().signUp(), await server().signUp()];
    const folder = await owner.client.folderId("team");
    await shareWith(owner.client, folder, reader);
    for (const name of ["sundial one.txt", "sundial two.txt", "sundial three.txt"]) {
      await store(owner.client, name, { folder: "/team" });
      expect(await searchNames(reader.client, "sundial")).toContain(name);
    }
  });

  test("the index continues after a crash and after a restart", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { client } = await own.signUp();
      for (let index = 0; index < 5; index++) await store(client, `epsilon ${index}.txt`);
      await own.kill9();
      await own.start();
      expect(await searchNames(client, "epsilon")).toHaveLength(5);
      await store(client, "epsilon 5.txt");
      await own.restart();
      expect(await searchNames(client, "epsilon")).toHaveLength(6);
    });
  });
});

describe("GET /api/files/search: invalid and unusual queries", () => {
  test.each([
    "colour:red",
    "http://example.org",
    "type:nonsense",
    "type:",
    "size:big",
    "size:>",
    "size:..",
    "size:5MB..1MB",
    "size:<0",
    "-size:1",
    "modified:yesterday",
    "modified:2026-13",
    "modified:2026-02-30",
    "taken:2026-02..2026-01",
    "created:..",
    "is:private",
    "name:***",
    "camera:-",
    'tag:" "',
    "-in:/a",
    "",
    "   ",
    '"',
    "***",
    "a\u0000b",
    "x".repeat(4097),
    "é".repeat(2049),
    "a ".repeat(33),
  ])("%j is refused, q at fault", async (q) => {
    const { client } = await server().signUp();
    expectError(await search(client, q), 400, "invalid_field", "q");
  });

  test("a rejection names the wrong word and the known ones", async () => {
    const { client } = await server().signUp();
    const response = await search(client, "beach colour:red");
    expect(response.at("error.details.word")).toBe("colour:red");
    expect(response.string("error.message")).toContain("modified:");
    expectError(await client.get("/api/files/search"), 400, "invalid_field", "q");
    expectError(await search(client, "a", "&limit=101"), 400, "invalid_field", "limit");
    expectError(await search(client, "a", "&page=0"), 400, "invalid_field", "page");
    expectError(await search(client, "a", "&folder=a%00"), 400, "invalid_path");
  });

  test.each([
    '"beach',
    'beach"',
    '""beach""',
    "beach*",
    "^beach",
    "beach AND",
    "AND OR NOT beach",
    "NEAR(beach party, 2)",
    "{name}:beach",
    "+beach",
    "beach;DROP TABLE nodes",
    "beach' OR '1'='1",
    "(beach",
    "beach\\",
    "--beach",
    "%beach%",
    "beach\tparty\nhouse",
    "\u202ebeach",
    "🪿 beach",
    'name:"beach" OR tag:x NOT',
    "beach -",
    "\ufdd0 beach",
  ])("%j is only words", async (q) => {
    const { client } = await server().signUp();
    await store(client, "beach.txt");
    const response = await search(client, q);
    expectStatus(response, 200);
  });

  test("accepts a query of 4 KiB with 32 words", async () => {
    const { client } = await server().signUp();
    expect(
      await searchNames(client, Array.from({ length: 32 }, (_, index) => `w${index}${"x".repeat(120)}`).join(" ")),
    ).toEqual([]);
  });

  test("counts as a listing, and is open to viewers", async () => {
    const { client } = await server().addUser(["--role", "viewer"]);
    const response = await search(client, "beach");
    expectStatus(response, 200);
    expect(response.header("x-ratelimit-resource")).toBe("listing");
  });

  test("the search of names in a listing still finds parts of words", async () => {
    const { client } = await server().signUp();
    await store(client, "abcdef.txt");
    expect(await client.names("/", "&search=bcd")).toEqual(["abcdef.txt"]);
    expect(await searchNames(client, "bcd")).toEqual([]);
  });
});

testAllResponses(server);
