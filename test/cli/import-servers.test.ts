// larder import --from nextcloud and --from immich: accounts on other servers.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAppPassword } from "../support/app-passwords.ts";
import type { Account, Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { FakeImmich, type FakeAsset, IMMICH_KEY } from "../support/immich-server.ts";
import { scriptedServer } from "../support/import-sources.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true });
const immich = await scriptedServer();
const MODIFIED_S = 1_577_934_245;
let folder = "";

beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command with a secret in a file. */
async function importFrom(account: Account, words: readonly string[], secret = "") {
  const file = join(folder, "secret");
  await writeFile(file, `${secret}\n`);
  const flags = secret === "" ? [] : ["--secret-file", file];
  const { code, stdout, stderr } = await server().larder([
    "import",
    "--user",
    account.email,
    "--json",
    ...flags,
    "--from",
    ...words,
  ]);
  const report: Record<string, unknown> = stdout === "" ? {} : JSON.parse(stdout);
  return { code, stderr, report };
}

interface ListedFile {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
}

/** The files of an account, by path. */
async function filesOf(client: Client): Promise<Map<string, ListedFile>> {
  const listed = await client.get("/api/files?folder=/&recursive=true&type=file&limit=100");
  expectStatus(listed, 200);
  const files = listed.list("data.files") as ListedFile[];
  return new Map(files.map((file) => [`${file.folder}/${file.name}`.replace("//", "/"), file]));
}

async function infoOf(client: Client, file: ListedFile | undefined) {
  const info = await client.get(`/api/files/${file?.id}`);
  expectStatus(info, 200);
  return info;
}

describe("nextcloud", () => {
  test("an account of another server comes with folders, dates, and favorites, and only once", async () => {
    const [from, to] = [await server().signUp(), await server().signUp()];
    const dav = await connectDav(from, {}, "/remote.php/webdav/");
    expectStatus(await dav.mkcol("sub"), 201);
    for (const path of ["a.txt", "sub/b%20%26%20%23.txt"]) {
      expectStatus(await dav.put(path, `content of ${path}`, { "x-oc-mtime": String(MODIFIED_S) }), 201);
    }
    const favorite = (await filesOf(from.client)).get("/a.txt");
    expectStatus(await from.client.post("/api/favorites", { ids: [favorite?.id], favorite: true }), 200);
    const { username, password } = await createAppPassword(from);
    const words = ["nextcloud", "--url", server().url, "--username", username, "--folder", "/Old"];

    const first = await importFrom(to, words, password);
    expect([first.code, first.report["imported"]]).toEqual([0, 2]);
    const files = await filesOf(to.client);
    expect([...files.keys()].sort()).toEqual(["/Old/a.txt", "/Old/sub/b & #.txt"]);
    const info = await infoOf(to.client, files.get("/Old/a.txt"));
    expect(info.string("data.fileModifiedAt")).toBe(new Date(MODIFIED_S * 1000).toISOString());
    expect(info.at("data.isFavorite")).toBe(true);
    const content = await to.client.get(`/api/files/${files.get("/Old/sub/b & #.txt")?.id}/download`);
    expect(content.text).toBe("content of sub/b%20%26%20%23.txt");

    const second = await importFrom(to, words, password);
    expect([second.code, second.report["imported"], second.report["unchanged"]]).toEqual([0, 0, 2]);
  });

  test("a folder of its data directory comes with dates, and never encrypted", async () => {
    const data = join(folder, "data/ada");
    await mkdir(join(data, "files/sub"), { recursive: true });
    await mkdir(join(data, "files_trashbin"), { recursive: true });
    await writeFile(join(data, "files/sub/a.txt"), "a");
    await utimes(join(data, "files/sub/a.txt"), MODIFIED_S, MODIFIED_S);
    await writeFile(join(data, "files/b.txt"), `HBEGIN:cipher:AES-256-CTR:HEND${"-".repeat(9000)}`);
    const account = await server().signUp();
    const { code, report } = await importFrom(account, ["nextcloud", data]);
    expect([code, report["imported"]]).toEqual([1, 1]);
    expect(report["list"]).toContainEqual(expect.objectContaining({ name: "b.txt", reason: "unreadable" }));
    const files = await filesOf(account.client);
    expect([...files.keys()]).toEqual(["/sub/a.txt"]);
    const info = await infoOf(account.client, files.get("/sub/a.txt"));
    expect(info.string("data.fileModifiedAt")).toBe(new Date(MODIFIED_S * 1000).toISOString());
  });

  test("a wrong app password changes nothing, and is not printed", async () => {
    const account = await server().signUp();
    const words = ["nextcloud", "--url", server().url, "--username", account.email];
    const { code, report, stderr } = await importFrom(account, words, "not-the-password");
    expect([code, report["imported"]]).toEqual([1, 0]);
    expect(JSON.stringify(report)).toContain("create an app password");
    expect(JSON.stringify(report) + stderr).not.toContain("not-the-password");
  });
});

describe("immich", () => {
  test("photos come with their details, albums, and both parts of live photos", async () => {
    const photo = (id: string, red: number, more: Partial<FakeAsset> = {}): FakeAsset => ({
      id,
      fileName: `${id}.png`,
      content: tinyPng(2, 2, [red, 2, 3]),
      ...more,
    });
    const served = new FakeImmich({
      assets: [
        photo("beach", 1, { description: "At the sea", location: [54.1, 12.05], isFavorite: true }),
        photo("still", 2, { livePhotoVideoId: "moving" }),
        photo("moving", 3, { fileName: "other.mov", visibility: "hidden", content: "a video" }),
      ],
      albums: [{ id: "1", albumName: "Summer", description: "2024", assetIds: ["beach", "still"] }],
    });
    immich.respond((request) => served.respond(request));
    const account = await server().signUp();
    const words = ["immich", "--url", `${immich.url}/photos`];
    const { code, report } = await importFrom(account, words, IMMICH_KEY);
    expect([code, report["imported"]]).toEqual([0, 3]);
    const files = await filesOf(account.client);
    expect([...files.keys()].sort()).toEqual([
      "/Photos/2024/07/beach.png",
      "/Photos/2024/07/still.mov",
      "/Photos/2024/07/still.png",
    ]);
    const info = await infoOf(account.client, files.get("/Photos/2024/07/beach.png"));
    expect(info.string("data.metadata.description")).toBe("At the sea");
    expect(info.string("data.capturedAt")).toBe("2024-07-03T12:00:00.000+02:00");
    expect(info.at("data.isFavorite")).toBe(true);
    const [album] = (await account.client.get("/api/albums")).list("data.albums") as { name: string; items: number }[];
    expect(album).toMatchObject({ name: "Summer", description: "2024" });
    const again = await importFrom(account, words, IMMICH_KEY);
    expect([again.report["imported"], again.report["unchanged"]]).toEqual([0, 3]);
  });

  test("a damaged photo is reported, and all others are imported", async () => {
    const wrong = Buffer.alloc(20, 7).toString("base64");
    const served = new FakeImmich({
      assets: [
        { id: "a", fileName: "a.jpg", content: "a", checksum: wrong },
        { id: "b", fileName: "b.jpg", content: "b" },
      ],
    });
    immich.respond((request) => served.respond(request));
    const account = await server().signUp();
    const { code, report } = await importFrom(account, ["immich", "--url", immich.url], IMMICH_KEY);
    expect([code, report["imported"]]).toEqual([1, 1]);
    expect([...(await filesOf(account.client)).keys()]).toEqual(["/Photos/2024/07/b.jpg"]);
  });
});

test.each([
  [["immich"], "--url ADDRESS"],
  [["immich", "--url", "https://photos.example.org"], "Specify the API key with --secret-file FILE"],
  [["nextcloud"], "Specify --url, or the folder"],
  [["nextcloud", "--url", "https://cloud.example.org"], "--username NAME"],
  [["nextcloud", "--url", "https://cloud.example.org", "/srv"], "either --url or a folder"],
  [["dropbox"], "--from must be one of: takeout, nextcloud, immich"],
])("import --from %p is not complete", async (words, message) => {
  const { code, stderr } = await importFrom(await server().signUp(), words);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
