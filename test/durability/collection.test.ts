// Garbage collection: deletes blobs without references in the end, and never one that is still needed.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, digestOf, randomContent } from "../support/client.ts";
import { blobPath } from "../support/data-directory.ts";
import { runJob } from "../support/jobs.ts";
import { run } from "../support/mounts.ts";
import { type TestServer, testCommand, withServer } from "../support/server.ts";

/** How often a blob is deleted and uploaded again; scripts/rounds/collection sets it. */
const rounds = Number(process.env["LARDER_TEST_ROUNDS"] ?? 240);
const roundMsMax = 200;
const contentCount = 4;
const workersPerContent = 2;

async function collectNow(server: TestServer): Promise<void> {
  // Without a time limit: garbage collection during ten thousand uploads takes long.
  const { code, output } = await run([...testCommand(), "gc", "--now", "--data", server.dataDir]);
  expect({ code, output }).toEqual({ code: 0, output });
}

test(
  `${rounds} times delete, collect and re-upload of the same bytes at once never lose a blob`,
  async () => {
    await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const admin = await server.addUser(["--admin"]);
      const { client } = await server.signUp();
      const contents = Array.from({ length: contentCount }, (_, index) => randomContent(20_000 + index));
      const finished = new AbortController();
      let [collections, snapshots] = [0, 0];
      const collect = async () => {
        while (!finished.signal.aborted) {
          // With --now, and as the nightly job without a grace period.
          await collectNow(server);
          await admin.client.post("/api/admin/jobs/gc/run");
          collections += 1;
        }
      };
      const copy = async () => {
        while (!finished.signal.aborted) {
          await admin.client.post("/api/admin/jobs/snapshot/run");
          await admin.client.post("/api/admin/jobs/leftovers/run");
          snapshots += 1;
        }
      };
      const housekeeping = [collect(), copy()];
      const lost: string[] = [];
      const roundsEach = Math.ceil(rounds / (contentCount * workersPerContent));
      const worker = async (content: Uint8Array, index: number) => {
        for (let round = 0; round < roundsEach; round++) {
          const id = await client.storedId(content, { name: `${index}-${round}` });
          const response = await client.get(`/api/files/${id}/download`);
          if (response.status !== 200 || checksumOf(response.bytes) !== checksumOf(content))
            lost.push(`${index}-${round}: ${response.status}`);
          await client.delete(`/api/files/${id}`);
        }
      };
      // Two workers for each blob: one deletes the file that the other has just stored.
      await Promise.all([...contents, ...contents].map((content, index) => worker(content, index)));
      const retained = await Promise.all(
        contents.map((content, index) => client.storedId(content, { name: `kept ${index}` })),
      );
      finished.abort();
      await Promise.all(housekeeping);
      await collectNow(server);
      const entries = await readdir(join(server.dataDir, "blobs", "quarantine"));
      expect(entries).toEqual([]);
      expect(lost).toEqual([]);
      expect(collections).toBeGreaterThan(0);
      expect(snapshots).toBeGreaterThan(0);
      for (const [index, id] of retained.entries()) {
        const response = await client.get(`/api/files/${id}/download`);
        expect(checksumOf(response.bytes)).toBe(checksumOf(contents[index] ?? ""));
      }
    });
  },
  120_000 + rounds * roundMsMax,
);

test("blobs that a stored snapshot names stay until the snapshot is deleted", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const { client } = await server.signUp();
    const [named, forgotten, unnamed] = ["named", "named, its row lost", "of no snapshot"];
    const ids = [await client.storedId(named), await client.storedId(forgotten)];
    await runJob(admin.client, "snapshot");
    for (const id of [...ids, await client.storedId(unnamed)]) await client.delete(`/api/files/${id}`);
    const present = () =>
      [named, forgotten, unnamed].filter((content) => existsSync(blobPath(server.dataDir, content)));
    await runJob(admin.client, "gc");
    expect(present()).toEqual([named, forgotten]);

    // As after the restore of an older database: an old blob without a row, which a newer snapshot names.
    expect(await server.stop()).toBe(0);
    const database = new Database(join(server.dataDir, "larder.db"));
    database.run("DELETE FROM blobs WHERE digest = ?", [Buffer.from(digestOf(forgotten), "hex")]);
    database.close();
    await utimes(blobPath(server.dataDir, forgotten), new Date(0), new Date(0));
    await server.start();
    const sweepAll = async () => {
      for (let folder = 0; folder < 256; folder += 37) await runJob(admin.client, "leftovers");
    };
    await sweepAll();
    await runJob(admin.client, "gc");
    expect(present()).toEqual([named, forgotten]);

    await collectNow(server);
    await sweepAll();
    expect(present()).toEqual([]);
  });
});

test("a quarantined blob that was uploaded again is not stored twice, even if snapshots name it", async () => {
  await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const { client } = await server.signUp();
    const aside = () => readdir(join(server.dataDir, "blobs", "quarantine"));
    await client.delete(`/api/files/${await client.storedId("again and again")}`);
    await runJob(admin.client, "gc");
    expect(await aside()).toEqual([digestOf("again and again")]);
    const id = await client.storedId("again and again");
    // The job takes a snapshot, which names the blob.
    await collectNow(server);
    expect(await aside()).toEqual([]);
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("again and again");
  });
});
