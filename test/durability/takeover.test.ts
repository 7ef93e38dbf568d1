// Another machine takes over a store: its files, its keys, and everything that was confirmed.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Account, Client, digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { findLitestream, restoreReplica, until } from "../support/litestream.ts";
import { mountingFails, run } from "../support/mounts.ts";
import { replicatedSettings } from "../support/replicated.ts";
import { TestS3 } from "../support/s3-server.ts";
import {
  type CommandResult,
  dispose,
  runLarder,
  type ServerOptions,
  startServer,
  temporaryDirectory,
  TestServer,
} from "../support/server.ts";
import { enableTwoFactor, generateCode } from "../support/two-factor.ts";

const CONTENT = randomContent(50_000);

let s3: TestS3;
let folder: string;
let settings: Record<string, string>;
/** The owner at the beginning of each test, and its administrator. */
let first: TestServer;
let admin: Account;
const servers: TestServer[] = [];

beforeAll(async () => {
  s3 = await TestS3.start();
}, 120_000);
afterAll(() => s3.stop());
beforeEach(async () => {
  await s3.clear();
  folder = await temporaryDirectory();
  settings = {
    ...(await replicatedSettings(s3, folder)),
    LARDER_REPLICA_LEASE: "2s",
    LARDER_BLOBS_ACKNOWLEDGE: "bucket",
  };
  first = await startServer({ env: settings, hasAccounts: true });
  servers.push(first);
  admin = await first.addUser(["--admin"]);
}, 120_000);
afterEach(async () => {
  for (const server of servers.splice(0)) await dispose(server);
  await rm(folder, { recursive: true, force: true });
});

/** Another machine, with a directory that has nothing. */
async function machine(options: ServerOptions): Promise<TestServer> {
  const server = new TestServer(options.dataDir ?? (await temporaryDirectory()), {
    ...options,
    env: { ...settings, ...options.env },
  });
  servers.push(server);
  return server;
}

async function startMachine(options: ServerOptions): Promise<TestServer> {
  const server = await machine(options);
  await server.start();
  return server;
}

/** Runs a command to its end, which it must reach without serving. */
function larder(command: string, dataDir: string, env: Record<string, string> = {}): Promise<CommandResult> {
  return runLarder([command, "--data", dataDir, "--host", "127.0.0.1", "--port", "0"], {
    env: { ...settings, ...env },
  });
}

/** Kills a server and its Litestream, as a power failure does. */
async function lose(server: TestServer): Promise<void> {
  const pid = findLitestream(server);
  await server.kill9();
  if (pid === undefined) return;
  // It may have ended with its server.
  if (findLitestream(server) === pid) process.kill(pid, "SIGKILL");
  await until(() => findLitestream(server) === undefined, "Litestream ended");
}

/** Whether a server responds that it is ready. For a moment of a takeover, nobody listens on the port. */
async function isReady(server: TestServer): Promise<boolean> {
  const response = await server.visitor.get("/health/ready").catch(() => undefined);
  return response?.status === 200;
}

/** The names of all files and folders in the replica of the first server. */
async function replicatedNames(): Promise<string[]> {
  const target = join(folder, crypto.randomUUID());
  using db = await restoreReplica(s3, first, target);
  return db
    .query<{ name: string }, []>("SELECT name FROM nodes")
    .all()
    .map(({ name }) => name);
}

/** The reason that a machine gives to monitors while it does not serve. */
async function reasonOf(server: TestServer): Promise<string> {
  return (await server.visitor.get("/health/ready")).string("reason");
}

