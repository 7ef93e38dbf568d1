import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { file, form, formType } from "../support/multipart.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const goodNames = [
  "plain.txt",
  "ünïcödé.txt",
  "日本語のファイル.txt",
  "файл.txt",
  "קובץ בעברית.txt",
  "ملف عربي.pdf",
  "emoji 🎉👨‍👩‍👧‍👦.txt",
  "a\u202egnp.exe",
  "spaces   inside",
  "#?&%=+;,!$'()[]{}~`@^.txt",
  "%2e%2e%2f",
  "CON",
  "aux.txt",
  "a:b",
  "-rf",
  "~",
  "...",
  "..a",
  "null",
  "\u00a0nbsp",
  "𠮷野家.txt",
  "x".repeat(255),
  `${"é".repeat(125)}.html`,
  `${"🎉".repeat(63)}.gz`,
];

describe("a file or folder name", () => {
  test.each(goodNames)("%p survives an upload, a folder and a rename unchanged", async (name) => {
    const { client } = await server().signUp();
    const upload = await client.request("POST", "/api/files/upload", {
      body: form([file(name, "x")]),
      headers: { "content-type": formType },
    });
    expectStatus(upload, 201);
    expect(upload.at("data.name")).toBe(name);
    const id = upload.string("data.id");
    expect(await client.names()).toEqual([name]);
    const found = await client.names("/", `&search=${encodeURIComponent(name)}`);
    expect(found).toEqual([name]);
    expectStatus(await client.put(`/api/files/${id}`, { folder: `/top/${name}/${name}` }), 200);
    expect(await client.names(`/top/${name}/${name}`)).toEqual([name]);
    expectStatus(await client.get(`/api/files/${id}/download`), 200);
    expectStatus(await client.post("/api/files/folders", { name, path: "/in" }), 201);
    expect(await client.names("/in")).toEqual([name]);
    expectStatus(await client.put(`/api/files/${id}`, { name: "renamed" }), 200);
    expectStatus(await client.put(`/api/files/${id}`, { name }), 200);
  });

  test("is normalized to NFC, so that both forms name the same file", async () => {
    const { client } = await server().signUp();
    const nfc = "Müller-Ångström-각.txt".normalize("NFC");
    const nfd = nfc.normalize("NFD");
    expect(nfd).not.toBe(nfc);
    const id = await client.storedId("one", { name: nfd });
    expect(await client.names()).toEqual([nfc]);
    expect((await client.stored("two", { name: nfc })).string("data.name")).toBe(nfc.replace(".txt", " (1).txt"));
    const clash = await client.upload("three", { name: nfd, fields: { onConflict: "error" } });
    expectError(clash, 409, "name_taken");
    await client.stored("x", { fields: { folder: `/${nfd}-folder` } });
    expect(await client.names(`/${nfc}-folder`)).toEqual(["file.txt"]);
    expect(await client.names(`/${nfd}-folder`)).toEqual(["file.txt"]);
    expectStatus(await client.put(`/api/files/${id}`, { name: `x-${nfd}` }), 200);
    expect((await client.get(`/api/files/${id}`)).at("data.name")).toBe(`x-${nfc}`);
    const folder = await client.post("/api/files/folders", { name: `${nfc}-folder`, path: "/" });
    expectError(folder, 409, "name_taken");
    const moved = await client.post("/api/files/move", { fileIds: [id], destinationFolder: `/${nfd}-folder` });
    expectStatus(moved, 200);
    expect((await client.get(`/api/files/${id}`)).at("data.folder")).toBe(`/${nfc}-folder`);
    expect(await client.names("/", `&search=${encodeURIComponent(nfd.replace(".txt", ""))}`)).toEqual([
      `${nfc}-folder`,
      nfc.replace(".txt", " (1).txt"),
      `x-${nfc}`,
    ]);
  });

  test("is measured in bytes after normalization", async () => {
    const { client } = await server().signUp();
    const nfd = "ä".repeat(127).normalize("NFD");
    expect(Buffer.byteLength(nfd)).toBe(381);
    const response = await client.upload("x", { name: nfd });
    expectStatus(response, 201);
    expect(response.at("data.name")).toBe("ä".repeat(127));
    expectError(await client.upload("x", { name: "ä".repeat(128) }), 400, "invalid_path");
    expectError(await client.upload("x", { name: "x".repeat(256) }), 400, "invalid_path");
    const renamed = await client.put(`/api/files/${response.string("data.id")}`, { name: "x".repeat(256) });
    expectError(renamed, 400, "invalid_path");
  });

  test("never appears on the disk", async () => {
    const { client } = await server().signUp();
    await client.stored("x", { name: "findme-on-disk.txt", fields: { folder: "/findme-folder" } });
    const paths = await readdir(server().dataDir, { recursive: true });
    expect(paths.filter((path) => path.includes("findme"))).toEqual([]);
  });

  test.each([
    ["/etc/passwd", "passwd"],
    ["../../../etc/passwd", "passwd"],
    ["C:\\Users\\ada\\photo.jpg", "photo.jpg"],
    ["..\\..\\windows\\system32\\x.dll", "x.dll"],
    ["mixed/slashes\\name.txt", "name.txt"],
    ["a\\b/c.txt", "c.txt"],
  ])("of an upload is cut to the part after its last separator: %p becomes %p", async (sent, name) => {
    const { client } = await server().signUp();
    const response = await client.request("POST", "/api/files/upload", {
      body: form([file(sent, "x")]),
      headers: { "content-type": formType },
    });
    expectStatus(response, 201);
    expect(response.json).toMatchObject({ data: { name, folder: "/" } });
    expect(await client.names()).toEqual([name]);
  });

  test.each([".", "..", "a/", "a/..", "a/.", "tab\there", "bell\u0007", "del\u007f", "\u0001", "a\u0000b"])(
    "%p of an upload is rejected with 400",
    async (name) => {
      const { client } = await server().signUp();
      const response = await client.request("POST", "/api/files/upload", {
        body: form([file(name, "x")]),
        headers: { "content-type": formType },
      });
      expectError(response, 400);
      expect(await client.names()).toEqual([]);
    },
  );
});

