import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, rm, stat, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import type { Account } from "../support/client.ts";
import { expectStatus, waitForNextMillisecond } from "../support/expect.ts";
import { mountingFails, mountTmpfs } from "../support/mounts.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { makeTree, readTree } from "../support/trees.ts";

const server = sharedServer({ hasAccounts: true });
let folder = "";
let made = 0;

beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A new path in the folder of the tests. */
function newPath(): string {
  return join(folder, `${++made}`);
}

/** Runs an export. @returns its report */
async function runExport(
  account: Pick<Account, "email">,
  to: string,
  flags: string[] = [],
): Promise<{ code: number; report: Record<string, unknown>; stderr: string }> {
  const { code, stdout, stderr } = await server().larder([
    "export",
    "--user",
    account.email,
    "--to",
    to,
    "--json",
    ...flags,
  ]);
  if (stdout === "") throw new Error(`export: ${code} ${stderr}`);
  return { code, report: JSON.parse(stdout), stderr };
}

async function runImport(account: Pick<Account, "email">, path: string): Promise<void> {
  const { code, stderr } = await server().larder(["import", path, "--user", account.email]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

describe("export", () => {
  test("writes the names, folders, bytes, and times that were imported", async () => {
    const account = await server().signUp();
    const source = newPath();
    await makeTree(source, {
      "empty.txt": "",
      "empty/deeper/": "",
      "a b/c.txt": "with spaces",
      "日本語/ünïcode é.txt": "unicode",
      ["long ".repeat(50)]: "a long name",
      [`${"deep/".repeat(60)}file`]: "far down",
      ".hidden": "dot",
      "-rf": "dash",
      'a:b?*<>|"c': "what Windows refuses",
      con: "what Windows keeps",
      "trailing. ": "dots and spaces at the end",
      "larder-export.json": "a user's own file of this name",
    });
    await utimes(join(source, "empty.txt"), new Date(-86_400_123), new Date(-86_400_123));
    await runImport(account, source);
    const target = newPath();
    const { code, report } = await runExport(account, target);
    expect({ code, ok: report["ok"], written: report["written"] }).toEqual({ code: 0, ok: true, written: 11 });
    expect(await readTree(target)).toEqual(await readTree(source));
  });

  test("sets the modification time of an uploaded file to the time from its device, or to the time of the upload", async () => {
    const account = await server().signUp();
    await account.client.stored("one", { name: "dated.txt", fields: { fileModifiedAt: "2001-02-03T04:05:06.789Z" } });
    const undated = await account.client.stored("two", { name: "undated.txt" });
    const target = newPath();
    await runExport(account, target);
    const files = await readTree(target);
    expect(files.get("dated.txt")).toMatchObject({ modifiedAt: "2001-02-03T04:05:06.789Z" });
    expect(files.get("undated.txt")).toMatchObject({ modifiedAt: undated.string("data.uploadedAt") });
  });

  test("that is repeated writes only changed files, and leaves other files alone", async () => {
    const account = await server().signUp();
    await account.client.storedId("one", { name: "a.txt" });
    const id = await account.client.storedId("two", { name: "b.txt" });
    const target = newPath();
    expect((await runExport(account, target)).report).toMatchObject({ written: 2, unchanged: 0 });
    await writeFile(join(target, "mine.txt"), "mine");
    await account.client.putContent(id, "two, changed");
    await unlink(join(target, "a.txt"));
    await writeFile(join(target, ".larder-1-0-7.part"), "left by a run that was killed");
    expect((await runExport(account, target)).report).toMatchObject({ written: 2, unchanged: 0 });
    expect((await runExport(account, target)).report).toMatchObject({ written: 0, unchanged: 2 });
    expect(await readFile(join(target, "b.txt"), "utf8")).toBe("two, changed");
    expect(await readFile(join(target, "mine.txt"), "utf8")).toBe("mine");
    expect((await readdir(target)).sort()).toEqual(["a.txt", "b.txt", "mine.txt"]);
  });

  test("notices with --checksum a change of the same size and time", async () => {
    const account = await server().signUp();
    await account.client.storedId("one", { name: "a.txt" });
    const target = newPath();
    await runExport(account, target);
    const { mtime } = await stat(join(target, "a.txt"));
    await writeFile(join(target, "a.txt"), "two");
    await utimes(join(target, "a.txt"), mtime, mtime);
    expect((await runExport(account, target)).report).toMatchObject({ unchanged: 1 });
    expect((await runExport(account, target, ["--checksum"])).report).toMatchObject({ written: 1 });
    expect(await readFile(join(target, "a.txt"), "utf8")).toBe("one");
  });

  test("writes independent files: changing one changes no stored file", async () => {
    const account = await server().signUp();
    const id = await account.client.storedId("as stored", { name: "a.txt" });
    const target = newPath();
    await runExport(account, target);
    await writeFile(join(target, "a.txt"), "changed");
    expect((await account.client.get(`/api/files/${id}/download`)).text).toBe("as stored");
    expect((await stat(join(target, "a.txt"))).nlink).toBe(1);
  });

  test("of one folder writes the files in it", async () => {
    const account = await server().signUp();
    await account.client.storedId("one", { name: "a.txt", fields: { folder: "/photos/2026" } });
    await account.client.storedId("two", { name: "b.txt" });
    const target = newPath();
    await runExport(account, target, ["--folder", "/photos"]);
    expect([...(await readTree(target)).keys()]).toEqual(["2026", "2026/a.txt"]);
    const none = await server().larder(["export", "--user", account.email, "--to", newPath(), "--folder", "/none"]);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("/none") });
  });

  test("writes tags, descriptions, metadata, and favorites with --metadata, and an import restores them", async () => {
    const account = await server().signUp();
    const stored = await account.client.stored("one", { name: "a.txt", fields: { folder: "/f", tags: "red,blue" } });
    const id = stored.string("data.id");
    const metadata = { description: "a description", camera: "x" };
    expect((await account.client.put(`/api/files/${id}`, { metadata })).status).toBe(200);
    await account.client.storedId("own", { name: "larder-export.json" });
    const folder = (await account.client.get("/api/files?type=folder")).string("data.files.0.id");
    expect((await account.client.post("/api/favorites", { ids: [id, folder], favorite: true })).status).toBe(200);
    const target = newPath();
    const { report } = await runExport(account, target, ["--metadata"]);
    expect(report["renamings"]).toHaveLength(1);
    const other = await server().signUp();
    await runImport(other, target);
    const [copy] = (await other.client.get("/api/files?folder=/f")).strings("data.files", "id");
    expect((await other.client.get(`/api/files/${copy}`)).at("data")).toMatchObject({
      name: "a.txt",
      tags: ["red", "blue"],
      metadata: { camera: "x", description: "a description" },
    });
    expect(await other.client.names()).toEqual(["f", "larder-export.json"]);
    expect((await other.client.get("/api/favorites")).strings("data.favorites", "name")).toEqual(["f", "a.txt"]);
    await runImport(other, target);
    expect(await other.client.names()).toEqual(["f", "larder-export.json"]);
  });

  test("writes albums with --metadata, and an import restores them once", async () => {
    const account = await server().signUp();
    const store = async (name: string, folder: string) => account.client.storedId(name, { name, fields: { folder } });
    const [a, b, c] = [await store("a.txt", "/f"), await store("b.txt", "/"), await store("trashed.txt", "/f")];
    const album = { name: "Rome", description: "in May", fileIds: [b, c, a] };
    const id = (await account.client.post("/api/albums", album)).string("data.id");
    await account.client.patch(`/api/albums/${id}`, { coverFileId: a });
    await account.client.post("/api/files/trash", { fileIds: [c] });
    const target = newPath();
    await runExport(account, target, ["--metadata"]);
    expect(JSON.parse(await readFile(join(target, "larder-export.json"), "utf8"))).toMatchObject({
      albums: [{ name: "Rome", description: "in May", cover: "f/a.txt", items: ["b.txt", "f/a.txt"] }],
    });
    const other = await server().signUp();
    for (let round = 0; round < 2; round++) {
      await runImport(other, target);
      const albums = await other.client.get("/api/albums");
      expect(albums.list("data.albums")).toMatchObject([{ name: "Rome", description: "in May", itemCount: 2 }]);
      const copy = albums.string("data.albums.0.id");
      const items = await other.client.get(`/api/albums/${copy}/items`);
      expect(items.strings("data.items", "name")).toEqual(["b.txt", "a.txt"]);
      expect(albums.at("data.albums.0.coverFileId")).toBe(items.at("data.items.1.id"));
    }
  });

  test("writes pins and the picture of the person with --metadata, and an import sets them if there are none", async () => {
    const account = await server().signUp();
    const { client } = account;
    const body = Uint8Array.from(
      await sharp({ create: { width: 9, height: 9, channels: 3, background: "#0b6" } })
        .png()
        .toBuffer(),
    );
    expectStatus(await client.request("PUT", "/api/users/avatar", { body }), 200);
    await client.folderId("f");
    const folder = await client.folderId("deep", "/f");
    const file = await client.storedId("a", { name: "a.txt", fields: { folder: "/f/deep" } });
    const album = (await client.post("/api/albums", { name: "Rome", fileIds: [file] })).string("data.id");
    const empty = (await client.post("/api/albums", { name: "Empty" })).string("data.id");
    for (const id of [album, empty, folder]) expectStatus(await client.put(`/api/pins/${id}`, {}), 200);
    const [whole, part] = [newPath(), newPath()];
    await runExport(account, whole, ["--metadata"]);
    await runExport(account, part, ["--metadata", "--folder", "/f"]);
    const manifestOf = async (path: string) => JSON.parse(await readFile(join(path, "larder-export.json"), "utf8"));
    expect(await manifestOf(whole)).toMatchObject({
      pins: [{ album: "Rome" }, { album: "Empty" }, { folder: "f/deep" }],
      person: { email: account.email },
    });
    const ofPart = await manifestOf(part);
    expect([ofPart.pins, ofPart.person]).toEqual([[{ album: "Rome" }, { folder: "deep" }], undefined]);

    const other = await server().signUp();
    const pinsOf = async (of: Account) => (await of.client.get("/api/pins")).strings("data.pins", "name");
    const hasPicture = async (of: Account) => (await of.client.get("/api/users/profile")).at("data.avatar") !== null;
    await runImport(other, whole);
    // It is the picture of another person.
    expect([await pinsOf(other), await hasPicture(other)]).toEqual([["Rome", "Empty", "deep"], false]);
    expectStatus(
      await other.client.delete(`/api/pins/${(await other.client.get("/api/pins")).string("data.pins.0.id")}`),
      200,
    );
    expectStatus(await client.delete("/api/users/avatar"), 200);
    for (const each of [other, account]) await runImport(each, whole);
    expect(await pinsOf(other)).toEqual(["Empty", "deep"]);
    expect([await pinsOf(account), await hasPicture(account)]).toEqual([["Rome", "Empty", "deep"], true]);
  });

  test("a manifest with invalid fields restores the valid ones, and nothing of other people", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const foreignFolder = await other.client.folderId("private");
    const path = newPath();
    await mkdir(join(path, "mine"), { recursive: true });
    await writeFile(join(path, "mine", "a.txt"), "a");
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`;
    const manifestWith = (picture: unknown) => ({
      format: "larder-export",
      version: 1,
      entries: [
        { path: "mine/a.txt", tags: ["ok"], isFavorite: "yes", mediaType: "no type", originalName: ".." },
        { path: "../b.txt", name: "../../c" },
        7,
      ],
      albums: [
        { name: "x".repeat(10_000), items: ["mine/a.txt"] },
        { name: "a\u0000b", items: ["mine/a.txt"] },
        { name: "Long", description: "x".repeat(100_000), items: ["mine/a.txt"], cover: "../b.txt" },
        { name: "Good", items: ["mine/a.txt", "../../etc/passwd", 7] },
      ],
      pins: [
        { folder: ".." },
        { folder: "/private" },
        { folder: foreignFolder },
        { album: "Missing" },
        { album: "Good" },
        ...Array.from({ length: 60 }, () => ({ folder: "mine" })),
      ],
      person: { email: account.email, picture },
      sidecars: ["mine/a.txt", "../../etc/passwd", 7],
    });
    const pictures = [svg, "GIF89a", "x".repeat(90_000), "x".repeat(1_000_000)].map((text) => btoa(text));
    for (const picture of [...pictures, "%%%", "", 7, null]) {
      await writeFile(join(path, "larder-export.json"), JSON.stringify(manifestWith(picture)));
      await runImport(account, path);
    }
    expect((await account.client.get("/api/users/profile")).at("data.avatar")).toBeNull();
    expect((await account.client.get("/api/albums")).strings("data.albums", "name").toSorted()).toEqual([
      "Good",
      "Long",
    ]);
    expect((await account.client.get("/api/pins")).strings("data.pins", "name")).toEqual(["Good", "mine"]);
  });

  test("writes the files of an earlier time with --at", async () => {
    const account = await server().signUp();
    const id = await account.client.storedId("first", { name: "a.txt", fields: { folder: "/f" } });
    await account.client.stored("x", { name: "b.txt" });
    await waitForNextMillisecond();
    const at = new Date().toISOString();
    await waitForNextMillisecond();
    await account.client.putContent(id, "second");
    await account.client.storedId("later", { name: "later.txt" });
    const target = newPath();
    const { report } = await runExport(account, target, ["--at", at]);
    expect(report).toMatchObject({ ok: true, written: 2 });
    expect([...(await readTree(target)).keys()]).toEqual(["b.txt", "f", "f/a.txt"]);
    expect(await readFile(join(target, "f/a.txt"), "utf8")).toBe("first");
  });

  test("writes earlier versions with --versions, which an import skips", async () => {
    const account = await server().signUp();
    const id = await account.client.storedId("first", { name: "a.txt", fields: { folder: "/f" } });
    await account.client.putContent(id, "second");
    await account.client.putContent(id, "third");
    const target = newPath();
    expect((await runExport(account, target, ["--versions"])).report).toMatchObject({ written: 1, versions: 2 });
    expect(await readFile(join(target, "f/a.txt"), "utf8")).toBe("third");
    const versions = join(target, ".larder-versions/f/a.txt");
    expect((await readdir(versions)).sort()).toEqual(["1 a.txt", "2 a.txt"]);
    expect(await readFile(join(versions, "1 a.txt"), "utf8")).toBe("first");
    const other = await server().signUp();
    expect((await server().larder(["import", target, "--user", other.email])).code).toBe(0);
    expect(await other.client.names()).toEqual(["f"]);
  });

  test("follows no symbolic link in the target, and replaces no folder", async () => {
    const account = await server().signUp();
    await account.client.storedId("one", { name: "a.txt", fields: { folder: "/f" } });
    await account.client.storedId("two", { name: "b.txt" });
    await account.client.storedId("three", { name: "c.txt" });
    const [target, outside] = [newPath(), newPath()];
    await mkdir(join(target, "c.txt"), { recursive: true });
    await mkdir(outside);
    await symlink(outside, join(target, "f"));
    await symlink(join(outside, "b.txt"), join(target, "b.txt"));
    const { code, report } = await runExport(account, target);
    expect({ code, written: report["written"] }).toEqual({ code: 1, written: 1 });
    expect(report["list"]).toMatchObject([
      { path: "/f", reason: "unwritable" },
      { path: "/c.txt", reason: "unwritable" },
    ]);
    expect(await readdir(outside)).toEqual([]);
    expect((await stat(join(target, "b.txt"))).isFile()).toBe(true);
  });

  test("names files that are damaged or missing, and writes all others", async () => {
    const account = await server().signUp();
    const damaged = await account.client.stored("damaged content", { name: "damaged.txt" });
    const gone = await account.client.stored("gone content", { name: "gone.txt" });
    await account.client.storedId("fine", { name: "fine.txt" });
    await writeFile(blobPath(damaged.string("data.checksum")), "dAmaged content");
    await unlink(blobPath(gone.string("data.checksum")));
    const target = newPath();
    const { code, report } = await runExport(account, target);
    expect({ code, written: report["written"] }).toEqual({ code: 1, written: 1 });
    expect(report["list"]).toMatchObject([
      { path: "/damaged.txt", reason: "content_damaged" },
      { path: "/gone.txt", reason: "content_damaged" },
    ]);
    expect(await readdir(target)).toEqual(["fine.txt"]);
  });

  test.skipIf(mountingFails !== undefined)("reports a full target, and continues when there is space", async () => {
    const account = await server().signUp();
    for (let number = 0; number < 8; number++) {
      await account.client.storedId(crypto.getRandomValues(new Uint8Array(700_000)), { name: `f${number}.bin` });
    }
    const small = await mountTmpfs(4);
    try {
      const full = await server().larder(["export", "--user", account.email, "--to", join(small.path, "to")]);
      expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining("full") });
      for (const name of await readdir(join(small.path, "to"))) expect(name).toMatch(/^f\d\.bin$/);
      for (const name of await readdir(join(small.path, "to"))) {
        expect((await stat(join(small.path, "to", name))).size).toBe(700_000);
      }
    } finally {
      await small.unmount();
    }
  });

  test("rejects wrong options with a message", async () => {
    const { email } = await server().signUp();
    const rows: [string[], number][] = [
      [["export", "--user", email], 2],
      [["export", "--to", newPath()], 2],
      [["export", "--user", "nobody@example.org", "--to", newPath()], 1],
      [["export", "--user", email, "--to", join(server().dataDir, "export")], 2],
      [["export", "--user", email, "--to", newPath(), "--at", "yesterday"], 2],
    ];
    for (const [args, expectedCode] of rows) {
      const { code, stderr } = await server().larder(args);
      expect({ args, code, hasMessage: stderr.trim() !== "" }).toEqual({ args, code: expectedCode, hasMessage: true });
    }
  });
});

/** The path of a blob in the store. */
function blobPath(checksum: string): string {
  const hex = checksum.slice("sha256:".length);
  return join(server().dataDir, "blobs", "sha256", hex.slice(0, 2), hex.slice(2, 4), hex);
}