test("a machine continues where the lost one ended, with its keys, links, and second factors", async () => {
  const fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  const shared = await admin.client.post(`/api/files/${fileId}/shares`, {});
  expectStatus(shared, 201);
  const link = new URL(shared.string("data.url")).pathname;
  const { secret } = await enableTwoFactor(admin);

  const dataDir = await temporaryDirectory();
  const refused = await larder("promote", dataDir);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(hostname())]);
  expect(refused.stderr).toContain("still owns the store and is running");
  expect(await isReady(first)).toBe(true);

  await lose(first);
  const second = await startMachine({ dataDir, command: "promote" });
  expect(second.log).not.toContain("Keys were missing");
  const session = new Client(second, admin.token);
  expect(digestOf((await session.get(`/api/files/${fileId}/download`)).bytes)).toBe(digestOf(CONTENT));
  expectStatus(await second.visitor.get(link), 200);
  const { email, password } = admin;
  expectStatus(await second.visitor.post("/api/auth/signin", { email, password, code: generateCode(secret) }), 200);
  expectStatus(await session.post("/api/files/folders", { name: "later", path: "/" }), 201);
  // Nothing of the takeover stays.
  expect(existsSync(join(dataDir, "standby"))).toBe(false);

  // The lost machine returns.
  const returned = await larder("serve", first.dataDir);
  expect([returned.code, returned.stderr]).toEqual([2, expect.stringContaining("larder standby")]);
  // The new owner starts again like any other.
  await second.stop();
  await second.restart({ command: "serve" });
  expectStatus(await new Client(second, admin.token).get("/api/files"), 200);
}, 120_000);

test("a machine with the wrong key takes nothing over", async () => {
  await admin.client.storedId(CONTENT, { name: "photo.bin" });
  await lose(first);
  const wrong = join(folder, "wrong.key");
  await writeFile(wrong, `${Buffer.alloc(32, 8).toString("base64")}\n`, { mode: 0o600 });
  const dataDir = await temporaryDirectory();
  const { code, stderr } = await larder("promote", dataDir, { LARDER_REPLICA_KEY_FILE: wrong });
  expect([code, stderr]).toEqual([2, expect.stringContaining("sealed with another key")]);
  const standby = await larder("standby", dataDir, { LARDER_REPLICA_KEY_FILE: wrong });
  expect([standby.code, standby.stderr]).toEqual([2, expect.stringContaining("sealed with another key")]);
  const doctor = await larder("doctor", dataDir, { LARDER_REPLICA_KEY_FILE: wrong });
  expect(doctor.stdout).toMatch(/^WRONG +replica: .*sealed with another key/m);
  // The owner still owns the store.
  await first.start();
  expectStatus(await new Client(first, admin.token).get("/api/files"), 200);
  await rm(dataDir, { recursive: true });
}, 120_000);

test("without a store in the replica, there is nothing to take over or to follow", async () => {
  const dataDir = await temporaryDirectory();
  const env = { LARDER_REPLICA: "s3://larder/elsewhere" };
  for (const command of ["promote", "standby"]) {
    const { code, stderr } = await larder(command, dataDir, env);
    expect([code, stderr]).toEqual([2, expect.stringContaining("larder serve")]);
  }
  await rm(dataDir, { recursive: true });
}, 120_000);

test("a directory with another store is not replaced", async () => {
  const other = await startServer();
  servers.push(other);
  await other.stop();
  await lose(first);
  const { code, stderr } = await larder("promote", other.dataDir);
  expect([code, stderr]).toEqual([2, expect.stringContaining("another store")]);
  expect(existsSync(join(other.dataDir, "set-aside"))).toBe(false);
}, 120_000);

test("the data of another store, or of a store whose blobs are not mounted, is not moved away by a standby", async () => {
  const other = await startServer();
  servers.push(other);
  await other.stop();
  const foreign = await larder("standby", other.dataDir);
  expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining("another store")]);
  expect(existsSync(join(other.dataDir, "set-aside"))).toBe(false);

  await admin.client.storedId(CONTENT, { name: "photo.bin" });
  await first.stop();
  await rename(join(first.dataDir, "blobs"), join(first.dataDir, "not-mounted"));
  await mkdir(join(first.dataDir, "blobs"));
  const unmounted = await larder("standby", first.dataDir);
  expect([unmounted.code, unmounted.stderr]).toEqual([2, expect.stringContaining("not mounted")]);
  expect(existsSync(join(first.dataDir, "set-aside"))).toBe(false);
}, 120_000);

