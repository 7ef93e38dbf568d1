// XMP sidecars of an export with --metadata: what gets one, what is never overwritten, and what an import skips.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { placedJpeg, tinyPng } from "../support/images.ts";
import { livePhoto } from "../support/live-photos.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { readTree } from "../support/trees.ts";

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

/** Exports an account with its metadata. @returns the exit code, and what the report says about sidecars */
async function runExport({ email }: Account, to: string) {
  const words = ["export", "--user", email, "--to", to, "--json", "--metadata"];
  const { code, stdout, stderr } = await server().larder(words);
  if (stdout === "") throw new Error(`export: ${code} ${stderr}`);
  return { code, sidecars: JSON.parse(stdout).sidecars };
}

/** Imports a folder into a new account. @returns its files by path */
async function importedFiles(from: string): Promise<string[]> {
  const account = await server().signUp();
  const { code, stderr } = await server().larder(["import", from, "--user", account.email]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return account.client.names("/", "&recursive=true");
}

/** Stores a photo with a description. @returns its id */
async function storePhoto({ client }: Account, name: string, description = name, path = "/"): Promise<string> {
  return client.storedId(tinyPng(2, ++made), { name, fields: { description, folder: path } });
}

const read = (...path: string[]) => readFile(join(...path), "utf8");

describe("sidecars", () => {
  test("are written for photos and videos of which Larder knows something", async () => {
    const account = await server().signUp();
    const { client } = account;
    await client.storedId(tinyPng(3), { name: "nothing.png" });
    await client.storedId("a text", { name: "text.txt", fields: { description: "described" } });
    await client.storedId(tinyPng(4), { name: "tagged.png", fields: { tags: "red,a & b", folder: "/f" } });
    const loved = await client.storedId(tinyPng(5), { name: "loved.png" });
    expectStatus(await client.post("/api/favorites", { ids: [loved], favorite: true }), 200);
    const inAlbum = await client.storedId(tinyPng(6), { name: "album.png" });
    expectStatus(await client.post("/api/albums", { name: "Rome <1>", fileIds: [inAlbum] }), 201);
    const capturedAt = "2020-01-02T03:04:05+01:00";
    await client.storedId(tinyPng(7), { name: "dated.png", fields: { capturedAt } });
    const metadata = JSON.stringify({ location: "-48.5,16.25" });
    await client.storedId(Buffer.from("00000018667479706d703432", "hex"), { name: "film.mp4", fields: { metadata } });
    const target = newPath();
    const { code, sidecars } = await runExport(account, target);
    expect({ code, sidecars }).toEqual({ code: 0, sidecars: { written: 5, unchanged: 0, leftOut: 0, list: [] } });
    expect([...(await readTree(target)).keys()].filter((path) => path.endsWith(".xmp"))).toEqual([
      "album.png.xmp",
      "dated.png.xmp",
      "f/tagged.png.xmp",
      "film.mp4.xmp",
      "loved.png.xmp",
    ]);
    const tagged = await read(target, "f/tagged.png.xmp");
    expect(tagged).toContain(
      "<dc:subject><rdf:Bag><rdf:li>red</rdf:li><rdf:li>a &amp; b</rdf:li></rdf:Bag></dc:subject>",
    );
    expect(await read(target, "album.png.xmp")).toContain("<mwg-coll:CollectionName>Rome &lt;1&gt;</");
    expect(await read(target, "dated.png.xmp")).toContain(
      `<exif:DateTimeOriginal>${capturedAt}</exif:DateTimeOriginal>`,
    );
    expect(await read(target, "film.mp4.xmp")).toContain("<exif:GPSLatitude>48,30.000000S</exif:GPSLatitude>");
    expect(await read(target, "loved.png.xmp")).toContain('fstop:favorite="1"');
    const manifest = JSON.parse(await read(target, "larder-export.json"));
    expect(manifest.sidecars.toSorted()).toEqual(
      ["album.png", "dated.png", "f/tagged.png", "film.mp4", "loved.png"].map((path) => `${path}.xmp`),
    );
  });

  test("don't repeat the time and the location that a photo states itself", async () => {
    const account = await server().signUp();
    const { client } = account;
    const locate = async (name: string, location: string) =>
      client.storedId(await placedJpeg(++made, 48.5, -16.25), {
        name,
        fields: { metadata: JSON.stringify({ location }) },
      });
    await locate("same.jpg", "48.5,-16.25");
    // The web app shows the location of the file.
    await locate("other.jpg", "48.6,-16.25");
    const date = async (name: string, capturedAt: string) => {
      const photo = await livePhoto(++made, { takenAt: "2024:05:06 07:08:09" });
      return client.storedId(photo, { name, fields: { capturedAt } });
    };
    const ids = [
      await date("same-time.jpg", "2024-05-06T09:08:09.123+02:00"),
      await date("other-time.jpg", "2024-05-06T09:08:09Z"),
    ];
    await eventually("the photos are read", async () => {
      const infos = await Promise.all(ids.map((id) => client.get(`/api/files/${id}`)));
      const isRead = infos.every((info) => typeof info.at("data.media") === "object" && info.at("data.media") !== null);
      return isRead && (await client.get("/api/photos/timeline")).at("data.isSettling") === false;
    });
    const target = newPath();
    expect((await runExport(account, target)).sidecars).toMatchObject({ written: 1 });
    const written = (await readdir(target)).filter((name) => name.endsWith(".xmp"));
    expect(written.toSorted()).toEqual(["other-time.jpg.xmp"]);
  });

  test("are written again only if something has changed", async () => {
    const account = await server().signUp();
    const id = await storePhoto(account, "a.png");
    await storePhoto(account, "b.png");
    const target = newPath();
    await runExport(account, target);
    const { mtimeMs } = await stat(join(target, "b.png.xmp"));
    expect((await runExport(account, target)).sidecars).toMatchObject({ written: 0, unchanged: 2 });
    expect((await account.client.put(`/api/files/${id}`, { metadata: { description: "new" } })).status).toBe(200);
    expect((await runExport(account, target)).sidecars).toMatchObject({ written: 1, unchanged: 1 });
    expect(await read(target, "a.png.xmp")).toContain(">new<");
    expect((await stat(join(target, "b.png.xmp"))).mtimeMs).toBe(mtimeMs);
    expect(await importedFiles(target)).toEqual(["a.png", "b.png"]);
  });

  test("stay, without their details, if the account knows nothing any more", async () => {
    const account = await server().signUp();
    const id = await storePhoto(account, "a.png", "secret");
    const target = newPath();
    await runExport(account, target);
    expect((await account.client.put(`/api/files/${id}`, { metadata: { description: null } })).status).toBe(200);
    for (const expected of [{ written: 1 }, { written: 0, unchanged: 1 }]) {
      expect((await runExport(account, target)).sidecars).toMatchObject(expected);
      expect(await read(target, "a.png.xmp")).not.toContain("secret");
    }
    expect(await importedFiles(target)).toEqual(["a.png"]);
  });

  test("never replace the sidecars that are files of the account, which an import takes", async () => {
    const account = await server().signUp();
    const { client } = account;
    for (const name of ["a.png", "b.png", "c.png"]) await storePhoto(account, name);
    await storePhoto(account, "d.png", "");
    for (const name of ["a.png.xmp", "b.xmp", "C.PNG.XMP", "d.png.xmp"]) await client.storedId(`own ${name}`, { name });
    const target = newPath();
    const { code, sidecars } = await runExport(account, target);
    expect({ code, sidecars }).toMatchObject({
      code: 0,
      sidecars: { written: 0, leftOut: 3, list: [{ path: "/a.png" }, { path: "/b.png" }, { path: "/c.png" }] },
    });
    expect(await read(target, "a.png.xmp")).toBe("own a.png.xmp");
    expect(await readdir(target)).not.toContain("b.png.xmp");
    const names = ["C.PNG.XMP", "a.png", "a.png.xmp", "b.png", "b.xmp", "c.png", "d.png", "d.png.xmp"];
    expect((await importedFiles(target)).toSorted()).toEqual(names);
  });

  test("become files of the account if they are uploaded, and come back as such", async () => {
    const account = await server().signUp();
    await storePhoto(account, "a.png");
    const target = newPath();
    await runExport(account, target);
    await account.client.storedId(await read(target, "a.png.xmp"), { name: "a.png.xmp" });
    expect((await runExport(account, target)).sidecars).toMatchObject({ written: 0, unchanged: 0, leftOut: 1 });
    expect((await importedFiles(target)).toSorted()).toEqual(["a.png", "a.png.xmp"]);
  });

  test("that another program has changed stay as they are, and are imported as files", async () => {
    const account = await server().signUp();
    for (const name of ["a.png", "b.png", "c.png"]) await storePhoto(account, name);
    const target = newPath();
    await runExport(account, target);
    const changed = (await read(target, "a.png.xmp")).replace("a.png", "edited");
    await writeFile(join(target, "a.png.xmp"), changed);
    await writeFile(join(target, "b.png.xmp"), "");
    expect((await runExport(account, target)).sidecars).toMatchObject({
      written: 0,
      unchanged: 1,
      leftOut: 2,
      list: [{ path: "/a.png" }, { path: "/b.png" }],
    });
    expect([await read(target, "a.png.xmp"), await read(target, "b.png.xmp")]).toEqual([changed, ""]);
    const names = ["a.png", "a.png.xmp", "b.png", "b.png.xmp", "c.png"];
    expect((await importedFiles(target)).toSorted()).toEqual(names);
  });

  test("of photos that were renamed stay, and are not imported", async () => {
    const account = await server().signUp();
    const id = await storePhoto(account, "old.png");
    const target = newPath();
    await runExport(account, target);
    expectStatus(await account.client.put(`/api/files/${id}`, { name: "new.png" }), 200);
    for (let round = 0; round < 2; round++) await runExport(account, target);
    expect((await readdir(target)).toSorted()).toEqual([
      "larder-export.json",
      "new.png",
      "new.png.xmp",
      "old.png",
      "old.png.xmp",
    ]);
    expect((await importedFiles(target)).toSorted()).toEqual(["new.png", "old.png"]);
    // Without the manifest, all of them are files.
    await unlink(join(target, "larder-export.json"));
    expect(await importedFiles(target)).toHaveLength(4);
  });

  test("follow no links, replace no folders, and are left out for names that are too long", async () => {
    const account = await server().signUp();
    const long = `${"n".repeat(248)}.png`;
    for (const name of ["a.png", "b.png", long]) await storePhoto(account, name);
    const [target, outside] = [newPath(), newPath()];
    await writeFile(outside, "outside");
    await mkdir(join(target, "b.png.xmp"), { recursive: true });
    await symlink(outside, join(target, "a.png.xmp"));
    const { code, sidecars } = await runExport(account, target);
    expect({ code, sidecars }).toMatchObject({ code: 0, sidecars: { written: 0, leftOut: 3 } });
    expect(await read(outside)).toBe("outside");
    expect((await readdir(target)).toSorted()).toEqual([
      "a.png",
      "a.png.xmp",
      "b.png",
      "b.png.xmp",
      "larder-export.json",
      long,
    ]);
  });

  test("of a text that no XML can contain are well-formed", async () => {
    const account = await server().signUp();
    await storePhoto(account, "a.png", `]]> & <b> "'\u0001\uffff\r\n\t😀`);
    const target = newPath();
    await runExport(account, target);
    expect(await read(target, "a.png.xmp")).toContain(
      "]]&gt; &amp; &lt;b&gt; &quot;&#39;\ufffd\ufffd&#13;&#10;&#9;😀<",
    );
  });
});
