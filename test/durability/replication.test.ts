// Another program reads the log of the database for a long time, as Litestream does.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { withServer } from "../support/server.ts";

/** A connection that pins the log and makes no checkpoints, as Litestream does between its own. */
function holdLog(path: string): { release(): void } {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout=5000");
  db.run("PRAGMA wal_autocheckpoint=0");
  db.run("BEGIN");
  db.query("SELECT count(*) FROM sqlite_schema").get();
  return {
    release() {
      db.run("ROLLBACK");
      db.close();
    },
  };
}

test("a reader that pins the log for long blocks neither writes, snapshots, a stop, nor the next start", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const path = join(server.dataDir, "larder.db");
    const pin = holdLog(path);
    const content = randomContent(1_000);
    for (let round = 0; round < 200; round++) {
      expectStatus(await admin.client.post("/api/files/folders", { name: `f${round}`, path: "/" }), 201);
    }
    const id = await admin.client.storedId(content);
    await runJob(admin.client, "snapshot");
    expectStatus(await admin.client.get("/health/ready"), 200);
    expect(await server.stop()).toBe(0);
    // A log with a reader cannot be merged into the database; the next start uses it.
    expect(existsSync(`${path}-wal`)).toBe(true);
    await server.start();
    expect(server.log).not.toContain("is a copy");
    const response = await admin.client.get(`/api/files/${id}/download`);
    expect(digestOf(response.bytes)).toBe(digestOf(content));
    pin.release();
    expect(await server.stop()).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(false);
    await server.start();
    expect((await admin.client.get("/api/files?limit=1")).number("data.pagination.total")).toBe(201);
  });
}, 120_000);

test("the log is bounded again once the reader continues", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const wal = join(server.dataDir, "larder.db-wal");
    const note = (round: number) => client.post("/api/files/folders", { name: `f${round}`, path: "/" });
    for (let part = 0; part < 3; part++) {
      const pin = holdLog(join(server.dataDir, "larder.db"));
      for (let round = 0; round < 300; round++) expectStatus(await note(part * 1_000 + round), 201);
      pin.release();
    }
    const pinnedBytes = statSync(wal).size;
    for (let round = 0; round < 600; round++) expectStatus(await note(10_000 + round), 201);
    // The first commit that finds a long log makes a checkpoint; later ones overwrite the log from its start.
    expect(statSync(wal).size).toBeLessThan(pinnedBytes + 2 * 1024 * 1024);
  });
}, 120_000);
