// The files of an account in the data directory of a Nextcloud.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdir, realpath, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NextcloudFolderSource } from "../../../../../src/features/storage/imports/sources/nextcloud/folder-source.ts";
import { readContent, readSource } from "../../../../support/import-sources.ts";
import { temporaryDirectory } from "../../../../support/server.ts";

const MODIFIED_S = 1_577_934_245;
const directories: string[] = [];
let data: string;

beforeEach(async () => {
  data = await realpath(await temporaryDirectory());
  directories.push(data);
  await put("ada/files/a.txt", "hello");
  await put("ada/cache/x", "cached");
});

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function put(path: string, content: string | Uint8Array): Promise<void> {
  const target = join(data, path);
  await mkdir(join(target, ".."), { recursive: true });
  await writeFile(target, content);
  await utimes(target, MODIFIED_S, MODIFIED_S);
}

function source(folder = "ada"): NextcloudFolderSource {
  return new NextcloudFolderSource({ folder: join(data, folder) });
}

test("files are offered with their times, in a stable order", async () => {
  await put("ada/files/Zürich/deep/é 😀.txt", "c");
  await put("ada/files/Zürich/b.txt", "");
  await put("ada/files/large.bin", Buffer.alloc(600_000, 7));
  const { files, totals } = await readSource(source());
  expect(files.map(({ path }) => path)).toEqual(["a.txt", "large.bin", "Zürich/b.txt", "Zürich/deep/é 😀.txt"]);
  expect(files.every(({ modifiedMs }) => modifiedMs === MODIFIED_S * 1000)).toBe(true);
  expect(totals).toEqual([{ files: 4, sizeBytes: 5 + 600_000 + 1 }]);
  expect(Buffer.from(await readContent(files[1])).equals(Buffer.alloc(600_000, 7))).toBe(true);
  expect((await readSource(source("ada/files"))).files.map(({ key }) => key)).toEqual(files.map(({ key }) => key));
});

test("what is elsewhere is reported, with what to do", async () => {
  await put("ada/files_trashbin/files/old.txt.d1577934245", "old");
  await put("ada/files_versions/a.txt.v1577934245", "older");
  const { leftOut } = await readSource(source());
  expect(leftOut.map(({ name, reason, count }) => [name, reason, count])).toEqual([
    ["Favorites, tags, shares, and comments", "unsupported", undefined],
    ["Other storage", "unsupported", undefined],
    ["Trash", "trashed", 1],
    ["Earlier versions", "unsupported", undefined],
  ]);
  expect(leftOut[0]?.message).toContain("by WebDAV");
});

test("what links beside the files lead to is not reported", async () => {
  await put("elsewhere/one.txt", "one");
  await symlink(join(data, "elsewhere"), join(data, "ada/files_versions"));
  await mkdir(join(data, "ada/files_trashbin"));
  await symlink(join(data, "elsewhere"), join(data, "ada/files_trashbin/files"));
  for (const followsLinks of [false, true]) {
    const { leftOut } = await readSource(new NextcloudFolderSource({ folder: join(data, "ada"), followsLinks }));
    expect(leftOut.map(({ name }) => name)).toEqual(["Favorites, tags, shares, and comments", "Other storage"]);
  }
});

test("encrypted files are never imported, but files that only begin like them are", async () => {
  const header = "HBEGIN:oc_encryption_module:OC_DEFAULT_MODULE:cipher:AES-256-CTR:signed:true:HEND";
  await put("ada/files/encrypted.jpg", header.padEnd(8192, "-") + "x".repeat(9000));
  await put("ada/files/about.txt", `HBEGIN: is how encrypted files begin.\n${"x".repeat(9000)}`);
  await put("ada/files/upload.jpg.ocTransferId123.part", "half");
  const { files, leftOut } = await readSource(source());
  expect(files.map(({ path }) => path)).toEqual(["a.txt", "about.txt"]);
  expect(leftOut.slice(2).map(({ name, reason }) => [name, reason])).toEqual([
    ["encrypted.jpg", "unreadable"],
    ["upload.jpg.ocTransferId123.part", "unreadable"],
  ]);
  expect(leftOut[2]?.message).toContain("occ encryption:decrypt-all");
});

