/** `larder rebuild` after the loss of the database and its snapshots: the rebuilt database is equal. */
import { expect, test } from "bun:test";
import { copyFile, open, readdir, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { createZstdDecompress } from "node:zlib";
import { type Account, Client, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectStatus, waitForNextMillisecond } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { runJob } from "../support/jobs.ts";
import { file, form, formType } from "../support/multipart.ts";
import { type AccountContents, readAccountContents } from "../support/account-contents.ts";
import { type TestServer, withServer } from "../support/server.ts";

const NEW_PASSWORD = "another horse battery";

/** Creates files with versions, tags, and copies. */
async function fill({ client }: Account): Promise<void> {
  const mailed = await client.storedId("dear anna", {
    name: 'Brief "an" Änne.txt',
    fields: { folder: "/Ablage/2024", tags: "Post,wichtig", description: "line one\nline two", isPublic: "true" },
  });
  expectStatus(await client.putContent(mailed, "dear anna, again"), 200);
  expectStatus(await client.putContent(mailed, "dear anna, at last"), 200);
  expectStatus(await client.put(`/api/files/${mailed}`, { metadata: { "key\u2028": "🗂" } }), 200);
  const dropped = await client.storedId("1", { name: "versions.txt" });
  for (const text of ["22", "333", "4444"]) expectStatus(await client.putContent(dropped, text), 200);
  expectStatus(await client.delete(`/api/files/${dropped}/versions/2`), 200);
  const large = await client.storedId(randomContent(400_000), { name: "large.bin", fields: { folder: "/Ablage" } });
  expectStatus(await client.post("/api/files/copy", { fileIds: [large], destinationFolder: "/Kopien" }), 201);
  await client.stored("", { name: "empty" });
  const moved = await client.folderId("moved", "/Ablage");
  await client.stored("below", { name: "below.txt", fields: { folder: "/Ablage/moved/deep/deeper" } });
  expectStatus(await client.put(`/api/files/folders/${moved}`, { name: "renamed", description: "of a folder" }), 200);
  const trashed = await client.folderId("trashed");
  await client.stored("in the trash", { name: "t.txt", fields: { folder: "/trashed/inner", tags: "post" } });
  const single = await client.storedId("alone", { name: "alone.txt" });
  const purged = await client.storedId("purged", { name: "purged.txt" });
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashed, single, purged] }), 200);
  expectStatus(await client.delete(`/api/files/trash/${purged}`), 200);
  expectStatus(await client.delete(`/api/files/${await client.storedId("gone", { name: "gone.txt" })}`), 200);
  const folder = await client.folderId("gone too");
  const many = Array.from({ length: 80 }, (_, index) =>
    client.upload(`${index}`, { name: `${index}`, fields: { folder: "/gone too/a" } }),
  );
  for (const response of await Promise.all(many)) expectStatus(response, 201);
  expectStatus(await client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
  expectStatus(await client.put("/api/users/settings", { theme: "dark" }), 200);
  const album = await client.post("/api/albums", {
    name: "Änne",
    description: "of a trip",
    fileIds: [mailed, dropped],
  });
  expectStatus(album, 201);
  const at = `/api/albums/${album.string("data.id")}`;
  expectStatus(await client.post(`${at}/items`, { fileIds: [large], before: mailed }), 200);
  expectStatus(await client.patch(at, { coverFileId: dropped }), 200);
  const removed = await client.post("/api/albums", { name: "deleted" });
  expectStatus(await client.delete(`/api/albums/${removed.string("data.id")}`), 200);
  expectStatus(await client.post("/api/albums", { name: "empty" }), 201);
}

async function lose({ dataDir }: TestServer): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (/^larder\.(db|state)/.test(name)) await rm(join(dataDir, name));
  }
  await rm(join(dataDir, "snapshots"), { recursive: true });
}

