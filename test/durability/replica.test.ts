// A server runs Litestream, and confirms changes once they are in the bucket.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import {
  findLitestream,
  litestreamConfiguration,
  readFileOf,
  readGeneration,
  restoreReplica,
  until,
} from "../support/litestream.ts";
import { litestreamPath, replicatedSettings } from "../support/replicated.ts";
import { TestS3 } from "../support/s3-server.ts";
import { cleanEnv, dispose, runLarder, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

/** Rounds of the test that kills everything; `scripts/rounds/replica` makes 200. */
const KILL_ROUNDS = Number(process.env["LARDER_TEST_SEEDS"] ?? 5);
const SECRET = "S3RVER";

let s3: TestS3;
let server: TestServer;
let admin: Account;
let folder: string;
let settings: Record<string, string>;
let names = 0;

beforeAll(async () => {
  s3 = await TestS3.start();
  folder = await temporaryDirectory();
  settings = { ...(await replicatedSettings(s3, folder)), LARDER_BLOBS_ACKNOWLEDGE: "bucket" };
  server = await startServer({ env: settings, hasAccounts: true });
  admin = await server.addUser(["--admin"]);
}, 120_000);
afterAll(async () => {
  await dispose(server);
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Makes a folder, and returns its name once the server has confirmed it. */
async function change(): Promise<string> {
  const name = `folder-${++names}`;
  expectStatus(await admin.client.post("/api/files/folders", { name, path: "/" }), 201);
  return name;
}

/** The names of all folders in a restored copy of the replica. */
async function restoredNames(): Promise<string[]> {
  const target = join(folder, `restored-${++names}`);
  using db = await restoreReplica(s3, server, target);
  expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  return db
    .query<{ name: string }, []>("SELECT name FROM nodes")
    .all()
    .map(({ name }) => name);
}

async function findProblem(): Promise<string | undefined> {
  const health = await admin.client.get("/api/admin/health");
  const { problems } = JSON.parse(new TextDecoder().decode(health.bytes)).data;
  return problems.find(({ about }: { about: string }) => about === "replica")?.message;
}

describe("a confirmed change", () => {
  test(
    "is in the replica when the server and Litestream are killed right after",
    async () => {
      for (let round = 0; round < KILL_ROUNDS; round++) {
        const changes = 1 + Math.floor(Math.random() * 8);
        const made = await Promise.all(Array.from({ length: changes }, change));
        const pid = findLitestream(server) ?? 0;
        await server.kill9();
        await until(() => findLitestream(server) === undefined, `process ${pid} ended`);
        expect(await restoredNames()).toEqual(expect.arrayContaining(made));
        await server.start();
      }
    },
    20_000 * (KILL_ROUNDS + 3),
  );

  test("needs no copy of the whole database after a restart or a crash", async () => {
    await change();
    const generation = readGeneration(server);
    await server.restart();
    await change();
    expect(readGeneration(server)).toBe(generation);
    await server.kill9();
    await server.start();
    await change();
    expect(readGeneration(server)).toBe(generation);
  });

  test("is in the replica after Litestream was killed", async () => {
    const pid = await until(() => findLitestream(server), "Litestream runs");
    process.kill(pid, "SIGKILL");
    const name = await change();
    expect(findLitestream(server)).not.toBe(pid);
    expect(await restoredNames()).toContain(name);
  });
});

test("a replica that can't be proved to have everything begins again with the whole database", async () => {
  await change();
  const generation = readGeneration(server);
  const logs = join(server.dataDir, ".larder.db-litestream/generations", generation, "wal");
  await rm(logs, { recursive: true });
  const name = await change();
  expect(readGeneration(server)).not.toBe(generation);
  expect(await restoredNames()).toContain(name);
  const next = await change();
  expect(await restoredNames()).toContain(next);
});

test("a segment that was on its way when Litestream ended can't replace what is confirmed later", async () => {
  await change();
  const generation = readGeneration(server);
  const pid = await until(() => findLitestream(server), "Litestream runs");
  const sent = Promise.withResolvers<void>();
  s3.onRequest = (request) => {
    if (!request.startsWith("PUT") || !request.includes("/wal/")) return;
    s3.onRequest = () => {};
    sent.resolve();
    return new Promise(() => {});
  };
  const changing = change();
  await sent.promise;
  process.kill(pid, "SIGKILL");
  const name = await changing;
  expect(readGeneration(server)).not.toBe(generation);
  expect(await restoredNames()).toContain(name);
});

test("the keys of the bucket are only in the environment of Litestream", async () => {
  const pid = await until(() => findLitestream(server), "Litestream runs");
  expect(readFileOf(pid, "cmdline")).not.toContain(SECRET);
  expect(readFileOf(pid, "environ")).toContain(`LITESTREAM_SECRET_ACCESS_KEY=${SECRET}`);
  expect(readFileOf(pid, "environ")).not.toContain("LARDER_");
  for (const name of readdirSync(server.dataDir)) {
    const path = join(server.dataDir, name);
    if (statSync(path).isFile()) expect(readFileSync(path).includes(SECRET)).toBe(false);
  }
  expect(server.log).not.toContain(SECRET);
  expect(statSync(litestreamConfiguration(server)).mode & 0o777).toBe(0o600);
});

test("a Litestream that an earlier server left behind is ended by the next start", async () => {
  await server.kill9();
  await until(() => findLitestream(server) === undefined, "Litestream ended with the server");
  const left = Bun.spawn([litestreamPath, "replicate", "-config", litestreamConfiguration(server)], {
    env: cleanEnv({ LITESTREAM_ACCESS_KEY_ID: SECRET, LITESTREAM_SECRET_ACCESS_KEY: SECRET }),
    stdout: "ignore",
  });
  await server.start();
  await left.exited;
  expect(left.signalCode).toBe("SIGKILL");
  const name = await change();
  expect(await restoredNames()).toContain(name);
});

test("a late replica is a problem in the health, and the server recovers", async () => {
  expect(await findProblem()).toBeUndefined();
  s3.behavior = "failing";
  const rejected = await admin.client.post("/api/files/folders", { name: `folder-${++names}`, path: "/" });
  expectStatus(rejected, 503);
  // The cause is for the operator.
  expect(rejected.string("error.message")).not.toMatch(/replica|Litestream/i);
  expect(rejected.number("error.details.retryAfter")).toBeGreaterThan(0);
  expect(await until(findProblem, "the health names the replica")).toContain("seconds late");
  s3.behavior = "well";
  await until(async () => (await findProblem()) === undefined, "the problem ended");
  await until(async () => {
    const response = await admin.client.post("/api/files/folders", { name: `folder-${++names}`, path: "/" });
    return response.status === 201;
  }, "changes are accepted again");
  const name = await change();
  expect(await restoredNames()).toContain(name);
}, 120_000);

test("another version of Litestream stops the start", async () => {
  const fake = join(folder, "litestream");
  await writeFile(fake, "#!/bin/sh\necho v0.5.0\n");
  await chmod(fake, 0o755);
  const start = (path: string) =>
    runLarder(["serve", "--data", join(folder, "other")], { env: { ...settings, LARDER_REPLICA_LITESTREAM: path } });
  const other = await start(fake);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(`${fake} is Litestream 0.5.0; only 0.3.13 is supported`);
  const absent = await start(join(folder, "absent"));
  expect(absent.code).toBe(2);
  expect(absent.stderr).toContain("Cannot run");
});