test.skipIf(mountingFails !== undefined)(
  "a machine whose blobs are a disk of their own takes nothing over",
  async () => {
    await admin.client.storedId(CONTENT, { name: "photo.bin" });
    await lose(first);
    const dataDir = await temporaryDirectory();
    await mkdir(join(dataDir, "blobs"));
    expect((await run(["mount", "-t", "tmpfs", "tmpfs", join(dataDir, "blobs")])).code).toBe(0);
    try {
      const { code, stderr } = await larder("promote", dataDir);
      expect([code, stderr]).toEqual([2, expect.stringContaining("disk of its own")]);
    } finally {
      await run(["umount", join(dataDir, "blobs")]);
    }
    // The owner still owns the store.
    await first.start();
    expectStatus(await new Client(first, admin.token).get("/api/files"), 200);
    await rm(dataDir, { recursive: true });
  },
  120_000,
);

test("a machine that lost power directly after its takeover serves again", async () => {
  const fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  await lose(first);
  const second = await startMachine({ command: "promote" });
  await lose(second);
  // As if it had sent no heartbeat that names the restored database.
  const key = "replica/heartbeat/00000002";
  const heartbeat = JSON.parse((await s3.readObject(key)) ?? "");
  await s3.writeObject(key, JSON.stringify({ ...heartbeat, databaseEpoch: null }));
  const third = await startMachine({ command: "standby", dataDir: second.dataDir });
  expectStatus(await new Client(third, admin.token).get(`/api/files/${fileId}`), 200);
}, 120_000);

test("a takeover that was interrupted must be continued before the directory is used", async () => {
  const fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  await lose(first);
  // As a crash leaves it after the lease was taken, before the database was restored.
  await mkdir(join(first.dataDir, "standby"));
  await writeFile(join(first.dataDir, "standby/unfinished"), "");
  const { code, stderr } = await larder("serve", first.dataDir);
  expect([code, stderr]).toEqual([2, expect.stringContaining("larder promote")]);
  const continued = await startMachine({ command: "standby", dataDir: first.dataDir });
  expectStatus(await new Client(continued, admin.token).get(`/api/files/${fileId}`), 200);
  expect(existsSync(join(first.dataDir, "standby"))).toBe(false);
}, 120_000);

test("a standby rejects requests until a command lets it take over", async () => {
  const standby = await startMachine({ command: "standby" });
  expect((await fetch(`${standby.url}/health/live`)).status).toBe(200);
  expect(await reasonOf(standby)).toContain("standby");
  const api = await fetch(`${standby.url}/api/files`);
  expect([api.status, await api.json()]).toEqual([
    503,
    { success: false, error: expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }) },
  ]);
  const page = await fetch(`${standby.url}/`);
  expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/plain;charset=utf-8"]);

  const refused = await standby.larder(["promote"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("still owns the store")]);

  // It has no database, and no command makes an empty one.
  const backup = await standby.larder(["backup", join(folder, "backup")]);
  expect([backup.code, backup.stderr]).toEqual([2, expect.stringContaining("Run the command on the owner")]);
  expect(existsSync(join(standby.dataDir, "larder.db"))).toBe(false);
  const { stdout } = await standby.larder(["doctor"]);
  expect(stdout).toMatch(/^ok +owner: .*epoch 1\)/m);

  const fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  // A stop in order is no failure: the standby waits.
  await first.stop();
  await until(async () => (await reasonOf(standby)).includes("stopped in order"), "the standby noticed the stop");
  const promoted = await standby.larder(["promote"]);
  expect({ code: promoted.code, stderr: promoted.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("This machine serves the store."),
  });
  expect(await isReady(standby)).toBe(true);
  const session = new Client(standby, admin.token);
  expect(digestOf((await session.get(`/api/files/${fileId}/download`)).bytes)).toBe(digestOf(CONTENT));
  const again = await standby.larder(["promote"]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already")]);
}, 120_000);