async function signInAgain(server: TestServer, { email }: Account): Promise<Client> {
  const args = ["user", "set", email, "--password-stdin"];
  const set = await runInProcess(args, { env: server.commandEnv, stdin: `${NEW_PASSWORD}\n` });
  expect([set.code, set.stderr]).toEqual([0, ""]);
  const response = await server.visitor.post("/api/auth/signin", { email, password: NEW_PASSWORD });
  expectStatus(response, 200);
  return new Client(server, response.string("token"));
}

test.each(["stopped properly", "killed"])(
  "a lost database is rebuilt: listings, versions, tags, trash, and digests are equal (%s)",
  async (how) => {
    await withServer({}, async (server) => {
      const people = [await server.signUp(), await server.signUp(), await server.signUp({ name: "Zoë" })];
      const [anna, bert, gone] = people;
      if (anna === undefined || bert === undefined || gone === undefined) throw new Error("three accounts");
      await fill(anna);
      await bert.client.stored("dear anna", { name: "the same content.txt", fields: { folder: "/b" } });
      await gone.client.stored("of an erased account", { name: "x" });
      expect((await server.larder(["user", "erase", gone.email, "--yes"])).code).toBe(0);
      const before = [await readAccountContents(anna.client), await readAccountContents(bert.client)];
      if (how === "killed") {
        // The journal lags by some seconds; a start writes what a crash left.
        await server.kill9();
        await server.start();
      }
      await server.stop();
      // Nothing of a deleted account remains.
      const journal = await readdir(join(server.dataDir, "blobs/journal"), { recursive: true });
      expect(journal.filter((name) => name.includes(gone.id))).toEqual([]);
      expect(journal.filter((name) => name.includes(anna.id))).not.toEqual([]);
      await lose(server);

      const rebuilt = await server.larder(["rebuild"]);
      expect(rebuilt.stderr).not.toContain("missing");
      expect([rebuilt.code, rebuilt.stdout]).toEqual([0, expect.stringContaining(anna.email)]);
      expect(rebuilt.stdout).toContain("passwords, sessions, API keys");
      await server.start();
      expectStatus(await anna.client.get("/api/files"), 401);
      const { email, password } = anna;
      expectStatus(await server.visitor.post("/api/auth/signin", { email, password }), 401);
      const [annaAgain, bertAgain] = [await signInAgain(server, anna), await signInAgain(server, bert)];
      expect([await readAccountContents(annaAgain), await readAccountContents(bertAgain)]).toEqual(before);
      expectStatus(await server.visitor.post("/api/auth/signin", { email: gone.email, password: gone.password }), 401);

      // The server continues: new changes are recorded as well, and can be rebuilt after the next loss.
      await annaAgain.stored("after", { name: "after.txt" });
      const after = await readAccountContents(annaAgain);
      await server.stop();
      await lose(server);
      expect((await server.larder(["rebuild", "--json"])).code).toBe(0);
      await server.start();
      expect(await readAccountContents(await signInAgain(server, anna))).toEqual(after);
    });
  },
  120_000,
);

