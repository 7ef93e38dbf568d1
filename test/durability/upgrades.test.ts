/** This version opens data directories of earlier versions (test/fixtures/releases, made by scripts/fixtures.ts). */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFile, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client, digestOf } from "../support/client.ts";
import { sendDav } from "../support/app-passwords.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { readAccountContents } from "../support/account-contents.ts";
import { runJob } from "../support/jobs.ts";
import { type Multistatus, readMultistatus } from "../support/multistatus.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";
import {
  repositoryRoot,
  runLarder,
  temporaryDirectory,
  type TestServer,
  withServer,
  testCommand,
} from "../support/server.ts";

const RELEASES = join(repositoryRoot, "test/fixtures/releases");
const NAMES = (await readdir(RELEASES))
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length));

/** The files of a directory, as scripts/fixtures.ts recorded them. */
interface Left {
  readonly email: string;
  readonly otherEmail: string;
  readonly password: string;
  readonly files: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly size: number;
    readonly tags: readonly string[];
    readonly description: string;
    readonly versions: readonly string[];
  }[];
  readonly folders: readonly string[];
  readonly otherFiles: readonly string[];
  readonly deviceId: string | null;
  readonly trash: readonly string[];
  readonly shareToken: string | null;
  readonly apiKey: string | null;
}

async function readLeft(name: string): Promise<Left> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by scripts/fixtures.ts
  return JSON.parse(await readFile(join(RELEASES, `${name}.json`), "utf8")) as Left;
}

/** A temporary copy of the directory of that version, which is removed afterwards. */
async function withLeft(name: string, use: (dataDir: string, left: Left) => Promise<void>): Promise<void> {
  const dataDir = await temporaryDirectory();
  try {
    const unpacked = Bun.spawn(["tar", "--zstd", "-xf", join(RELEASES, `${name}.tar.zst`), "-C", dataDir]);
    expect(await unpacked.exited).toBe(0);
    await use(dataDir, await readLeft(name));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function signIn(server: TestServer, email: string, password: string): Promise<Client> {
  const response = await server.visitor.post("/api/auth/signin", { email, password });
  expectStatus(response, 200);
  return new Client(server, response.string("token"));
}

/** Expects all recorded files, byte for byte. */
async function expectAllThere(server: TestServer, left: Left): Promise<void> {
  const client = await signIn(server, left.email, left.password);
  const { entries, trash } = await readAccountContents(client);
  expect(Object.keys(entries).sort()).toEqual([...left.folders, ...left.files.map(({ path }) => path)].sort());
  for (const { path, sha256, size, tags, description, versions } of left.files) {
    const { item, info, read } = Object(entries[path]);
    const { versionDigests } = Object(read);
    const found = [item.size, item.tags, item.checksum, item.version, info.metadata.description ?? "", read.digest];
    const expected = [size, tags, `sha256:${sha256}`, versions.length, description, sha256];
    expect([path, ...found]).toEqual([path, ...expected]);
    expect(versions.map((_digest, index): unknown => versionDigests[index + 1])).toEqual([...versions]);
  }
  expect(trash).toMatchObject(left.trash.map((name) => ({ name })));
  const other = await signIn(server, left.otherEmail, left.password);
  expect(Object.keys((await readAccountContents(other)).entries)).toEqual([...left.otherFiles]);
  if (left.deviceId !== null) {
    const { email, password, deviceId } = left;
    const device = await server.visitor.post("/api/mobile/auth", { email, password, deviceId });
    expectStatus(device, 200);
    expect(device.string("device.id")).toBe(deviceId);
  }
  if (left.shareToken !== null) expectStatus(await server.visitor.get(`/s/${left.shareToken}/download`), 200);
  if (left.apiKey !== null) expectStatus(await new Client(server, left.apiKey).get("/api/files"), 200);
}

/** Expects all recorded files for a program with a new app password, and the size of all in the root folder. */
async function expectAllInWebDav(server: TestServer, { email, files }: Left): Promise<void> {
  const { stdout, code } = await server.larder(["user", "app-password", email, "--name", "sync"]);
  expect(code).toBe(0);
  const appPassword = { username: email, password: stdout.trim() };
  const root = await sendDav(server, appPassword, "PROPFIND", "", {
    headers: { depth: "0" },
    body: '<propfind xmlns="DAV:" xmlns:o="http://owncloud.org/ns"><prop><o:size/></prop></propfind>',
  });
  expectStatus(root, 207);
  const sizeBytes = files.reduce((sum, { size }) => sum + size, 0);
  expect(root.text).toContain(`<oc:size>${sizeBytes}</oc:size>`);
  for (const { path, sha256 } of files) {
    const names = path.split("/").slice(1);
    const got = await sendDav(server, appPassword, "GET", names.map(encodeURIComponent).join("/"));
    expect([path, digestOf(got.bytes), got.header("etag")]).toEqual([path, sha256, `"${sha256}"`]);
  }
}

async function connect(server: TestServer, { email, password }: Left): Promise<DavClient> {
  return connectDav({ email, password, client: await signIn(server, email, password) });
}

async function list(dav: DavClient, path: string, depth: "0" | "1"): Promise<Multistatus> {
  const body = `<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:getetag/><d:resourcetype/><oc:size/></d:prop></d:propfind>`;
  return readMultistatus(await dav.request("PROPFIND", path, { headers: { depth }, body }));
}

async function rootEtag(dav: DavClient): Promise<string> {
  return (await list(dav, "", "0")).get("/dav/")?.get("DAV:getetag")?.text ?? "";
}

/** The ETags and sizes of all folders by path, as clients see them. */
async function readFolders(dav: DavClient): Promise<Map<string, { etag: string; size: number }>> {
  const found = new Map<string, { etag: string; size: number }>();
  const open = ["/dav/"];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const [href, properties] of await list(dav, path.slice("/dav/".length), "1")) {
      const isFolder = properties.get("DAV:resourcetype")?.elements.includes("DAV:collection") === true;
      const [etag, size] = ["DAV:getetag", "http://owncloud.org/nssize"].map(
        (name) => properties.get(name)?.text ?? "",
      );
      if (isFolder && !found.has(href) && href !== path) open.push(href);
      if (isFolder) found.set(decodeURIComponent(href.slice("/dav".length)), { etag: etag ?? "", size: Number(size) });
    }
  }
  return found;
}

