// A machine is lost: a copy of its database, its keys, and the bucket with the blobs remain.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client, digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { OWNER_MARKER, TestS3 } from "../support/s3-server.ts";
import { dispose, runLarder, startServer, temporaryDirectory, TestServer } from "../support/server.ts";
import { generateCode, enableTwoFactor } from "../support/two-factor.ts";

const CONTENT = randomContent(50_000);

let s3: TestS3;
/** The files that remain of the lost machine, besides its bucket. */
let left: string;
/** A copy of these files. */
let folder: string;
let server: TestServer;
let admin: Account;
let fileId: string;
let link: string;
let factor: string;

beforeAll(async () => {
  s3 = await TestS3.start();
  left = await temporaryDirectory();
  const former = await startServer({ env: s3.settings });
  admin = await former.addUser(["--admin"]);
  fileId = await admin.client.storedId(CONTENT, { name: "photo.bin" });
  const shared = await admin.client.post(`/api/files/${fileId}/shares`, {});
  expectStatus(shared, 201);
  link = new URL(shared.string("data.url")).pathname;
  factor = (await enableTwoFactor(admin)).secret;
  await runJob(admin.client, "blob-places");
  await former.stop();
  // The database as Litestream restores it, and a copy of the keys. Nothing else of the machine remains.
  const database = new Database(join(former.dataDir, "larder.db"));
  database.run(`VACUUM INTO '${join(left, "l.db")}'`);
  database.close();
  await cp(join(former.dataDir, "secrets"), join(left, "secrets"), { recursive: true });
  await s3.save(join(left, "bucket"));
  await dispose(former);
}, 120_000);
afterAll(async () => {
  await s3.stop();
  await rm(left, { recursive: true });
});
beforeEach(async () => {
  await s3.load(join(left, "bucket"));
  folder = await temporaryDirectory();
  for (const name of ["l.db", "secrets"]) await cp(join(left, name), join(folder, name), { recursive: true });
  server = new TestServer(join(folder, "new"), { env: s3.settings });
});
afterEach(async () => {
  await dispose(server);
  await rm(folder, { recursive: true, force: true });
});

function restore(...flags: string[]) {
  const args = ["restore", "--database", join(folder, "l.db"), "--data", server.dataDir, ...flags];
  return runLarder(args, { env: s3.settings });
}

test("one command makes an empty directory continue from the lost machine", async () => {
  const { code, stdout, stderr } = await restore("--secrets", join(folder, "secrets"), "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    users: 1,
    files: 1,
    missing: 0,
    secrets: { from: join(folder, "secrets"), new: [] },
    bucket: { name: "larder", claimed: true },
  });
  expect((await stat(join(server.dataDir, "secrets"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(server.dataDir, "secrets", "jwt.json"))).mode & 0o777).toBe(0o600);

  await server.start();
  expect(server.log).not.toContain("another copy");
  const session = new Client(server, admin.token);
  expect(digestOf((await session.get(`/api/files/${fileId}/download`)).bytes)).toBe(digestOf(CONTENT));
  expectStatus(await server.visitor.get(link), 200);
  const { email, password } = admin;
  expectStatus(await server.visitor.post("/api/auth/signin", { email, password, code: generateCode(factor) }), 200);
  // The directory owns the bucket: deleted blobs are removed from it too.
  expectStatus(await session.delete(`/api/files/${fileId}`), 200);
  await server.stop();
  expect((await server.larder(["gc", "--now"], { env: s3.settings })).code).toBe(0);
  expect((await server.larder(["blobs", "move", "--to", "s3"], { env: s3.settings })).code).toBe(0);
  expect(await s3.contents()).toEqual([]);
}, 120_000);