test("an automatic standby takes over from a silent owner, which then becomes the standby", async () => {
  const standby = await startMachine({ command: "standby", env: { LARDER_STANDBY_AUTOMATIC: "on" } });
  const fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  await lose(first);
  await until(() => isReady(standby), "the standby took over");
  const session = new Client(standby, admin.token);
  expect(digestOf((await session.get(`/api/files/${fileId}/download`)).bytes)).toBe(digestOf(CONTENT));

  const returned = await startMachine({ command: "standby", dataDir: first.dataDir });
  await until(() => returned.log.includes("Moved the former data"), "the old owner moved its data away");
  expect(existsSync(join(first.dataDir, "larder.db"))).toBe(false);
  const [aside = ""] = readdirSync(join(first.dataDir, "set-aside"));
  expect(readdirSync(join(first.dataDir, "set-aside", aside))).toEqual(
    expect.arrayContaining(["blobs", "larder.db", "secrets"]),
  );
  expectStatus(await session.post("/api/files/folders", { name: "later", path: "/" }), 201);
  // And back again.
  await standby.stop();
  expectStatus(await new Client(await promoteStandby(returned), admin.token).get(`/api/files/${fileId}`), 200);
}, 120_000);

test("a takeover that failed does not look like a stop in order to an automatic standby", async () => {
  const lease = JSON.parse((await s3.readObject("replica/lease/00000001")) ?? "");
  const run = crypto.randomUUID();
  const other = { ...lease, epoch: 2, path: "db/00000002", holder: "other", run, databaseEpoch: null };
  await s3.writeObject("replica/lease/00000002", JSON.stringify(other));
  const heartbeat = { run, counter: 1, isReleased: true, databaseEpoch: null };
  await s3.writeObject("replica/heartbeat/00000002", JSON.stringify(heartbeat));
  const standby = await startMachine({ command: "standby", env: { LARDER_STANDBY_AUTOMATIC: "on" } });
  await until(() => isReady(standby), "the standby took over");
}, 120_000);

test("an owner that was only suspended becomes the standby of the one that took over", async () => {
  await first.restart({ command: "standby" });
  expectStatus(await new Client(first, admin.token).get("/api/files"), 200);
  const standby = await startMachine({ command: "standby", env: { LARDER_STANDBY_AUTOMATIC: "on" } });
  first.signal("SIGSTOP");
  await until(() => isReady(standby), "the standby took over");
  const created = await new Client(standby, admin.token).post("/api/files/folders", { name: "later", path: "/" });
  expectStatus(created, 201);
  first.signal("SIGCONT");
  await until(() => first.log.includes("Moved the former data"), "the former owner became the standby");
  expect(await reasonOf(first)).toContain("standby");
  await standby.stop();
  const entries = await new Client(await promoteStandby(first), admin.token).get("/api/files?folder=/");
  expect(entries.text).toContain("later");
}, 120_000);

test("a machine whose takeover was interrupted waits, if another one has taken over since", async () => {
  const dataDir = await temporaryDirectory();
  await mkdir(join(dataDir, "standby"));
  await writeFile(join(dataDir, "standby/unfinished"), "");
  const standby = await startMachine({ command: "standby", dataDir });
  expect(await reasonOf(standby)).toContain("standby");
  expect(await isReady(first)).toBe(true);
}, 120_000);

async function promoteStandby(standby: TestServer): Promise<TestServer> {
  const { code, stderr } = await standby.larder(["promote"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.anything() });
  return standby;
}

test("changes that only the old owner has stay in its directory, and their number is logged", async () => {
  await first.restart({ env: { LARDER_BLOBS_ACKNOWLEDGE: "disk" } });
  const client = new Client(first, admin.token);
  const fileId = await client.storedId(CONTENT, { name: "photo.bin" });
  await until(async () => (await s3.contents()).length > 0, "the file is in the bucket");
  await until(async () => (await replicatedNames()).includes("photo.bin"), "the replica is up to date");
  const litestream = findLitestream(first);
  if (litestream === undefined) throw new Error("Litestream does not run");
  process.kill(litestream, "SIGSTOP");
  expectStatus(await client.post("/api/files/folders", { name: "unreplicated", path: "/" }), 201);
  await lose(first);

  const second = await startMachine({ command: "promote" });
  const session = new Client(second, admin.token);
  expectStatus(await session.get(`/api/files/${fileId}`), 200);
  const returned = await startMachine({ command: "standby", dataDir: first.dataDir });
  await until(() => returned.log.includes("Moved the former data"), "the old owner moved its data away");
  expect(/"unreplicatedChanges":(\d+)/.exec(returned.log)?.[1]).toBe("1");
}, 120_000);
