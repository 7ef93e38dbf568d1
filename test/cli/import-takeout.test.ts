// larder import --from takeout: archives of Google Takeout, as they were downloaded.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account, Client } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import {
  cleanEnv,
  repositoryRoot,
  sharedServer,
  temporaryDirectory,
  type TestServer,
  testCommand,
  withServer,
} from "../support/server.ts";
import {
  albumFile,
  description,
  type PhotoDescription,
  photoFile,
  photoWithDescription,
  type TakeoutFile,
  takeoutTgz,
  takeoutZip,
} from "../support/takeout.ts";

const server = sharedServer({ hasAccounts: true });
let folder = "";
let made = 0;

beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Report {
  readonly code: number;
  readonly stderr: string;
  readonly counts: Readonly<Record<string, unknown>>;
  readonly list: readonly { readonly name: string; readonly reason: string; readonly message: string }[];
}

/** Writes these archives to a new folder. */
async function archives(files: Readonly<Record<string, Buffer>>): Promise<string> {
  const path = join(folder, `takeout-${++made}`);
  await mkdir(path);
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
  return path;
}

async function importTakeout(
  account: Pick<Account, "email">,
  paths: string | readonly string[],
  flags: readonly string[] = [],
  on: TestServer = server(),
): Promise<Report> {
  const command = ["import", "--from", "takeout", ...[paths].flat(), "--user", account.email, "--json", ...flags];
  const { code, stdout, stderr } = await on.larder(command);
  if (stdout === "") throw new Error(`${command.join(" ")}: ${code} ${stderr}`);
  const { list, ...counts }: Record<string, unknown> & { list: Report["list"] } = JSON.parse(stdout);
  return { code, stderr, counts, list };
}

/** All files of an account by path. */
async function filesOf(client: Client): Promise<Map<string, Record<string, unknown>>> {
  const listed = await client.get("/api/files?folder=/&recursive=true&type=file&limit=100");
  const found = new Map<string, Record<string, unknown>>();
  for (const file of listed.list("data.files") as { id: string; name: string; folder: string }[]) {
    const info = await client.get(`/api/files/${file.id}`);
    found.set(`${file.folder}/${file.name}`.replace("//", "/"), info.at("data") as Record<string, unknown>);
  }
  return found;
}

/** The names of the files in each album. */
async function albumsOf(client: Client): Promise<Record<string, string[]>> {
  const albums: Record<string, string[]> = {};
  for (const { id, name } of (await client.get("/api/albums")).list("data.albums") as { id: string; name: string }[]) {
    albums[name] = (await client.get(`/api/albums/${id}/items`)).strings("data.items", "name").toSorted();
  }
  return albums;
}

const TAKEN = "2019-07-01T10:00:00Z";

test("photos come with their names, dates, descriptions, places, favorites, and albums", async () => {
  const account = await server().signUp();
  const beach = tinyPng(2, 2, [1, 2, 3]);
  const photo: PhotoDescription = {
    title: "Beach & sun?.png",
    taken: TAKEN,
    description: "At the beach",
    location: [38.7167, -9.1333],
    favorited: true,
    people: ["Anna"],
  };
  const path = await archives({
    "takeout-20260101T000000Z-001.zip": takeoutZip([
      photoFile("Photos from 2019", "Beach _ sun_.png", beach),
      description("Lisbon", "Beach _ sun_.png.supplemental-metadata.json", photo),
      albumFile("Lisbon", "Lisbon / 2019", "Our holidays"),
      { path: "Takeout/archive_browser.html", content: "<html>" },
      { path: "Takeout/Drive/Letters/letter.txt", content: "Dear Anna" },
      { path: "Takeout/Keep/note.html", content: "note" },
    ]),
    "takeout-20260101T000000Z-002.zip": takeoutZip([
      description("Photos from 2019", "Beach _ sun_.png.supplemental-metadata.json", photo),
      photoFile("Lisbon", "Beach _ sun_.png", beach),
    ]),
  });
  const { code, counts, list } = await importTakeout(account, path);
  expect({ code, list: list.map(({ name, reason }) => [name, reason]) }).toEqual({
    code: 0,
    list: [
      ["People", "unsupported"],
      ["Keep", "unsupported"],
    ],
  });
  expect(counts).toMatchObject({ ok: true, state: "completed", total: 2, imported: 2, merged: 0, unchanged: 0 });
  const files = await filesOf(account.client);
  expect([...files.keys()].toSorted()).toEqual([
    "/Photos/2019/07/Beach & sun?.png",
    "/Photos/Drive/Letters/letter.txt",
  ]);
  expect(files.get("/Photos/2019/07/Beach & sun?.png")).toMatchObject({
    mimeType: "image/png",
    capturedAt: TAKEN,
    fileModifiedAt: "2019-07-01T10:00:00.000Z",
    metadata: { description: "At the beach", location: "38.7167,-9.1333" },
  });
  expect(await albumsOf(account.client)).toEqual({ "Lisbon / 2019": ["Beach & sun?.png"] });
  const albums = await account.client.get("/api/albums");
  expect(albums.string("data.albums.0.description")).toBe("Our holidays");
  const favorites = await account.client.get("/api/favorites");
  expect(favorites.strings("data.favorites", "name")).toEqual(["Beach & sun?.png"]);
  await eventually("the photo is at its place", async () => {
    const places = await account.client.get("/api/photos/places");
    return places.strings("data.places", "name").includes("Lisbon");
  });
});

