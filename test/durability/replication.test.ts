// Somebody else reads the database's log for long, as programs do that replicate it (Litestream): no harm comes of it.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { withServer } from "../support/server.ts";

/** A connection that holds the log from now on and makes no checkpoints, as Litestream does between its own. */
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

test("a reader that holds the log for long stops neither writing, nor snapshots, nor the end, nor the next start", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const path = join(server.dataDir, "larder.db");
    const held = holdLog(path);
    const content = randomContent(1_000);
    for (let round = 0; round < 200; round++) {
      expectStatus(await admin.client.post("/api/files/folders", { name: `f${round}`, path: "/" }), 201);
    }
    const id = await admin.client.storedId(content);
    await runJob(admin.client, "snapshot");
    expectStatus(await admin.client.get("/health/ready"), 200);
    expect(await server.stop()).toBe(0);
    // The log can't be folded in while somebody reads it; what is in it counts at the next start.
    expect(existsSync(`${path}-wal`)).toBe(true);
    await server.start();
    expect(server.log).not.toContain("is a copy");
    const response = await admin.client.get(`/api/files/${id}/download`);
    expect(digestOf(response.bytes)).toBe(digestOf(content));
    held.release();
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
      const held = holdLog(join(server.dataDir, "larder.db"));
      for (let round = 0; round < 300; round++) expectStatus(await note(part * 1_000 + round), 201);
      held.release();
    }
    const heldBytes = statSync(wal).size;
    for (let round = 0; round < 600; round++) expectStatus(await note(10_000 + round), 201);
    // Checkpointed at the first commit that finds it long; from then on it is overwritten from its start.
    expect(statSync(wal).size).toBeLessThan(heldBytes + 2 * 1024 * 1024);
  });
}, 120_000);