const badPaths = [
  "",
  "relative",
  "./a",
  "../a",
  "/..",
  "/.",
  "/a/..",
  "/a/../b",
  "/a/./b",
  "//a",
  "/a//b",
  "/a//",
  "/a\\b",
  "\\a",
  "/a\u0000b",
  "/a\u001fb",
  "/a\nb",
  "/a\u007fb",
  "/a\u0085b",
  `/${"x".repeat(256)}`,
  `/${"ä".repeat(128)}`,
  `/${"x".repeat(250)}`.repeat(17),
];

describe("a path", () => {
  // In a query, many clients send an empty value to mean "no folder", so an empty path is tried in bodies only.
  test.each(badPaths)("%p is rejected with 400 invalid_path everywhere", async (path) => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const responses: Record<string, { status: number; reason: unknown }> = {};
    const note = (what: string, response: { status: number; at: (path: string) => unknown }) => {
      responses[what] = { status: response.status, reason: response.at("error.details.reason") };
    };
    if (path !== "") note("list", await client.get(`/api/files?folder=${encodeURIComponent(path)}`));
    if (path !== "" && !path.includes("\u0000") && !path.includes("\n"))
      note("upload", await client.upload("x", { fields: { folder: path } }));
    note("update", await client.put(`/api/files/${id}`, { folder: path }));
    note("create", await client.post("/api/files/folders", { name: "x", path }));
    note("move", await client.post("/api/files/move", { fileIds: [id], destinationFolder: path }));
    note("copy", await client.post("/api/files/copy", { fileIds: [id], destinationFolder: path }));
    for (const what of Object.keys(responses))
      expect({ what, ...responses[what] }).toEqual({ what, status: 400, reason: "invalid_path" });
    expect(await client.names()).toEqual(["a.txt"]);
  });

  test("may end in a slash, which is removed", async () => {
    const { client } = await server().signUp();
    expect((await client.stored("x", { fields: { folder: "/docs/" } })).at("data.folder")).toBe("/docs");
    expect(await client.names("/docs/")).toEqual(["file.txt"]);
    const id = await client.storedId("x", { name: "b" });
    expect((await client.put(`/api/files/${id}`, { folder: "/docs/" })).at("data.folder")).toBe("/docs");
  });

  test("may be 4,096 bytes long", async () => {
    const { client } = await server().signUp();
    const path = `/${"x".repeat(255)}`.repeat(16);
    expect(path).toHaveLength(4096);
    const response = await client.upload("x", { fields: { folder: path } });
    // The path of a file in this folder would exceed the limit; both responses are allowed.
    expect([201, 400]).toContain(response.status);
    const parent = path.slice(0, -256);
    expectStatus(await client.post("/api/files/folders", { name: "y".repeat(255), path: parent }), 201);
    expect(await client.names(parent)).toContain("y".repeat(255));
    const deep = "/d".repeat(256);
    expectStatus(await client.upload("x", { fields: { folder: deep } }), 201);
    expect(await client.names(deep)).toEqual(["file.txt"]);
  });

  test("is case-sensitive", async () => {
    const { client } = await server().signUp();
    await client.stored("1", { fields: { folder: "/Docs" } });
    await client.stored("2", { fields: { folder: "/docs" } });
    expect(await client.names()).toEqual(["Docs", "docs"]);
  });
});

testAllResponses(server);