test("descriptions are found by all names that Google gives them", async () => {
  const account = await server().signUp();
  const folderName = "Fotos von 2018";
  const long = "an_extremely_long_name_of_a_photo_that_google_cuts_off.png";
  const files: TakeoutFile[] = [];
  let color = 10;
  const add = (name: string, sidecar: string | undefined, title: string, text = title) => {
    files.push(photoFile(folderName, name, tinyPng(2, 2, [color++, 0, 0])));
    if (sidecar !== undefined)
      files.push(description(folderName, sidecar, { title, taken: "2018-05-01T00:00:00Z", description: text }));
  };
  add("old.png", "old.png.json", "old.png");
  add("cut.png", "cut.png.supplemental-me.json", "cut.png");
  add("dot.png", "dot.png..json", "dot.png");
  add("same(1).png", "same.png(1).json", "same.png", "same 1");
  add("same(2).png", "same.png.supplemental-metadata(2).json", "same.png", "same 2");
  add(`${long.slice(0, 47)}.png`, `${long.slice(0, 46)}.json`, long, "long");
  add("edit.png", "edit.png.supplemental-metadata.json", "edit.png");
  add("edit-bearbeitet.png", undefined, "");
  add("live.HEIC", "live.HEIC.supplemental-metadata.json", "live.HEIC");
  files.push(photoFile(folderName, "live.MP4", "a video"));
  add("no title", "no title.supplemental-metadata.json", "no title");
  files.push(description(folderName, "lost.png.supplemental-metadata.json", { title: "lost.png", taken: TAKEN }));
  const path = await archives({ "takeout-20260101T000000Z-1-001.zip": takeoutZip(files) });
  const { code, counts, list } = await importTakeout(account, path);
  expect(list.map(({ name, reason }) => [name, reason])).toEqual([
    [`Takeout/Google Photos/${folderName}/lost.png.supplemental-metadata.json`, "unmatched"],
  ]);
  expect({ code, imported: counts["imported"] }).toEqual({ code: 0, imported: 11 });
  const texts = [...(await filesOf(account.client))].map(([name, { metadata }]) => [
    name.replace("/Photos/2018/05/", ""),
    (metadata as Record<string, string>)["description"],
  ]);
  expect(texts.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))).toEqual([
    [long, "long"],
    ["cut.png", "cut.png"],
    ["dot.png", "dot.png"],
    ["edit-bearbeitet.png", "edit.png"],
    ["edit.png", "edit.png"],
    ["live.HEIC", "live.HEIC"],
    ["live.MP4", "live.HEIC"],
    ["no title", "no title"],
    ["old.png", "old.png"],
    ["same (1).png", expect.stringMatching(/^same [12]$/)],
    ["same.png", expect.stringMatching(/^same [12]$/)],
  ]);
});