/** Expects that the sizes of folders are right before and after they are added up, and that this changes no ETag. */
async function expectFolderSizes(server: TestServer, left: Left): Promise<void> {
  const dav = await connect(server, left);
  const folders = await readFolders(dav);
  expect(folders.size).toBe(left.folders.length + 1);
  for (const [path, { size }] of folders) {
    const below = left.files.filter((file) => file.path.startsWith(path));
    expect([path, size]).toEqual([path, below.reduce((sum, file) => sum + file.size, 0)]);
  }
  const admin = await signIn(server, left.email, left.password);
  await runJob(admin, "folder-states");
  expect(await readFolders(dav)).toEqual(folders);
  const database = new Database(databaseIn(server.dataDir), { readonly: true });
  expect(database.query("SELECT count(*) AS unfilled FROM folders WHERE bytes IS NULL").all()).toEqual([
    { unfilled: 0 },
  ]);
  database.close();
  await runJob(admin, "recount");
  expect(server.log).not.toContain("A stored counter is wrong");
}

/** Expects that names are in order at once, and that the keys of the order are stored in the background. */
async function expectNaturalOrder(server: TestServer, left: Left): Promise<void> {
  const client = await signIn(server, left.email, left.password);
  const read = () => client.names("/", "&recursive=true&type=file&sort=natural&limit=100");
  const names = await read();
  expect(names).toHaveLength(left.files.length);
  await eventually("the keys of the natural order", () => {
    const database = new Database(databaseIn(server.dataDir), { readonly: true });
    const missing = database.query("SELECT id FROM nodes WHERE natural_key IS NULL LIMIT 1").all();
    database.close();
    return missing.length === 0;
  });
  expect(await read()).toEqual(names);
}

function databaseIn(dataDir: string): string {
  return join(dataDir, "larder.db");
}

/** The migrations of the database. Leaves no files next to it. */
function stepsOf(dataDir: string): string[] {
  const sqlite = new Database(databaseIn(dataDir));
  try {
    return sqlite
      .query<{ id: string }, []>("SELECT id FROM migrations ORDER BY id")
      .all()
      .map(({ id }) => id);
  } finally {
    sqlite.close();
  }
}

function change(dataDir: string, sql: string): void {
  const sqlite = new Database(databaseIn(dataDir));
  try {
    sqlite.run("PRAGMA journal_mode=DELETE");
    sqlite.run(sql);
  } finally {
    sqlite.close();
  }
}

/** The names and digests of all files that an upgrade could change: everything but the blobs. */
async function stateOf(dataDir: string): Promise<Record<string, string>> {
  const names = (await readdir(dataDir)).filter((name) => /^larder\.(db|state)/.test(name)).sort();
  const digests = await Promise.all(
    names.map(async (name) => [name, digestOf(await readFile(join(dataDir, name)))] as const),
  );
  return Object.fromEntries(digests);
}

