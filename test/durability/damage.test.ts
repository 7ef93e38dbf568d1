import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cp, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, Client, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice } from "../support/mobile.ts";
import { type SeededRandom, seededRandom, seedsToRun } from "../support/random.ts";
import { dispose, runLarder, startServer, type TestServer, temporaryDirectory, withServer } from "../support/server.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";

test("working folders that vanish while the server runs are created again; clients send their files again", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const phone = await registerDevice(server, admin);
    const content = randomContent(4_096);
    const begun = await planUpload(phone.client, content);
    await sendChunks(phone.client, begun, content, [0, 1]);
    for (const folder of ["uploads", "snapshots", "thumbs"])
      await rm(join(server.dataDir, folder), { recursive: true, force: true });

    // The received bytes are gone: the upload fails or can be repeated, and never makes half a file.
    const ended = await completeUpload(phone.client, begun.uploadId);
    expect(ended.status).toBeGreaterThanOrEqual(400);
    expect(ended.status).toBeLessThan(500);
    await sendChunks(phone.client, begun, content);
    expectStatus(await completeUpload(phone.client, begun.uploadId), 200);
    const next = await planUpload(phone.client, content, { name: "next.bin" });
    await sendChunks(phone.client, next, content);
    expectStatus(await completeUpload(phone.client, next.uploadId), 200);
    await admin.client.stored("x");
    await runJob(admin.client, "snapshot");
    expect((await readdir(join(server.dataDir, "snapshots"))).length).toBeGreaterThan(0);
  });
});

const pagesTried = 6;
const pageBytes = 4096;

test("a command that requests a job gets its result although the damage makes the server fail to save it at first", async () => {
  await withServer({}, async (server) => {
    const admin = await server.addUser(["--admin"]);
    for (let index = 0; index < 60; index++)
      await admin.client.stored(`${index}`, { name: `f${index}`, fields: { folder: `/d${index % 5}`, tags: "a,b" } });
    expect(await server.stop()).toBe(0);
    const database = join(server.dataDir, "larder.db");
    using sqlite = new Database(database, { readonly: true });
    const row = sqlite
      .query<{ page: number }, []>("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'nodes'")
      .get();
    await damagePage(database, (row?.page ?? 0) - 1, seededRandom(1));
    await server.start();
    await admin.client.upload("new", { name: "new" });
    await admin.client.post("/api/admin/jobs/quick-check/run");
    const { code, stderr } = await server.larder(["gc", "--now"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("Nothing is removed from the store until it is restored."),
    ]);
    // Building it again does not help.
    expect(server.log.split("The text index is damaged").length).toBeLessThanOrEqual(2);
  });
}, 120_000);

test("a damaged page of the database stops the start or is reported, never crashes the server; a snapshot restores all", async () => {
  const [seed = 1] = seedsToRun([1]);
  const random = seededRandom(seed);
  await withServer({}, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const stored = new Map<string, string>();
    for (let index = 0; index < 60; index++) {
      const fields = { folder: `/d${index % 5}`, tags: "a,b" };
      stored.set(await admin.client.storedId(`${index}`, { name: `f${index}`, fields }), checksumOf(`${index}`));
    }
    await runJob(admin.client, "snapshot");
    expect(await server.stop()).toBe(0);
    const reported = { atStart: 0, byCheck: 0, never: 0 };
    for (let round = 0; round < pagesTried; round++) {
      const dataDir = await temporaryDirectory();
      try {
        await cp(server.dataDir, dataDir, { recursive: true, preserveTimestamps: true });
        // Without the run mark, this is not a copy, which would open from its snapshot.
        await rm(join(dataDir, "larder.state"));
        const database = join(dataDir, "larder.db");
        await damagePage(database, random.below((await stat(database)).size / pageBytes), random);
        reported[await expectReport(dataDir, admin.token)] += 1;
        await expectRestore(dataDir, admin.token, stored);
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    }
    expect(reported.atStart + reported.byCheck).toBeGreaterThan(pagesTried / 2);
  });
}, 120_000);

/** @param page counted from 0 */
async function damagePage(path: string, page: number, random: SeededRandom): Promise<void> {
  const database = await open(path, "r+");
  await database.write(random.bytes(pageBytes), 0, pageBytes, page * pageBytes);
  await database.close();
}

/** Starts a server on a damaged directory. @returns when the damage is reported; never if the page is unused */
async function expectReport(dataDir: string, token: string): Promise<"atStart" | "byCheck" | "never"> {
  const damaged = await startServer({ dataDir }).catch((error: unknown) => String(error));
  if (typeof damaged === "string") {
    expect(damaged).toContain("larder restore --snapshot newest");
    expect(damaged).not.toContain("Unexpected error");
    return "atStart";
  }
  const client = new Client(damaged, token);
  // These requests always get a response.
  await client.upload("new", { name: "new" });
  await client.get("/api/files?recursive=true&limit=100");
  const check = await client.post("/api/admin/jobs/quick-check/run");
  const ready = await damaged.visitor.get("/health/ready");
  if (ready.status === 503) {
    expect(ready.string("reason")).toContain("larder restore --snapshot newest");
    await eventually("it is logged", () => damaged.log.includes("The database is damaged"));
    await expectProtection(damaged, client);
  } else expect(check.at("data.lastError")).toBe(null);
  await damaged.kill9();
  return ready.status === 503 ? "byCheck" : "never";
}

/** Expects that no blob is deleted because of the damage, and that no snapshot of it replaces a good one. */
async function expectProtection(damaged: TestServer, client: Client): Promise<void> {
  const snapshots = join(damaged.dataDir, "snapshots");
  // A scheduled snapshot that fails at the damage leaves nothing, but can still be in progress.
  const list = async () => (await readdir(snapshots)).filter((name) => !name.includes(".partial"));
  const before = await list();
  for (const job of ["snapshot", "gc", "leftovers"]) {
    const ran = await client.post(`/api/admin/jobs/${job}/run`);
    // If the accounts are damaged, nobody can sign in.
    if (ran.status === 500) expect(ran.string("error.details.reason")).toBe("database_error");
    else expect([job, ran.at("data.lastError")]).toEqual([job, expect.stringContaining("is damaged")]);
  }
  expect((await damaged.larder(["gc", "--now"])).code).not.toBe(0);
  expect(await list()).toEqual(before);
}

async function expectRestore(dataDir: string, token: string, stored: ReadonlyMap<string, string>): Promise<void> {
  const { code, stderr } = await runLarder(["restore", "--snapshot", "newest", "--data", dataDir]);
  expect([code, stderr]).toEqual([0, stderr]);
  const restored = await startServer({ dataDir });
  try {
    const client = new Client(restored, token);
    for (const [id, checksum] of stored)
      expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksum);
    expect((await client.post("/api/admin/jobs/quick-check/run")).at("data.lastResult")).toBe("ok");
  } finally {
    await dispose(restored);
  }
}