test("links and special files are reported, and not followed", async () => {
  await put("secret/passwords.txt", "secret");
  await symlink(join(data, "secret/passwords.txt"), join(data, "ada/files/file-link"));
  await symlink(join(data, "secret"), join(data, "ada/files/folder-link"));
  expect(Bun.spawnSync(["mkfifo", join(data, "ada/files/pipe")]).exitCode).toBe(0);
  const { files, leftOut } = await readSource(source());
  expect(files.map(({ path }) => path)).toEqual(["a.txt"]);
  expect(leftOut.slice(2).map(({ name }) => name)).toEqual(["file-link", "folder-link", "pipe"]);
});

test("files that are a link are rejected", async () => {
  await put("secret/passwords.txt", "secret");
  await rm(join(data, "ada/files"), { recursive: true });
  await symlink(join(data, "secret"), join(data, "ada/files"));
  const failure = await readSource(source()).catch((error: unknown) => error);
  expect(String(failure)).toContain("Links are not followed");
});

test("a file or folder that becomes a link before it is read is not followed", async () => {
  await put("secret/b.txt", "secret");
  await put("ada/files/sub/b.txt", "secret");
  const { files } = await readSource(source());
  const [top, below] = files;
  await rm(join(data, "ada/files/a.txt"));
  await symlink(join(data, "secret/b.txt"), join(data, "ada/files/a.txt"));
  await rename(join(data, "ada/files/sub"), join(data, "moved"));
  await symlink(join(data, "secret"), join(data, "ada/files/sub"));
  for (const file of [top, below]) {
    expect(await readContent(file).catch((error: unknown) => error)).toMatchObject({ name: "SourceError" });
  }
});

test("a folder that becomes a link before it is listed is not followed", async () => {
  // The names below the link were in the report.
  await put("secret/passwords.txt", "secret");
  await put("ada/files/sub/b.txt", "hello");
  const names: string[] = [];
  for await (const entry of source().entries(new AbortController().signal)) {
    if (entry.type === "leftOut") names.push(entry.leftOut.name);
    if (entry.type !== "file") continue;
    names.push(entry.file.path);
    // The first file, which is listed before the folders.
    await rename(join(data, "ada/files/sub"), join(data, "moved"));
    await symlink(join(data, "secret"), join(data, "ada/files/sub"));
  }
  expect(names.slice(2)).toEqual(["a.txt", "sub"]);
});

test("the folder of a server that becomes a link before the import begins is not followed", async () => {
  // Everything in the other folder was imported.
  await put("secret/passwords.txt", "secret");
  const own = new NextcloudFolderSource({ folder: join(data, "ada"), followsLinks: false });
  expect((await readSource(own)).files.map(({ path }) => path)).toEqual(["a.txt"]);
  await rename(join(data, "ada"), join(data, "moved"));
  await symlink(join(data, "secret"), join(data, "ada"));
  expect(String(await readSource(own).catch((error: unknown) => error))).toContain("Links are not followed");
  // An operator may choose a link.
  expect((await readSource(source())).files.map(({ path }) => path)).toEqual(["passwords.txt"]);
});

test("a file that changes while it is read is no file", async () => {
  const { files } = await readSource(source());
  await put("ada/files/a.txt", "hello, longer");
  const failure = await readContent(files[0]).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "SourceError", isTemporary: false });
});

test.each([
  ["missing", "It does not exist."],
  ["ada/files/a.txt", "It is not a folder."],
])("the folder %s is rejected", async (folder, message) => {
  const failure = await readSource(source(folder)).catch((error: unknown) => error);
  expect(String(failure)).toContain(message);
});

test("the data directory of all accounts is rejected", async () => {
  await put(".ncdata", "");
  const failure = await readSource(source("")).catch((error: unknown) => error);
  expect(String(failure)).toContain("Choose the folder of one account");
});

test("a canceled import ends", async () => {
  const failure = await readSource(source(), AbortSignal.abort()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "AbortError" });
});