describe("a second import", () => {
  test("stores nothing twice, leaves moved files where they are, and deleted ones deleted", async () => {
    const account = await server().signUp();
    const names = ["moved.png", "trashed.png", "deleted.png", "stays.png"];
    const path = await archives({
      "takeout-1.zip": takeoutZip(
        names.flatMap((title, index) => photoWithDescription(tinyPng(3, 2, [index, 9, 9]), { title, taken: TAKEN })),
      ),
    });
    expect((await importTakeout(account, path)).counts).toMatchObject({ imported: 4 });
    const { client } = account;
    const before = await filesOf(client);
    const id = (name: string) => String(before.get(`/Photos/2019/07/${name}`)?.["id"]);
    await client.put(`/api/files/${id("moved.png")}`, { folder: "/Elsewhere", name: "renamed.png" });
    await client.post("/api/files/trash", { fileIds: [id("trashed.png")] });
    await client.delete(`/api/files/${id("deleted.png")}`);
    const again = await importTakeout(account, path);
    expect(again.counts).toMatchObject({ imported: 0, unchanged: 2, deleted: 2 });
    expect([...(await filesOf(client)).keys()].toSorted()).toEqual([
      "/Elsewhere/renamed.png",
      "/Photos/2019/07/stays.png",
    ]);
    const restoring = await importTakeout(account, path, ["--again"]);
    expect(restoring.counts).toMatchObject({ imported: 2, unchanged: 2, deleted: 0 });
    expect((await importTakeout(account, path)).counts).toMatchObject({ imported: 0, unchanged: 4, deleted: 0 });
  });

  test("of an overlapping export adds new photos and new albums", async () => {
    const account = await server().signUp();
    const [first, second] = [tinyPng(4, 2, [1, 1, 1]), tinyPng(4, 2, [2, 2, 2])];
    const one: PhotoDescription = { title: "one.png", taken: TAKEN };
    const older = await archives({ "takeout-1.zip": takeoutZip(photoWithDescription(first, one)) });
    const newer = await archives({
      "takeout-2.zip": takeoutZip([
        ...photoWithDescription(first, { ...one, favorited: true }),
        ...photoWithDescription(second, { title: "two.png", taken: TAKEN }),
        albumFile("Holidays", "Holidays"),
        photoFile("Holidays", "one.png", first),
      ]),
    });
    await importTakeout(account, older);
    expect((await importTakeout(account, newer)).counts).toMatchObject({ imported: 1, unchanged: 1, total: 2 });
    expect(await albumsOf(account.client)).toEqual({ Holidays: ["one.png"] });
    expect((await account.client.get("/api/favorites")).strings("data.favorites", "name")).toEqual(["one.png"]);
  });
});

test("photos that only an album has are joined with their copies by content", async () => {
  const account = await server().signUp();
  const photo = tinyPng(5, 2, [1, 1, 1]);
  const parts = {
    year: await archives({
      "takeout-1.zip": takeoutZip(photoWithDescription(photo, { title: "a.png", taken: TAKEN })),
    }),
    album: await archives({
      "takeout-2.zip": takeoutZip([
        albumFile("Trip", "Trip", "", "Metadaten.json"),
        photoFile("Trip", "a-copy.png", photo),
      ]),
    }),
  };
  await importTakeout(account, parts.year);
  expect((await importTakeout(account, parts.album)).counts).toMatchObject({ imported: 0, merged: 1 });
  expect([...(await filesOf(account.client)).keys()]).toEqual(["/Photos/2019/07/a.png"]);
  expect(await albumsOf(account.client)).toEqual({ Trip: ["a.png"] });
});

test("an archive in .tgz is read like one in .zip", async () => {
  const account = await server().signUp();
  const name = `${"long".repeat(9)}.png`;
  const files = [
    ...photoWithDescription(tinyPng(6, 2, [1, 1, 1]), { title: "first.png", taken: TAKEN, description: "one" }),
    ...photoWithDescription(tinyPng(6, 2, [2, 2, 2]), { title: name, taken: TAKEN }),
    { path: "Takeout/Drive/data.json", content: "{}" },
  ];
  const path = await archives({ "takeout-1.tgz": takeoutTgz(files), "takeout-2.zip": takeoutZip([]) });
  const { code, counts } = await importTakeout(account, path);
  expect({ code, counts }).toMatchObject({ code: 0, counts: { total: 3, imported: 3 } });
  const stored = await filesOf(account.client);
  expect([...stored.keys()].toSorted()).toEqual([
    "/Photos/2019/07/first.png",
    `/Photos/2019/07/${name}`,
    "/Photos/Drive/data.json",
  ]);
  expect(stored.get("/Photos/2019/07/first.png")).toMatchObject({ metadata: { description: "one" } });
  expect((await importTakeout(account, path)).counts).toMatchObject({ imported: 0, unchanged: 3 });
});

