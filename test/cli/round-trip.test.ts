// An account is exported with --metadata and imported on another server: both accounts are the same then.
import { afterAll, describe, expect, test } from "bun:test";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type Client, digestOf } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto, placedJpeg, tinyPng } from "../support/images.ts";
import { livePhoto, liveVideo } from "../support/live-photos.ts";
import { sharedServer, temporaryDirectory, type TestServer } from "../support/server.ts";
import { type DiskTree, readTree } from "../support/trees.ts";

const [first, second] = [sharedServer(), sharedServer()];
const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await temporaryDirectory();
  folders.push(folder);
  return folder;
}

/** Fields that differ by nature: ids and addresses, times of the upload, and what counts accesses. */
const OWN_FIELDS = new Set([
  "id",
  "url",
  "downloadUrl",
  "thumbnailUrl",
  "coverUrl",
  "createdAt",
  "modifiedAt",
  "uploadedAt",
  "lastAccessedAt",
  "downloadCount",
  "owner",
  // Files have one version after an import: docs/backup.md.
  "version",
]);

type Json = Record<string, unknown>;

/** An object of a response without its {@link OWN_FIELDS}. */
function withoutOwnFields(value: unknown): Json {
  return Object.fromEntries(Object.entries(Object(value)).filter(([key]) => !OWN_FIELDS.has(key)));
}

/** Everything in an account that the API shows, with paths instead of ids. */
interface Contents {
  readonly entries: Readonly<Record<string, unknown>>;
  readonly albums: readonly unknown[];
  readonly pins: readonly unknown[];
  readonly favorites: readonly unknown[];
  readonly photos: readonly unknown[];
  readonly tags: unknown;
  readonly hasPicture: boolean;
}

async function get(client: Client, path: string) {
  const response = await client.get(path);
  expectStatus(response, 200);
  return response;
}

/** Reads an account with at most 100 items a folder, when the metadata of all files is known. */
async function readContents(client: Client): Promise<Contents> {
  await eventually("all photos are read", async () => {
    return (await get(client, "/api/photos/timeline")).at("data.isSettling") === false;
  });
  const entries: Record<string, unknown> = {};
  const paths = new Map<string, string>();
  const pending = ["/"];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const listing = await get(client, `/api/files?folder=${encodeURIComponent(folder)}&limit=100`);
    for (const item of listing.list("data.files") as Json[]) {
      const path = `${folder === "/" ? "" : folder}/${String(item["name"])}`;
      paths.set(String(item["id"]), path);
      if (item["type"] === "folder") {
        pending.push(path);
        entries[path] = withoutOwnFields(item);
      } else entries[path] = { item: withoutOwnFields(item), ...(await readFileOf(client, String(item["id"]))) };
    }
  }
  const pathOf = (id: unknown) => (typeof id === "string" ? paths.get(id) : null);
  const photos = (await get(client, "/api/photos?full=true&limit=100")).list("data.photos") as Json[];
  return {
    entries: withPaths(entries, pathOf),
    albums: await readAlbums(client, pathOf),
    pins: (await get(client, "/api/pins")).list("data.pins").map(withoutOwnFields),
    favorites: (await get(client, "/api/favorites")).list("data.favorites").map(withoutOwnFields),
    photos: byPath(photos.map((photo) => withPaths(withoutOwnFields(photo), pathOf))),
    tags: (await get(client, "/api/files/tags")).at("data"),
    hasPicture: (await get(client, "/api/users/profile")).at("data.avatar") !== null,
  };
}

/** Photos of the same second are listed by their ids. */
function byPath(photos: Json[]): Json[] {
  const pathOf = ({ folder, name }: Json) => `${String(folder)}/${String(name)}`;
  return photos.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}

async function readFileOf(client: Client, id: string) {
  const info = await get(client, `/api/files/${id}`);
  const { bytes } = await get(client, `/api/files/${id}/download`);
  return { info: withoutOwnFields(info.at("data")), digest: digestOf(bytes) };
}

async function readAlbums(client: Client, pathOf: (id: unknown) => unknown): Promise<unknown[]> {
  const albums = (await get(client, "/api/albums?sort=name&limit=100")).list("data.albums") as Json[];
  const read = albums.map(async (album) => {
    const items = await get(client, `/api/albums/${String(album["id"])}/items?limit=100`);
    const cover = pathOf(album["coverFileId"]);
    return { ...withoutOwnFields(album), coverFileId: cover, items: items.strings("data.items", "id").map(pathOf) };
  });
  return Promise.all(read);
}