test("links, drop boxes, passwords, limits, and earlier locations are restored; links revoked just before are not", async () => {
  await withServer({}, async (server) => {
    const anna = await server.signUp();
    const bert = await server.signUp();
    const { client } = anna;
    const id = await client.storedId("first", { name: "photo.txt", fields: { folder: "/before" } });
    const inbox = await client.folderId("inbox");
    const share = async (target: string, settings: object) => {
      const response = await client.post(`/api/files/${target}/shares`, settings);
      expectStatus(response, 201);
      return { id: response.string("data.id"), path: `/api/public/${response.string("data.token")}` };
    };
    const drop = (path: string, content: string) =>
      server.visitor.request("POST", `${path}/upload`, {
        headers: { "Content-Type": formType },
        body: form([file("dropped.txt", content)]),
      });
    const secret = await share(id, { password: "open sesame 1" });
    const limited = await share(id, { maxDownloads: 2 });
    const box = await share(`folders/${inbox}`, { permissions: "upload", maxUploadBytes: 10 });
    await share(id, { user: bert.email });
    const trashed = await client.storedId("in the trash", { name: "t.txt" });
    const album = await client.post("/api/albums", { name: "Rome", fileIds: [trashed, id] });
    expectStatus(await client.post("/api/files/trash", { fileIds: [trashed] }), 200);
    const shareAlbum = async (settings: object) => {
      const response = await client.post(`/api/albums/${album.string("data.id")}/shares`, settings);
      expectStatus(response, 201);
      return { id: response.string("data.id"), path: `/api/public/${response.string("data.token")}` };
    };
    const albumLink = await shareAlbum({ password: "open sesame 2" });
    await shareAlbum({ user: bert.email });
    const albumRevoked = await shareAlbum({});
    const revoked = await share(id, {});
    expectStatus(await server.visitor.get(`${limited.path}/download`), 200);
    expect((await drop(box.path, "12345678")).status).toBe(201);
    await waitForNextMillisecond();
    const before = new Date();
    await waitForNextMillisecond();
    expectStatus(await client.put(`/api/files/${id}`, { folder: "/after", name: "moved.txt" }), 200);
    expectStatus(await client.putContent(id, "second"), 200);
    await awaitNotes(server, anna, "noted.txt");
    expectStatus(await client.delete(`/api/shares/${revoked.id}`), 200);
    expectStatus(await client.delete(`/api/shares/${albumRevoked.id}`), 200);
    await server.kill9();
    await lose(server);

    const rebuilt = await server.larder(["rebuild", "--json"]);
    expect(JSON.parse(rebuilt.stdout)).toMatchObject({
      accounts: [{ email: anna.email, shares: 6, albums: 1 }, { shares: 0 }],
    });
    await server.start();
    expectStatus(await server.visitor.get(revoked.path), 404);
    expectStatus(await server.visitor.get(`${secret.path}/download`), 401);
    expectStatus(await server.visitor.get(`${limited.path}/download`), 200);
    expectStatus(await server.visitor.get(`${limited.path}/download`), 410);
    expect((await drop(box.path, "123")).json).toMatchObject({ success: false });
    const bertAgain = await signInAgain(server, bert);
    expect((await bertAgain.get("/api/shares/received")).list("data.shares")).toHaveLength(2);
    expectStatus(await bertAgain.get(`/api/albums/${album.string("data.id")}/items`), 200);
    expectStatus(await server.visitor.get(albumRevoked.path), 404);
    expectStatus(await server.visitor.get(`${albumLink.path}/files`), 401);
    const grant = await server.visitor.post(`${albumLink.path}/unlock`, { password: "open sesame 2" });
    const opened = await server.visitor.get(`${albumLink.path}/files`, { "x-share-grant": grant.string("data.grant") });
    expect(opened.strings("data.files", "id")).toEqual([id]);

    const again = await signInAgain(server, anna);
    // A file that is in the trash has its place in the album.
    expectStatus(await again.post("/api/files/trash/restore", { fileIds: [trashed] }), 200);
    const items = await again.get(`/api/albums/${album.string("data.id")}/items`);
    expect(items.strings("data.items", "id")).toEqual([trashed, id]);
    const at = `at=${encodeURIComponent(before.toISOString())}`;
    const past = await again.get(`/api/files?folder=/before&${at}`);
    expectStatus(past, 200);
    expect(past.list("data.files")).toMatchObject([{ id, name: "photo.txt", size: 5 }]);
    expectStatus(await again.post("/api/files/restore", { folder: "/before", at: before.toISOString() }), 200);
    expect(await again.names("/before")).toEqual(["photo.txt"]);
    expect((await again.get(`/api/files/${id}/download`)).text).toBe("first");
  });
}, 120_000);