test("an archive in the format for more than 4 GB is read", async () => {
  const account = await server().signUp();
  const files = photoWithDescription(tinyPng(6, 3, [1, 1, 1]), { title: "a.png", taken: TAKEN, description: "one" });
  const path = await archives({ "takeout-1.zip": takeoutZip(files, { isZip64: true }) });
  const { code, counts } = await importTakeout(account, path);
  expect({ code, counts }).toMatchObject({ code: 0, counts: { total: 1, imported: 1, problems: {} } });
  expect((await filesOf(account.client)).get("/Photos/2019/07/a.png")).toMatchObject({
    metadata: { description: "one" },
  });
});

test("damaged, incomplete, and hostile archives are reported, and the rest is imported", async () => {
  const account = await server().signUp();
  const good = photoWithDescription(tinyPng(7, 2, [1, 1, 1]), { title: "good.png", taken: TAKEN });
  const bad = photoFile("Photos from 2019", "bad.png", tinyPng(7, 2, [2, 2, 2]));
  const whole = takeoutZip([...good, bad]);
  const damaged = Buffer.from(whole);
  // The last bytes of the last photo, before the directory.
  const at = whole.indexOf("IEND", whole.indexOf("bad.png"));
  damaged.write("XXXX", at);
  const path = await archives({
    "takeout-20260101T000000Z-001.zip": damaged,
    "takeout-20260101T000000Z-003.zip": whole.subarray(0, whole.length - 40),
    "takeout-20260101T000000Z-004.zip": takeoutZip([
      { path: "Takeout/Google Photos/../../escape.png", content: "x" },
      { path: "Takeout/Google Photos/Photos from 2019/broken.png.json", content: "{" },
    ]),
  });
  const { code, counts, list } = await importTakeout(account, path, ["--report", join(path, "report.json")]);
  expect(list.map(({ name, reason }) => [name, reason])).toEqual([
    ["takeout-20260101T000000Z-003.zip", "unreadable"],
    ["Takeout/Google Photos/../../escape.png", "unreadable"],
    ["Takeout/Google Photos/Photos from 2019/broken.png.json", "unreadable"],
    ["takeout-20260101T000000Z-002.zip", "unreadable"],
    ["2019/bad.png", "unreadable"],
  ]);
  expect({ code, counts }).toMatchObject({ code: 1, counts: { imported: 1, problems: { unreadable: 5 } } });
  expect(await Bun.file(join(path, "report.json")).json()).toMatchObject({ imported: 1, list });
  expect([...(await filesOf(account.client)).keys()]).toEqual(["/Photos/2019/07/good.png"]);
});

test("photos in the trash of Google are left out, and archived ones are imported", async () => {
  const account = await server().signUp();
  const path = await archives({
    "takeout-1.zip": takeoutZip([
      photoFile("Trash", "gone.png", tinyPng(8, 2)),
      description("Trash", "gone.png.json", { title: "gone.png", taken: TAKEN, trashed: true }),
      photoFile("Archive", "kept.png", tinyPng(8, 3)),
      description("Archive", "kept.png.json", { title: "kept.png", taken: TAKEN, archived: true }),
    ]),
  });
  const { list } = await importTakeout(account, path);
  expect(list.map(({ reason }) => reason)).toEqual(["trashed", "unsupported"]);
  expect([...(await filesOf(account.client)).keys()]).toEqual(["/Photos/2019/07/kept.png"]);
  expect(await albumsOf(account.client)).toEqual({});
});

test("a dry run says what would be imported, and changes nothing", async () => {
  const account = await server().signUp();
  const path = await archives({
    "takeout-1.zip": takeoutZip(photoWithDescription(tinyPng(9, 2), { title: "a.png", taken: TAKEN })),
  });
  expect((await importTakeout(account, path, ["--dry-run"])).counts).toMatchObject({ dryRun: true, imported: 1 });
  expect((await filesOf(account.client)).size).toBe(0);
});

