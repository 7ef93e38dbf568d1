// Copies of the data directory of a running server, when a server opens them for the first time.
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client, checksumOf, randomContent } from "../support/client.ts";
import { withCopy } from "../support/copies/open.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { run } from "../support/mounts.ts";
import { runLarder, startServer, temporaryDirectory, withServer } from "../support/server.ts";
import { completeUpload, type PlannedUpload, planUpload, sendChunks, getUploadState } from "../support/uploads.ts";

/** A copy that was not opened yet, and what its original had acknowledged before and after its last snapshot. */
interface UnopenedCopy {
  readonly dataDir: string;
  readonly account: Account;
  readonly phone: TestDevice;
  readonly before: { readonly id: string; readonly content: Uint8Array };
  readonly after: { readonly id: string };
  readonly upload: { readonly plan: PlannedUpload; readonly content: Uint8Array };
  /** From before the snapshot, and from after it. */
  readonly syncTokens: readonly [before: string, after: string];
}

async function syncTokenOf({ client }: TestDevice): Promise<string> {
  return (await client.get("/api/mobile/sync/status")).string("data.nextSyncToken");
}

/** The objects of the store journal of all accounts. */
async function journalObjects(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, "blobs", "journal");
  const names = existsSync(folder) ? await readdir(folder, { recursive: true }) : [];
  return names.filter((name) => /\d{10}-\d{10}.*\.zst$/.test(name));
}

/** Waits until the store journal has the last change: it is written some seconds later. */
async function untilJournalWritten(dataDir: string, before: readonly string[]): Promise<void> {
  const deadlineMs = Date.now() + 30_000;
  while ((await journalObjects(dataDir)).every((name) => before.includes(name))) {
    if (Date.now() > deadlineMs) throw new Error("the store journal wrote nothing");
    await Bun.sleep(50);
  }
}

let prepared: Promise<UnopenedCopy> | undefined;
const preparedFolder = await temporaryDirectory();
afterAll(() => rm(preparedFolder, { recursive: true, force: true }));

/** The directory of a running server, copied by `cp -a` some changes after its newest snapshot. It is made once. */
async function unopenedCopy(folder: string): Promise<UnopenedCopy> {
  prepared ??= makeUnopenedCopy();
  const first = await prepared;
  const dataDir = join(folder, "unopened");
  expect((await run(["cp", "-a", first.dataDir, dataDir])).code).toBe(0);
  return { ...first, dataDir };
}

async function makeUnopenedCopy(): Promise<UnopenedCopy> {
  return withServer({}, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const account = await server.signUp();
    const phone = await registerDevice(server, account);
    const content = randomContent(50_000);
    const before = { id: await account.client.storedId(content, { name: "before.bin" }), content };
    const unfinished = randomContent(3_000);
    const plan = await planUpload(phone.client, unfinished, { name: "unfinished.bin" });
    await sendChunks(phone.client, plan, unfinished, [0, 1]);
    const first = await syncTokenOf(phone);
    await untilJournalWritten(server.dataDir, []);
    await runJob(admin.client, "snapshot");
    await sendChunks(phone.client, plan, unfinished, [2]);
    const journal = await journalObjects(server.dataDir);
    const after = { id: await account.client.storedId("late", { name: "after.bin" }) };
    await untilJournalWritten(server.dataDir, journal);
    const syncTokens = [first, await syncTokenOf(phone)] as const;
    const dataDir = join(preparedFolder, "first");
    expect((await run(["cp", "-a", server.dataDir, dataDir])).code).toBe(0);
    return { dataDir, account, phone, before, after, upload: { plan, content: unfinished }, syncTokens };
  });
}

/** Databases in set-aside/, each with its log if there is one. */
async function readSetAside(dataDir: string): Promise<{ database: string; log: string | undefined }[]> {
  const digest = async (path: string) =>
    readFile(path).then(
      (bytes) => checksumOf(new Uint8Array(bytes)),
      () => undefined,
    );
  const folder = join(dataDir, "set-aside");
  const found = (await readdir(folder)).map(async (name) => ({
    database: (await digest(join(folder, name, "larder.db"))) ?? "none",
    log: await digest(join(folder, name, "larder.db-wal")),
  }));
  return Promise.all(found);
}