/** Replaces the ids of the videos of Live Photos, at any depth. */
function withPaths<T extends object>(value: T, pathOf: (id: unknown) => unknown): T {
  const text = JSON.stringify(value, (key, inner: unknown) => (key === "motionFileId" ? pathOf(inner) : inner));
  return JSON.parse(text) as T;
}

/** Stores a file, with fields and metadata. @returns its id */
function store(client: Client, path: string, content: string | Uint8Array, fields: Json = {}, type = "") {
  const folder = path.slice(0, path.lastIndexOf("/")) || "/";
  const { metadata, ...rest } = fields;
  const texts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, String(value)]));
  return client.storedId(content, {
    name: path.slice(path.lastIndexOf("/") + 1),
    type,
    fields: { folder, fileModifiedAt: "2015-01-02T03:04:05.678Z", ...texts, metadata: JSON.stringify(metadata ?? {}) },
  });
}

async function makeOddNames(client: Client): Promise<void> {
  for (const name of ['a:b?*<>|"c', "con", "trailing. ", "-rf", "日本語 ünïcode 😀.txt", "larder-export.json", "…"]) {
    await store(client, `/${name}`, `content of ${name}`);
  }
  await store(client, "/.larder-versions/1 a.txt", "a folder that an import skips, if an export made it");
  await store(client, "/odd \"names\" & <more>/'x'\\u0000.json", "{}");
  await store(client, `/${"deep/".repeat(60)}file`, "far down");
  await client.folderId("deeper", "/empty");
}

/** Details of files that are not in their bytes. @returns the id of a photo */
async function makeDetails(client: Client): Promise<string> {
  const description = 'Two lines\nof a description, with <tags> & "quotes"';
  const metadata = { description, location: "-33.856784,151.215297", ["__proto__"]: "a key", Ключ: "ü" };
  const photo = await store(client, "/Photos/2024/plain.jpg", await jpegPhoto(20, 10, 6), {
    tags: "sea,a & b,日本,Sea/Shore",
    capturedAt: "2019-08-07T06:05:04.321+05:45",
    fileModifiedAt: "2019-08-07T06:05:04.321+05:45",
    metadata,
  });
  await store(client, "/Photos/2024/placed.jpg", await placedJpeg(1, 48.2082, 16.3738));
  await store(client, "/notes", "# A heading", { metadata: { description: "no extension" } }, "text/markdown");
  await store(client, "/before 1970.txt", "old", { fileModifiedAt: "1960-01-01T00:00:00.123456+01:00" });
  const renamed = await store(client, "/IMG_0001.png", tinyPng(9));
  expectStatus(await client.put(`/api/files/${renamed}`, { name: "Grandmother.png" }), 200);
  const folder = await client.folderId("described");
  expectStatus(await client.put(`/api/files/folders/${folder}`, { description: "of a folder" }), 200);
  expectStatus(await client.post("/api/favorites", { ids: [photo, folder], favorite: true }), 200);
  await store(client, "/own/photo.png", tinyPng(8));
  await store(client, "/own/photo.png", tinyPng(7), { tags: "red", onConflict: "version" });
  await store(client, "/own/photo.png.xmp", "the sidecar of another program");
  return photo;
}

async function makeLivePhoto(client: Client): Promise<string> {
  const live = { contentId: "0F3A1E3C-2E3B-4C7B-9C4E-7B2F6A1D5E10", takenAt: "2024:05:06 07:08:09" };
  const photo = await store(client, "/Photos/live.jpg", await livePhoto(1, live));
  const video = await store(client, "/Photos/live.mov", liveVideo(2.5, live), { tags: "moving" }, "video/quicktime");
  expectStatus(await client.post("/api/favorites", { ids: [video], favorite: true }), 200);
  return photo;
}