test("an older database that is put in place by hand does not mix with newer journal entries, which are set aside", async () => {
  await withServer({}, async (server) => {
    const anna = await server.signUp();
    await anna.client.stored("1", { name: "one.txt" });
    await server.stop();
    const earlier = join(server.dataDir, "kept.db");
    await copyFile(join(server.dataDir, "larder.db"), earlier);
    await server.start();
    await anna.client.stored("2", { name: "two.txt" });
    await server.stop();
    // As an operator does it by hand.
    await rename(earlier, join(server.dataDir, "larder.db"));
    await rm(join(server.dataDir, "larder.state"));
    await server.start();
    await anna.client.stored("3", { name: "three.txt" });
    const before = await readAccountContents(anna.client);
    await server.stop();
    expect(server.log).toContain("older than the metadata journal");
    expect(await readdir(join(server.dataDir, "blobs", "journal", "newer"))).toHaveLength(1);
    await lose(server);
    expect((await server.larder(["rebuild"])).code).toBe(0);
    await server.start();
    expect(await readAccountContents(await signInAgain(server, anna))).toEqual(before);
  });
}, 120_000);

test("unreadable and missing parts are reported, and the rest is rebuilt", async () => {
  await withServer({}, async (server) => {
    const anna = await server.signUp();
    await anna.client.stored("is there", { name: "there.txt" });
    await anna.client.stored("will be missing", { name: "missing.txt" });
    await server.stop();
    await server.start();
    await anna.client.stored("later", { name: "later.txt" });
    await server.stop();
    await lose(server);
    const digest = digestOf("will be missing");
    await rm(join(server.dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest));
    const folder = join(server.dataDir, "blobs/journal", anna.id);
    const last = (await readdir(folder)).sort().at(-1) ?? "";
    await truncate(join(folder, last), 60);

    const { code, stdout } = await server.larder(["rebuild", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      damaged: [{ path: join(folder, last) }],
      contents: 2,
      missing: 1,
      missingSome: [{ checksum: `sha256:${digest}`, size: 15, names: ["missing.txt"] }],
      unnamed: { count: 1, bytes: 5 },
    });
    await server.start();
    const client = await signInAgain(server, anna);
    expect(await client.names()).toEqual(["missing.txt", "there.txt"]);

    await server.stop();
    await lose(server);
    const nobody = await server.larder(["rebuild", "--recover-unnamed", "nobody@example.org"]);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("nobody@example.org")]);
    const again = await server.larder(["rebuild", "--json", "--recover-unnamed", anna.email.toUpperCase()]);
    expect(JSON.parse(again.stdout)).toMatchObject({ accounts: [{ recovered: 1 }], unnamed: { count: 0 } });
    await server.start();
    const finder = await signInAgain(server, anna);
    expect(await finder.names()).toEqual(["recovered", "missing.txt", "there.txt"]);
    const found = await finder.get("/api/files?folder=/recovered");
    const id = found.string("data.files.0.id");
    expect(found.string("data.files.0.name")).toBe(digestOf("later"));
    expect((await finder.get(`/api/files/${id}/download`)).text).toBe("later");
  });
}, 120_000);

/** Everything that the store journal has of an account, including pending changes. */
async function notesOf({ dataDir }: TestServer, { id }: Account): Promise<string> {
  const folder = join(dataDir, "blobs/journal", id);
  let notes = "";
  for (const name of await readdir(folder).catch(() => [])) {
    // Some files are merged, or are just being written.
    const packed = await readFile(join(folder, name)).catch(() => undefined);
    if (packed === undefined || !name.endsWith(".zst")) continue;
    const unpacked = createZstdDecompress();
    unpacked.end(packed);
    for await (const text of unpacked) notes += String(text);
  }
  return notes;
}

/** Waits until the journal has a file that is created now, and so everything before it. */
async function awaitNotes(server: TestServer, account: Account, name: string): Promise<void> {
  await account.client.stored(name, { name });
  await eventually(`${name} is noted`, async () => (await notesOf(server, account)).includes(`"${name}"`));
}

/** Removes the time of the last change, which is new, and the case of tags, which is not recorded. */
function lasting({ trash, tags, ...portrait }: AccountContents): unknown {
  const dropped = new Set(["modifiedAt", "updatedAt", "trashedAt", "deletedAt", "expiresAt"]);
  const settle = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, inner: unknown) => (dropped.has(key) ? undefined : inner)));
  const inTrash = trash.map((entry) => JSON.stringify(settle(entry))).sort();
  return { ...Object(settle(portrait)), tags: JSON.stringify(tags).toLowerCase(), trash: inTrash };
}