async function checksumOfFile(path: string): Promise<string> {
  return checksumOf(new Uint8Array(await readFile(path)));
}

test("a copy continues from its snapshot: newer files are merged, unfinished uploads are requested again", async () => {
  const folder = await temporaryDirectory();
  try {
    const { dataDir, account, phone, before, after, upload, syncTokens } = await unopenedCopy(folder);
    const { stdout } = await runLarder(["verify", dataDir, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      state: {
        takenAt: expect.stringMatching(/^\d{4}-/),
        newer: { accounts: 1, unusable: 0, until: expect.any(String) },
      },
    });
    expect((await runLarder(["verify", dataDir])).stdout).toMatch(/journal has \d+ newer changes, the last at \d{4}-/);
    await withCopy(dataDir, async (copy) => {
      expect(copy.log).toMatch(/Starting from a snapshot.*takenAt.*\d{4}-/);
      expect(copy.log).toMatch(/Applied the changes recorded after the snapshot.*files.*1/);
      const client = new Client(copy, account.token);
      const device = new Client(copy, phone.tokens.accessToken);
      expect((await client.get(`/api/files/${before.id}/download`)).bytes).toEqual(before.content);
      // The store journal of the copy has the changes after the snapshot.
      expect((await client.get(`/api/files/${after.id}/download`)).text).toBe("late");
      for (const token of syncTokens) {
        const response = await device.get(`/api/mobile/sync/status?syncToken=${encodeURIComponent(token)}`);
        expectError(response, 400, "invalid_field", "syncToken");
      }
      expectStatus(await device.get("/api/mobile/sync/status"), 200);
      const state = await getUploadState(device, upload.plan.uploadId);
      expect(state.at("data.missingChunks")).toEqual([0, 1, 2]);
      await sendChunks(device, upload.plan, upload.content);
      const done = await completeUpload(device, upload.plan.uploadId);
      expectStatus(done, 200);
      const arrived = await client.get(`/api/files/${done.string("data.id")}/download`);
      expect(arrived.bytes).toEqual(upload.content);
      const again = await client.storedId("late again", { name: "again.bin" });

      // From now on, it is a normal data directory: neither a stop nor a crash resets it.
      await copy.restart();
      expectStatus(await client.get(`/api/files/${again}`), 200);
      const last = await client.storedId("the very last");
      await copy.kill9();
      await copy.start();
      expectStatus(await client.get(`/api/files/${last}`), 200);
      expect(copy.log.split("Starting from a snapshot")).toHaveLength(2);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a copy whose contents were copied before its journal opens, names what is missing, and accepts it later", async () => {
  const folder = await temporaryDirectory();
  try {
    const { dataDir, account, before, after } = await unopenedCopy(folder);
    const digest = checksumOf(new TextEncoder().encode("late")).replace("sha256:", "");
    const names = await readdir(join(dataDir, "blobs", "sha256"), { recursive: true });
    const path = join(dataDir, "blobs", "sha256", names.find((name) => name.endsWith(digest)) ?? "not stored");
    await rename(path, join(folder, "late"));
    await withCopy(dataDir, async (copy) => {
      expect(copy.log).toMatch(/data of a file that is newer than the snapshot is missing.*after\.bin/);
      expect(copy.log).not.toContain("Blobs are missing");
      const client = new Client(copy, account.token);
      expect((await client.get(`/api/files/${before.id}/download`)).bytes).toEqual(before.content);
      expectStatus(await client.get(`/api/files/${after.id}`), 404);
      expect(await copy.stop()).toBe(0);
      await rename(join(folder, "late"), path);
      expect((await runLarder(["rebuild", "--newer", "--data", dataDir])).code).toBe(0);
      await copy.start();
      expect((await client.get(`/api/files/${after.id}/download`)).text).toBe("late");
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const straceFails = (await run(["strace", "-f", "-o", "/dev/null", "true"])).code !== 0;
if (straceFails) console.warn("NOT TRIED, because strace can't be used here: crashes while a copy is opened");

test.skipIf(straceFails)(
  "a crash at any step while a copy is opened loses nothing, and the next start opens it",
  async () => {
    const folder = await temporaryDirectory();
    try {
      const { dataDir: unopened, account, before, after } = await unopenedCopy(folder);
      const [database, log] = await Promise.all(
        ["larder.db", "larder.db-wal"].map(async (name) => checksumOfFile(join(unopened, name))),
      );
      let crashes = 0;
      // Each kind of call is counted separately. Skipped calls come before the first change.
      const kinds: [calls: string, first: number, each: number][] = [
        ["fsync,fdatasync", 1, 3],
        ["rename,renameat,renameat2", 1, 1],
        ["link,linkat", 1, 1],
        ["mkdir,mkdirat", 3, 2],
        ["unlink,unlinkat", 2, 1],
      ];
      // Every second one of these calls; with more rounds all of them.
      const times = process.env["LARDER_TEST_ROUNDS"] === undefined ? 2 : 1;
      const stepsOf = (calls: string, first: number, each: number) =>
        Array.from({ length: 30 }, (_, index) => ({ calls, step: first + index * each * times }));
      const finished = new Set<string>();
      for (const { calls, step } of kinds.flatMap((kind) => stepsOf(...kind))) {
        if (finished.has(calls)) continue;
        const dataDir = join(folder, `${calls}-${step}`);
        await run(["cp", "-a", unopened, dataDir]);
        const inject = `inject=${calls}:signal=KILL:when=${step}`;
        const prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `trace=${calls}`, "-e", inject];
        const hasStarted = await startServer({ dataDir, prefix }).then(
          async (server) => {
            // The traced process survives a killed tracer.
            const traced = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, "utf8");
            for (const pid of traced.trim().split(" ")) process.kill(Number(pid), "SIGKILL");
            await server.exited();
            return true;
          },
          () => false,
        );
        if (hasStarted) {
          finished.add(calls);
          continue;
        }
        crashes += 1;
        await withCopy(dataDir, async (copy) => {
          const got = await new Client(copy, account.token).get(`/api/files/${before.id}/download`);
          expect({ calls, step, status: got.status }).toEqual({ calls, step, status: 200 });
          expect(got.bytes).toEqual(before.content);
          const merged = await new Client(copy, account.token).get(`/api/files/${after.id}/download`);
          expect({ calls, step, merged: merged.text }).toEqual({ calls, step, merged: "late" });
          // The log was moved with its database, and nothing was overwritten.
          const aside = await readSetAside(dataDir);
          expect({ calls, step, aside }).toEqual({ calls, step, aside: expect.arrayContaining([{ database, log }]) });
        });
      }
      expect(crashes).toBeGreaterThan(10);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  240_000,
);

/** The state of each finding of `larder doctor`: ok, note, or wrong. */
async function doctor(dataDir: string): Promise<Record<string, unknown>> {
  const { stdout } = await runLarder(["doctor", "--json"], {
    env: { LARDER_DATA: dataDir, LARDER_THUMBNAILS_ENABLED: "false" },
  });
  const { findings }: { findings: { about: string; state: string }[] } = JSON.parse(stdout);
  return Object.fromEntries(findings.map(({ about, state }) => [about, state]));
}

test("a copy without an intact snapshot is rejected, and does not change", async () => {
  const folder = await temporaryDirectory();
  try {
    const { dataDir } = await unopenedCopy(folder);
    const snapshots = join(dataDir, "snapshots");
    expect(await doctor(dataDir)).toMatchObject({ database: "note", snapshots: "ok" });
    for (const name of await readdir(snapshots)) {
      if (name.endsWith(".db")) await truncate(join(snapshots, name), (await stat(join(snapshots, name))).size - 1);
    }
    const digest = await checksumOfFile(join(dataDir, "larder.db"));
    await expect(startServer({ dataDir })).rejects.toThrow("no intact snapshot");
    expect(await doctor(dataDir)).toMatchObject({ database: "note", snapshots: "wrong" });
    expect(await checksumOfFile(join(dataDir, "larder.db"))).toBe(digest);
    expect(await readdir(dataDir)).not.toContain("set-aside");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