test("a full quota stops the import, and the next one continues", async () => {
  await withServer({ hasAccounts: true }, async (own) => {
    const account = await own.signUp();
    const files = Array.from({ length: 20 }, (_, index) =>
      photoFile("Photos from 2019", `${index}.bin`, `${index}`.padEnd(1_000)),
    );
    const path = await archives({ "takeout-1.zip": takeoutZip(files) });
    expect((await own.larder(["user", "set", account.email, "--quota", "5500"])).code).toBe(0);
    const full = await importTakeout(account, path, [], own);
    expect(full).toMatchObject({ code: 1, counts: { state: "failed", imported: 5 } });
    expect(full.list[0]).toMatchObject({ reason: "quota_exceeded" });
    expect((await own.larder(["user", "set", account.email, "--quota", "1000000"])).code).toBe(0);
    expect(await importTakeout(account, path, [], own)).toMatchObject({
      code: 0,
      counts: { imported: 20, unchanged: 0, state: "completed" },
    });
  });
});

test("an import that is killed continues where it was, and stores every photo once", async () => {
  await withServer({ hasAccounts: true }, async (own) => {
    const account = await own.signUp();
    const count = 400;
    const files = Array.from({ length: count }, (_, index) =>
      photoWithDescription(`photo ${index} `.repeat(1 + ((index * 7) % 4_000)), {
        title: `${index}.bin`,
        taken: TAKEN,
      }),
    ).flat();
    const albumCopies = [albumFile("All", "All"), photoFile("All", "1.bin", files[2]?.content.toString() ?? "")];
    const path = await archives({ "takeout-1.zip": takeoutZip([...files, ...albumCopies]) });
    const stored = async () => (await account.client.get("/api/users/usage")).number("data.storage.files");
    for (const least of [1, 100, 200]) {
      await killImport(own, account.email, path, async () => (await stored()) >= least);
    }
    const before = await stored();
    const { code, counts } = await importTakeout(account, path, [], own);
    expect({ code, counts }).toMatchObject({
      code: 0,
      counts: { total: count },
    });
    // The one that was killed did not count the last files that it imported.
    const [imported, unchanged] = [Number(counts.imported), Number(counts.unchanged)];
    expect(imported + unchanged).toBe(count);
    expect(imported).toBeGreaterThanOrEqual(count - before);
    expect(await stored()).toBe(count);
    expect(await albumsOf(account.client)).toEqual({ All: ["1.bin"] });
    expect((await own.larder(["verify", own.dataDir])).code).toBe(0);
  });
}, 180_000);

/** Starts an import and kills it at a moment, or lets it finish if that moment does not come. */
async function killImport(own: TestServer, email: string, path: string, isTime: () => Promise<boolean>): Promise<void> {
  const child = Bun.spawn([...testCommand(), "import", "--from", "takeout", path, "--user", email], {
    cwd: repositoryRoot,
    env: cleanEnv({ LARDER_DATA: own.dataDir }),
    stdout: "ignore",
    stderr: "ignore",
  });
  // It runs for a few milliseconds at a time: otherwise a fast import ends before it is killed.
  const isDue = async () => {
    child.kill("SIGSTOP");
    const isNow = child.exitCode !== null || (await isTime());
    if (!isNow) child.kill("SIGCONT");
    return isNow;
  };
  await eventually("the moment to kill the import", isDue, 60_000, 2);
  child.kill("SIGKILL");
  await child.exited;
}

test("without a server, and with what is no archive", async () => {
  await withServer({ hasAccounts: true }, async (own) => {
    const account = await own.signUp();
    await own.stop();
    const path = await archives({
      "takeout-1.zip": takeoutZip(photoWithDescription(tinyPng(9, 3), { title: "a.png", taken: TAKEN })),
    });
    expect((await importTakeout(account, path, [], own)).counts).toMatchObject({ ok: true, imported: 1 });
    const command = ["import", "--from", "takeout", "--user", account.email];
    expect(await own.larder([...command, join(path, "missing.zip")])).toMatchObject({ code: 2 });
    expect((await own.larder([...command, folder])).stderr).toContain("has no .zip or .tgz file");
    expect((await own.larder(command)).stderr).toContain("Specify the archives");
    expect((await own.larder(["import", "--from", "dropbox", path, "--user", account.email])).code).toBe(2);
    await own.start();
    expect([...(await filesOf(account.client)).keys()]).toEqual(["/Photos/2019/07/a.png"]);
  });
});