test("without the keys, it creates nothing and names the losses; a flag accepts them", async () => {
  const refused = await restore();
  expect([refused.code, existsSync(server.dataDir)]).toEqual([2, false]);
  for (const word of ["--secrets", "--without-secrets", "sessions", "links", "authenticator"]) {
    expect(refused.stderr).toContain(word);
  }
  const partial = join(folder, "partial");
  await mkdir(partial);
  await cp(join(folder, "secrets", "jwt.json"), join(partial, "jwt.json"));
  const torn = await restore("--secrets", partial);
  expect([torn.code, torn.stderr, existsSync(server.dataDir)]).toEqual([
    2,
    expect.stringContaining("link.json"),
    false,
  ]);

  const accepted = await restore("--without-secrets");
  expect(accepted.code).toBe(0);
  expect(accepted.stdout).toContain("--no-two-factor");
  await server.start();
  expectStatus(await new Client(server, admin.token).get("/api/files"), 401);
  expectStatus(await server.visitor.get(link), 404);
  await server.stop();
  await server.start();
  await server.stop();
  // The server logs the new keys once, as it does for a copy without secrets/.
  expect(server.log.split("Keys were missing in secrets/; created new ones")).toHaveLength(2);
}, 120_000);

test("blobs that neither the bucket nor the disk has are named", async () => {
  await s3.remove(digestOf(CONTENT));
  const { code, stderr, stdout } = await restore("--secrets", join(folder, "secrets"));
  expect([code, stdout]).toEqual([1, expect.stringContaining("Missing: 1 blob.")]);
  expect(stderr).toContain("photo.bin");
}, 120_000);

test("if the original server still runs, it keeps the bucket", async () => {
  const marker = () => s3.readObject(OWNER_MARKER);
  const before = await marker();
  const { code, stdout } = await restore("--secrets", join(folder, "secrets"), "--no-claim");
  expect([code, await marker()]).toEqual([0, before]);
  expect(stdout).toContain("larder blobs claim");
}, 120_000);

test("a bucket without an owner, of another store, or none at all is rejected, and nothing is created", async () => {
  const database = ["restore", "--database", join(folder, "l.db"), "--data", server.dataDir, "--without-secrets"];
  const none = await runLarder(database);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("s3.endpoint")]);
  const elsewhere = await runLarder(database, { env: { ...s3.settings, LARDER_S3_PREFIX: "elsewhere" } });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining("s3.prefix")]);
  await s3.writeObject(OWNER_MARKER, JSON.stringify({ store: "another", epoch: "" }));
  const foreign = await runLarder(database, { env: s3.settings });
  expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining("another server")]);
  expect(existsSync(server.dataDir)).toBe(false);
}, 120_000);

test("the new directory may have settings and keys, and nothing else", async () => {
  await mkdir(server.dataDir);
  const lines = Object.entries(s3.settings)
    .filter(([name]) => name.startsWith("LARDER_S3_"))
    .map(([name, value]) => [name.slice("LARDER_S3_".length).toLowerCase(), value] as const)
    .map(
      ([name, value]) => `${name.replaceAll(/_([a-z])/g, (_, initial: string) => initial.toUpperCase())} = "${value}"`,
    );
  await writeFile(join(server.dataDir, "larder.toml"), ["[s3]", ...lines].join("\n"), { mode: 0o600 });
  await cp(join(folder, "secrets"), join(server.dataDir, "secrets"), { recursive: true });
  const args = ["restore", "--database", join(folder, "l.db"), "--data", server.dataDir];
  const twice = await runLarder([...args, "--secrets", join(folder, "secrets")]);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("--secrets")]);
  expect(await readdir(server.dataDir)).not.toContain("larder.db");
  const { code, stderr } = await runLarder(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const jwt = (path: string) => readFile(join(path, "jwt.json"), "utf8");
  expect(await jwt(join(server.dataDir, "secrets"))).toBe(await jwt(join(folder, "secrets")));
  // With an existing database, the flags of the first restore are rejected.
  const again = await runLarder([...args, "--without-secrets"]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("empty directory")]);
}, 120_000);
