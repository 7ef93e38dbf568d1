// Moves blobs between this disk and a bucket, with and without a running server.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "bun:test";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { takeSnapshotOf } from "../../src/db/snapshot.ts";
import { type Account, digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { runJob } from "../support/jobs.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;

/** The settings of the bucket, without the one that moves new blobs to it. */
const onDisk = () => ({ ...s3.settings, LARDER_BLOBS_STORE: "disk" });

beforeAll(async () => {
  s3 = await TestS3.start();
});
afterAll(() => s3.stop());
beforeEach(async () => {
  await s3.clear();
  server = await startServer({ env: onDisk(), hasAccounts: true });
  admin = await server.addUser(["--admin"]);
}, 120_000);
afterEach(() => dispose(server));

/** The number of blobs on the server's disk. */
async function countHere(): Promise<number> {
  const names = await readdir(join(server.dataDir, "blobs/sha256"), { recursive: true });
  return names.filter((name) => /[0-9a-f]{64}$/.test(name)).length;
}

/** Runs a command on the stopped server's data, in this process. */
const inProcess = (args: string[], env: Record<string, string>) =>
  runInProcess(args, { env: { ...server.commandEnv, ...env } });

/** Removes all cached copies from this disk. The server must not run. */
async function evictAll(): Promise<void> {
  const database = join(server.dataDir, "larder.db");
  // A copy stays until a snapshot of the database records that the bucket has it.
  takeSnapshotOf(database, join(server.dataDir, "snapshots"), "manual");
  const db = new Database(database);
  db.run("UPDATE remote_blobs SET used_at = 1 WHERE used_at IS NOT NULL");
  db.close();
  const moved = await inProcess(["blobs", "move", "--to", "s3"], { ...s3.settings, LARDER_S3_CACHE: "0" });
  expect(moved.code).toBe(0);
}

describe("larder blobs move", () => {
  test("to the bucket and back without a server loses nothing", async () => {
    const contents = [randomContent(10), randomContent(300_000), randomContent(9 * 1024 * 1024)];
    const ids = await Promise.all(contents.map((content) => admin.client.storedId(content)));
    await server.stop();
    const there = await server.larder(["blobs", "move", "--to", "s3"], { env: s3.settings });
    expect({ code: there.code, stderr: there.stderr }).toEqual({ code: 0, stderr: "" });
    expect(there.stdout).toContain("Moved 3 blobs");
    for (const content of contents) expect(await s3.has(digestOf(content))).toBe(true);
    await evictAll();
    expect(await countHere()).toBe(0);
    const status = await server.larder(["blobs", "status", "--json"], { env: s3.settings });
    expect(JSON.parse(status.stdout)).toMatchObject({
      store: "s3",
      all: { contents: 3 },
      remote: { contents: 3 },
      away: { contents: 3 },
      cached: { contents: 0, bytes: 0 },
    });
    const back = await server.larder(["blobs", "move", "--to", "disk", "--empty"]);
    expect({ code: back.code, stderr: back.stderr }).toEqual({ code: 0, stderr: "" });
    expect(await s3.contents()).toEqual([]);
    expect(await countHere()).toBe(3);
    await server.restart({ env: { LARDER_S3_ENDPOINT: "", LARDER_S3_BUCKET: "" } });
    for (const [index, id] of ids.entries()) {
      const response = await admin.client.get(`/api/files/${id}/download`);
      expect(digestOf(response.bytes)).toBe(digestOf(contents[index] ?? ""));
    }
  }, 120_000);

  test("is done by the server if it is running", async () => {
    const content = randomContent(50_000);
    const id = await admin.client.storedId(content);
    await server.restart({ env: s3.settings });
    const there = await server.larder(["blobs", "move", "--to", "s3", "--json"]);
    expect(there.code).toBe(0);
    expect(JSON.parse(there.stdout)).toMatchObject({ ok: true, result: { moved: 1, failed: 0 } });
    await server.restart({ env: onDisk() });
    const back = await server.larder(["blobs", "move", "--to", "disk", "--empty", "--json"]);
    expect(JSON.parse(back.stdout)).toMatchObject({ ok: true, result: { failed: 0, removed: 1 } });
    expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
  }, 120_000);

  test("continues after an interruption", async () => {
    const contents = Array.from({ length: 30 }, () => randomContent(20_000));
    for (const content of contents) await admin.client.stored(content);
    await server.stop();
    s3.failAfter(12);
    const first = await server.larder(["blobs", "move", "--to", "s3"], { env: s3.settings });
    expect(first.code).toBe(1);
    expect(first.stderr).toContain("can't serve now");
    const done = await s3.contents();
    expect(done.length).toBeGreaterThan(0);
    expect(done.length).toBeLessThan(contents.length);
    s3.failAfter(undefined);
    const second = await server.larder(["blobs", "move", "--to", "s3", "--json"], { env: s3.settings });
    expect(second.code).toBe(0);
    for (const content of contents) expect(await s3.has(digestOf(content))).toBe(true);
  }, 120_000);

  test("rejects a target that contradicts the settings, and a missing target", async () => {
    const against = await server.larder(["blobs", "move", "--to", "s3"]);
    expect(against.code).toBe(1);
    expect(against.stderr).toContain("blobs.store");
    expect((await inProcess(["blobs", "move"], {})).code).toBe(2);
    const nowhere = { LARDER_S3_ENDPOINT: "", LARDER_S3_BUCKET: "" };
    expect((await inProcess(["blobs", "move", "--to", "disk"], nowhere)).code).toBe(2);
  });

  test("a blob that is damaged on this disk is not sent, and is reported", async () => {
    const content = randomContent(20_000);
    await admin.client.stored(content);
    const digest = digestOf(content);
    const path = join(server.dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
    await server.stop();
    await Bun.write(path, randomContent(20_000));
    const moved = await server.larder(["blobs", "move", "--to", "s3"], { env: s3.settings });
    expect(moved.code).toBe(1);
    expect(moved.stdout).toContain("1 failed; see the log");
    expect(await s3.contents()).toEqual([]);
  });
});

test("a copy of the data directory reads the bucket, and removes nothing from it before it claims it", async () => {
  const content = randomContent(30_000);
  await server.restart({ env: s3.settings });
  const id = await admin.client.storedId(content);
  await runJob(admin.client, "blob-places");
  await server.stop();
  await evictAll();
  await server.start();
  await runJob(admin.client, "snapshot");
  const dataDir = join(await temporaryDirectory(), "copy");
  await cp(server.dataDir, dataDir, { recursive: true });
  const copy = await startServer({ dataDir, env: s3.settings });
  try {
    expect(copy.log).not.toContain("is missing");
    const session = await copy.visitor.post("/api/auth/signin", { email: admin.email, password: admin.password });
    const headers = { authorization: `Bearer ${session.string("token")}` };
    const read = await copy.visitor.get(`/api/files/${id}/download`, headers);
    expectStatus(read, 200);
    expectStatus(await copy.visitor.request("DELETE", `/api/files/${id}`, { headers }), 200);
    const collected = await copy.larder(["gc", "--now"]);
    expect({ code: collected.code, stderr: collected.stderr }).toEqual({ code: 0, stderr: "" });
    await copy.visitor.request("POST", "/api/admin/jobs/blob-places/run", { headers });
    expect(copy.log).toContain("larder blobs claim");
    expect(await s3.has(digestOf(content))).toBe(true);
    const claimed = await copy.larder(["blobs", "claim"]);
    expect({ code: claimed.code, stderr: claimed.stderr }).toEqual({ code: 0, stderr: "" });
    await copy.visitor.request("POST", "/api/admin/jobs/blob-places/run", { headers });
    expect(await s3.has(digestOf(content))).toBe(false);
  } finally {
    await copy.kill9();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 120_000);

test("a backup has the blobs that only the bucket has, and its drill succeeds", async () => {
  const contents = [randomContent(10_000), randomContent(9 * 1024 * 1024)];
  for (const content of contents) await admin.client.stored(content);
  await server.stop();
  expect((await inProcess(["blobs", "move", "--to", "s3"], s3.settings)).code).toBe(0);
  await evictAll();
  expect(await countHere()).toBe(0);
  const directory = join(await temporaryDirectory(), "backup");
  try {
    const backup = await server.larder(["backup", directory], { env: s3.settings });
    expect({ code: backup.code, stderr: backup.stderr }).toEqual({ code: 0, stderr: "" });
    expect(await countHere()).toBe(2);
    const drill = await server.larder(["backup", "--drill", directory]);
    expect({ code: drill.code, stderr: drill.stderr }).toEqual({ code: 0, stderr: "" });
    expect(drill.stdout).toContain("2 files");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);

test("a rebuilt database knows the blobs that only the bucket has, and reports a missing one", async () => {
  const [content, lost] = [randomContent(10_000), randomContent(20_000)];
  for (const one of [content, lost]) await admin.client.stored(one);
  await server.stop();
  expect((await inProcess(["blobs", "move", "--to", "s3"], s3.settings)).code).toBe(0);
  await evictAll();
  for (const name of ["larder.db", "larder.db-wal", "larder.db-shm", "snapshots"])
    await rm(join(server.dataDir, name), { recursive: true, force: true });
  await s3.remove(digestOf(lost));
  const rebuilt = await server.larder(["rebuild", "--json"], { env: s3.settings });
  expect(rebuilt.code).toBe(1);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ missing: 1, missingSome: [{ size: 20_000 }] });
  const args = ["user", "set", admin.email, "--password-stdin"];
  const set = await runInProcess(args, { env: server.commandEnv, stdin: `${admin.password}\n` });
  expect(set.code).toBe(0);
  await server.restart({ env: s3.settings });
  const session = await server.visitor.post("/api/auth/signin", { email: admin.email, password: admin.password });
  const headers = { authorization: `Bearer ${session.string("token")}` };
  const listed = await server.visitor.get("/api/files", headers);
  const digests: string[] = [];
  for (const index of listed.list("data.files").keys()) {
    const id = listed.string(`data.files.${index}.id`);
    const read = await server.visitor.get(`/api/files/${id}/download`, headers);
    if (read.status === 200) digests.push(digestOf(read.bytes));
  }
  expect(digests).toEqual([digestOf(content)]);
}, 120_000);