async function damageDatabase({ dataDir }: TestServer): Promise<void> {
  const file = await open(join(dataDir, "larder.db"), "r+");
  await file.write(randomContent(20_000), 0, 20_000, 0);
  await file.close();
}

interface Reported {
  readonly accounts: readonly Record<string, unknown>[];
}

async function applyNewer(server: TestServer, ...flags: string[]): Promise<Reported> {
  const { code, stdout, stderr } = await server.larder(["rebuild", "--newer", "--json", ...flags]);
  expect([code, stderr]).toEqual([0, ""]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the documented output
  return JSON.parse(stdout) as Reported;
}

test("after the restore of a snapshot, rebuild --newer adds all that was acknowledged since", async () => {
  await withServer({}, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const anna = await server.signUp();
    const { client } = anna;
    const mailed = await client.storedId("dear anna", { name: "letter.txt", fields: { folder: "/Ablage" } });
    const earlier = await client.storedId("kept", { name: "kept.txt" });
    const folder = await client.folderId("described", "/Ablage");
    const made = await client.post("/api/albums", { name: "early", fileIds: [earlier] });
    const album = `/api/albums/${made.string("data.id")}`;
    await runJob(admin.client, "snapshot");
    const [snapshot = ""] = (await readdir(join(server.dataDir, "snapshots")))
      .filter((name) => name.endsWith(".db"))
      .sort()
      .reverse();

    await fill(anna);
    for (const text of ["again", "at last", "again"]) expectStatus(await client.putContent(mailed, text), 200);
    expectStatus(await client.put(`/api/files/${earlier}`, { tags: ["post", "new"], description: "of late" }), 200);
    expectStatus(await client.put(`/api/files/folders/${folder}`, { description: "too" }), 200);
    expectStatus(await client.post(`${album}/items`, { fileIds: [mailed], before: earlier }), 200);
    expectStatus(await client.patch(album, { name: "late", coverFileId: mailed }), 200);
    const bert = await server.signUp();
    await bert.client.stored("of a new account", { name: "b.txt", fields: { folder: "/b/c" } });
    await awaitNotes(server, anna, "last.txt");
    await awaitNotes(server, bert, "last of bert.txt");
    const before = [lasting(await readAccountContents(client)), lasting(await readAccountContents(bert.client))];
    await server.kill9();
    await damageDatabase(server);

    const restored = await server.larder(["restore", "--snapshot", snapshot]);
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining("larder rebuild --newer")]);
    // Blobs that only the journal names are not garbage.
    expect((await server.larder(["gc", "--now"])).code).toBe(0);
    const planned = await applyNewer(server, "--dry-run");
    const text = (await server.larder(["rebuild", "--newer", "--dry-run"])).stdout;
    expect(text).toContain("Dry run: these changes would be applied. Nothing was changed.\n");
    expect(text).toContain(`${bert.email} was missing and has been created without a password`);
    const applied = await applyNewer(server);
    expect({ ...applied, dryRun: true }).toMatchObject({ ...planned });
    const ofEach = [anna, bert].map(({ email }) => applied.accounts.find((account) => account["email"] === email));
    expect(ofEach).toMatchObject([
      { isNew: false, versions: 3, labels: 2, beside: 0, albums: 3 },
      { isNew: true, files: 2, folders: 2, names: ["/b", "/b/c", "/b/c/b.txt", "/last of bert.txt"] },
    ]);
    expect(await applyNewer(server)).toMatchObject({ accounts: [] });

    await server.start();
    const bertAgain = await signInAgain(server, bert);
    expect([lasting(await readAccountContents(client)), lasting(await readAccountContents(bertAgain))]).toEqual(before);
    expect((await server.larder(["verify"])).code).toBe(0);
  });
}, 120_000);