async function makeAlbums(client: Client, photo: string, live: string): Promise<void> {
  const add = async (name: string, description: string, fileIds: string[], cover?: string) => {
    const id = (await client.post("/api/albums", { name, description, fileIds })).string("data.id");
    if (cover !== undefined) expectStatus(await client.patch(`/api/albums/${id}`, { coverFileId: cover }), 200);
    return id;
  };
  const more: string[] = [];
  for (let number = 1; number < 6; number++)
    more.push(await store(client, `/more/${number}.png`, tinyPng(2, number + 2)));
  await add("Rome", "in May\nand <June>", [...more.toReversed(), photo, live], photo);
  const sameName = await add("Rome", "another one of this name", [live]);
  const empty = await add('Nothing "yet" & empty', "to be filled", []);
  await add("larder-export.json", "", [more[2] ?? ""]);
  const folder = (await client.get("/api/files?type=folder")).list("data.files") as Json[];
  const photos = folder.find((entry) => entry["name"] === "Photos")?.["id"];
  for (const id of [empty, photos, sameName]) expectStatus(await client.put(`/api/pins/${String(id)}`, {}), 200);
}

async function makeAccount(): Promise<Account> {
  const account = await first().signUp();
  const { client } = account;
  const picture = await jpegPhoto(30, 30);
  expectStatus(await client.request("PUT", "/api/users/avatar", { body: Uint8Array.from(picture) }), 200);
  await makeOddNames(client);
  const photo = await makeDetails(client);
  const live = await makeLivePhoto(client);
  await makeAlbums(client, photo, live);
  const trashed = await store(client, "/trashed.png", tinyPng(5));
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
  return account;
}

async function runLarder(server: TestServer, words: string[]): Promise<Json> {
  const { code, stdout, stderr } = await server.larder([...words, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Json;
}

const exportTo = (server: TestServer, { email }: Account, to: string) =>
  runLarder(server, ["export", "--user", email, "--to", to, "--metadata"]);

/** An exported folder without the manifest, which has the time of the export. */
async function exportedFiles(folder: string): Promise<DiskTree> {
  const tree = await readTree(folder);
  tree.delete("larder-export.json");
  // Sidecars have the time at which they were written.
  return new Map([...tree].map(([path, entry]) => [path, path.endsWith(".xmp") ? Object(entry).content : entry]));
}

async function manifestOf(folder: string): Promise<Json> {
  const manifest = JSON.parse(await readFile(join(folder, "larder-export.json"), "utf8")) as Json;
  const { picture: _, ...person } = Object(manifest["person"]);
  // The picture is encoded again by an import. Sidecars are listed in the order in which threads wrote them.
  return { ...manifest, exportedAt: "", person, sidecars: (manifest["sidecars"] as string[]).toSorted() };
}

describe("an export and an import", () => {
  test("carry an account to another server, field by field", async () => {
    const account = await makeAccount();
    const before = await readContents(account.client);
    const folder = await newFolder();
    const report = await exportTo(first(), account, folder);
    expect(report).toMatchObject({
      ok: true,
      problems: 0,
      sidecars: { leftOut: 1, list: [{ path: "/own/photo.png" }] },
    });

    const { email, password } = account;
    const copy = await second().signUp({ email, password });
    const imported = await runLarder(second(), ["import", folder, "--user", email]);
    expect(imported).toMatchObject({ ok: true, problems: 0, leftOut: 0, renamings: [], imported: report["files"] });
    expect(await readContents(copy.client)).toEqual(before);

    // Nothing is added by repeating it.
    expect(await runLarder(second(), ["import", folder, "--user", email])).toMatchObject({ imported: 0, folders: 0 });
    expect(await readContents(copy.client)).toEqual(before);

    // The copy is exported like the original, with the same sidecars.
    const again = await newFolder();
    await exportTo(second(), copy, again);
    expect(await exportedFiles(again)).toEqual(await exportedFiles(folder));
    expect(await manifestOf(again)).toEqual(await manifestOf(folder));
  });

  test("a file without a time from its device has the time of its upload", async () => {
    const account = await first().signUp();
    const uploadedAt = (await account.client.stored("undated", { name: "undated.txt" })).string("data.uploadedAt");
    const folder = await newFolder();
    await exportTo(first(), account, folder);
    const copy = await second().signUp();
    await runLarder(second(), ["import", folder, "--user", copy.email]);
    const [file] = (await get(copy.client, "/api/files")).list("data.files");
    expect(Object(file).fileModifiedAt).toBe(uploadedAt);
  });
});