describe.each(NAMES)("data of %s", (name) => {
  test("opens in one start with all files, and with a copy of the old database", async () => {
    await withLeft(name, async (dataDir, left) => {
      await withServer({ dataDir }, async (server) => {
        const snapshot = await findCopy(dataDir);
        expect(server.log).toContain("Upgraded the database.");
        expect(server.log).toMatch(/"rowsBefore":\{.*"nodes":3\d.*"rowsAfter":\{.*"nodes":3\d/);
        expect(server.log).toContain(`larder restore --snapshot ${snapshot} --data ${dataDir}`);
        await expectAllInWebDav(server, left);
        await expectAllThere(server, left);
        await expectNaturalOrder(server, left);
        await expectFolderSizes(server, left);
        // And it keeps running.
        const client = await signIn(server, left.email, left.password);
        await client.stored("new", { name: "new.txt" });
        await server.restart();
        expect(await client.names()).toContain("new.txt");
      });
    });
  }, 120_000);

  test("the state before the upgrade can be restored, also by the earlier version", async () => {
    await withLeft(name, async (dataDir, left) => {
      const before = await expectSteps(dataDir);
      await withServer({ dataDir }, async (server) => {
        const etag = await rootEtag(await connect(server, left));
        await (await signIn(server, left.email, left.password)).stored("new", { name: "new.txt" });
        await server.stop();
        const snapshot = await findCopy(dataDir);
        const restored = await server.larder(["restore", "--snapshot", snapshot]);
        expect([restored.code, restored.stderr]).toEqual([0, expect.not.stringContaining("missing")]);
        await server.start();
        await expectAllThere(server, left);
        await server.stop();

        // By hand, as the log says it, for the earlier version.
        const aside = join(dataDir, "set-aside", "by-hand");
        await mkdir(aside, { recursive: true });
        for (const one of await readdir(dataDir)) {
          if (one.startsWith("larder.")) await rename(join(dataDir, one), join(aside, one));
        }
        await copyFile(join(dataDir, "snapshots", snapshot), databaseIn(dataDir));
        expect(stepsOf(dataDir)).toEqual(before);
        change(dataDir, "UPDATE users SET name = 'by the earlier version'");
        await server.start();
        expect((await (await signIn(server, left.email, left.password)).get("/api/users/profile")).text).toContain(
          "by the earlier version",
        );
        await expectAllThere(server, left);
        // The earlier version may have changed anything, so a client that synced before must look into the folders.
        expect(await rootEtag(await connect(server, left))).not.toBe(etag);
      });
    });
  }, 120_000);

  test("a kill at any moment of the upgrade leaves a state that the next start upgrades", async () => {
    await withLeft(name, async (dataDir, left) => {
      const before = await expectSteps(dataDir);
      for (let round = 0; round < 6; round++) {
        const child = Bun.spawn([...testCommand(), "serve", "--data", dataDir, "--port", "0"], {
          cwd: repositoryRoot,
          env: { PATH: process.env["PATH"] ?? "" },
          stdout: "ignore",
          stderr: "ignore",
        });
        // From before the database is opened until after it is changed.
        await Bun.sleep(round * 80);
        child.kill("SIGKILL");
        await child.exited;
        const steps = stepsOf(dataDir);
        // All migrations, or none.
        if (!steps.includes("0034_locks")) expect(steps).toEqual(before);
      }
      await withServer({ dataDir }, async (server) => {
        await expectAllThere(server, left);
        expect(stepsOf(dataDir)).toContain("0034_locks");
      });
    });
  }, 120_000);

  test("a failed migration leaves the old state, and reports it", async () => {
    await withLeft(name, async (dataDir) => {
      const before = await expectSteps(dataDir);
      // A table that makes one of the migrations fail.
      change(dataDir, "CREATE TABLE locks (x INTEGER) STRICT");
      await rm(join(dataDir, "larder.state"), { force: true });
      const { code, stderr } = await runLarder(["serve", "--data", dataDir, "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toContain("Could not upgrade");
      expect(stderr).toContain("0034_locks");
      expect(stderr).toContain("The database is unchanged");
      expect(stepsOf(dataDir)).toEqual(before);
    });
  }, 120_000);
});

test("a database of a newer version is rejected, and does not change", async () => {
  const name = NAMES.at(-1) ?? "";
  await withLeft(name, async (dataDir, left) => {
    await withServer({ dataDir }, async (server) => {
      await server.stop();
      change(dataDir, "INSERT INTO migrations (id, applied_at) VALUES ('9999_of_the_future', 1)");
      const before = await stateOf(dataDir);
      const snapshots = await readdir(join(dataDir, "snapshots"));
      for (const args of [["serve", "--port", "0"], ["user", "list"], ["gc"]]) {
        const { code, stdout, stderr } = await server.larder(args);
        expect({ args, code, listens: stdout.includes("listening") }).toEqual({ args, code: 2, listens: false });
        expect(stderr).toContain("written by a newer Larder (it has the steps 9999_of_the_future)");
        expect(await stateOf(dataDir)).toEqual(before);
      }
      expect(await readdir(join(dataDir, "snapshots"))).toEqual(snapshots);
      change(dataDir, "DELETE FROM migrations WHERE id LIKE '9999%'");
      await server.start();
      await expectAllThere(server, left);
    });
  });
}, 120_000);

/** Name of the copy that was made before the upgrade. */
async function findCopy(dataDir: string): Promise<string> {
  const names = await readdir(join(dataDir, "snapshots"));
  const name = names.find((one) => one.endsWith("-before-migration.db"));
  if (name === undefined) throw new Error(`no copy among ${names.join(", ")}`);
  return name;
}

async function expectSteps(dataDir: string): Promise<string[]> {
  const steps = stepsOf(dataDir);
  expect(steps).not.toBeEmpty();
  expect(steps).not.toContain("0034_locks");
  return steps;
}
