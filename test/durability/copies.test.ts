// Copies of the data directory of a running server: each must open in the state of its snapshot.
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client, checksumOf, randomContent } from "../support/client.ts";
import { checkCopy } from "../support/copies/check.ts";
import { availableCopiers, type Copier } from "../support/copies/copiers.ts";
import { type Interval, MixedLoad } from "../support/copies/load.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { mountingFails, mountTmpfs, run } from "../support/mounts.ts";
import { seededRandom, type SeededRandom, seedsToRun } from "../support/random.ts";
import {
  dispose,
  runLarder,
  startServer,
  type TestServer,
  temporaryDirectory,
  testCommand,
  withServer,
} from "../support/server.ts";
import { completeUpload, type PlannedUpload, planUpload, sendChunks, getUploadState } from "../support/uploads.ts";

/** How many copies are taken; scripts/rounds/copies sets it. */
const rounds = Number(process.env["LARDER_TEST_ROUNDS"] ?? 9);
const roundMsMax = 60_000;

/** The time of the newest snapshot of a directory, by its name; zero if there is none. */
async function newestSnapshotMs(dataDir: string): Promise<number> {
  const taken = (await readdir(join(dataDir, "snapshots"))).map((name) =>
    Date.parse(name.replace(/^larder-(.{13})-(..)-(..)-(...)Z-[a-z-]+\.db$/, "$1:$2:$3.$4Z")),
  );
  return Math.max(0, ...taken.filter((ms) => !Number.isNaN(ms)));
}

/** Runs housekeeping jobs continuously: snapshots, garbage collection, leftovers. */
async function keepHouse(admin: Account, signal: AbortSignal): Promise<void> {
  // A job may already run on schedule.
  const run = async (name: string) => {
    const ran = await admin.client.post(`/api/admin/jobs/${name}/run`);
    if (ran.status !== 200 || ran.at("data.lastError") !== null) throw new Error(`${name}: ${ran.text}`);
  };
  for (let turn = 0; !signal.aborted; turn++) {
    await run("snapshot");
    if (turn % 3 === 0) await run("gc");
    if (turn % 7 === 0) await run("leftovers");
    await Bun.sleep(150);
  }
}

/** Opens a copy with its own server, and stops it. */
async function withCopy(dataDir: string, use: (copy: TestServer) => Promise<void>): Promise<void> {
  const copy = await startServer({ dataDir });
  try {
    await use(copy);
  } finally {
    await dispose(copy);
  }
}

/** A copy, and the times of its start and end. */
interface TakenCopy extends Interval {
  readonly copier: Copier;
  readonly dataDir: string;
}

/** Copies the server's directory, after more changes. */
async function takeCopy(
  { dataDir: from }: TestServer,
  load: MixedLoad,
  copier: Copier,
  to: string,
  random: SeededRandom,
): Promise<TakenCopy> {
  const expected = load.done + 20;
  while (load.done < expected) await Bun.sleep(10);
  const fromMs = await newestSnapshotMs(from);
  await copier.copy(from, to, random);
  return { copier, dataDir: to, fromMs, untilMs: Date.now() };
}

test(
  `${rounds} copies taken under load open in the state of the original, with every blob`,
  async () => {
    const { copiers, absent } = await availableCopiers();
    for (const name of absent) console.warn(`NOT TRIED, because this machine has no such tool: ${name}`);
    const [seed = 1] = seedsToRun([1]);
    const folder = await temporaryDirectory();
    // No grace period: deleted blobs are removed as early as possible.
    await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const admin = await server.addUser(["--admin"]);
      let load = await MixedLoad.start(server, seed);
      // A snapshot with the accounts.
      await runJob(admin.client, "snapshot");
      const random = seededRandom(seed);
      let filesSeen = 0;
      const takeOfEach = async (firstRound: number) => {
        const taken: TakenCopy[] = [];
        // Between copies: a crash makes an unfinished copy useless.
        const { code } = await run([...testCommand(), "gc", "--now", "--data", server.dataDir]);
        expect(code).toBe(0);
        for (const [index, copier] of copiers.slice(0, rounds - firstRound).entries()) {
          taken.push(await takeCopy(server, load, copier, join(folder, `copy-${firstRound + index}`), random));
        }
        return taken;
      };
      const check = async (round: number, { copier, dataDir, fromMs, untilMs }: TakenCopy) =>
        withCopy(dataDir, async (copy) => {
          try {
            expect(copy.log).toContain("Starting from a snapshot of the database.");
            expect(copy.log).not.toContain("missing");
            const { files, bytes, momentMs } = await checkCopy(copy, load.accounts, { fromMs, untilMs });
            filesSeen += files;
            const back = /"?broughtBack"?[=:] ?(\d+)/.exec(copy.log)?.[1];
            const note = back === undefined ? "" : `, ${back} restored`;
            const ageMs = untilMs - momentMs;
            if (rounds > copiers.length) {
              console.warn(`${round + 1} ${copier.name}: ${files} files, ${bytes} B, ${ageMs} ms old${note}`);
            }
          } catch (error) {
            throw new Error(`round ${round + 1}, ${copier.name}, seed ${seed}: ${String(error)}\n${copy.log}`, {
              cause: error,
            });
          }
        });
      try {
        for (let first = 0; first < rounds; first += copiers.length) {
          const stop = new AbortController();
          const house = keepHouse(admin, stop.signal);
          let taken: TakenCopy[];
          try {
            taken = await Promise.race([takeOfEach(first), load.failure, rejectionOf(house)]);
          } finally {
            stop.abort();
            await Promise.allSettled([load.stop(), house]);
          }
          // The load pauses, because it would only slow down the check of the copies.
          for (const [index, copy] of taken.entries()) await check(first + index, copy);
          load = MixedLoad.resume(load.accounts, 15);
        }
      } finally {
        await Promise.allSettled([load.stop()]);
        await rm(folder, { recursive: true, force: true });
      }
      expect(filesSeen).toBeGreaterThan(rounds);
    });
  },
  60_000 + rounds * roundMsMax,
);

/** Rejects if the work fails; otherwise it ends when it is stopped. */
async function rejectionOf(work: Promise<void>): Promise<never> {
  await work;
  return new Promise(() => {});
}

test("copies by cp, tar and rsync from the first minute on have the account, its password and its files", async () => {
  const { copiers } = await availableCopiers();
  const [seed = 1] = seedsToRun([1]);
  const random = seededRandom(seed);
  const folder = await temporaryDirectory();
  try {
    await withServer({}, async (server) => {
      const { email, password } = await server.addUser(["--admin"]);
      const load = await MixedLoad.start(server, seed);
      const madeAtMs = Date.now();
      // No snapshot is requested: the server takes one because of new accounts.
      const deadlineMs = Date.now() + 20_000;
      while ((await newestSnapshotMs(server.dataDir)) < madeAtMs && Date.now() < deadlineMs) await Bun.sleep(50);
      const takeAll = async () => {
        const taken: TakenCopy[] = [];
        for (const copier of copiers.filter(({ name }) => ["cp -a", "tar", "rsync -a"].includes(name))) {
          const copy = await takeCopy(server, load, copier, join(folder, copier.name), random);
          expect(copy.fromMs).toBeGreaterThanOrEqual(madeAtMs);
          taken.push(copy);
        }
        return taken;
      };
      let taken: TakenCopy[];
      try {
        taken = await Promise.race([takeAll(), load.failure]);
      } finally {
        await Promise.allSettled([load.stop()]);
      }
      for (const { dataDir, fromMs, untilMs } of taken) {
        await withCopy(dataDir, async (copy) => {
          expectStatus(await copy.visitor.post("/api/auth/signin", { email, password }), 200);
          const { files } = await checkCopy(copy, load.accounts, { fromMs, untilMs });
          expect(files).toBeGreaterThan(0);
        });
      }
      const before = await newestSnapshotMs(server.dataDir);
      // A file that no snapshot has yet.
      await server.signUp();
      expect(await server.stop()).toBe(0);
      const names = (await readdir(join(server.dataDir, "snapshots"))).filter((name) => name.endsWith("-stop.db"));
      expect(names).toHaveLength(1);
      expect(await newestSnapshotMs(server.dataDir)).toBeGreaterThan(before);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);

/** A copy that was not opened yet, and what its original had acknowledged before and after its last snapshot. */
interface Unopened {
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
async function journalWritten(dataDir: string, before: readonly string[]): Promise<void> {
  const deadlineMs = Date.now() + 30_000;
  while ((await journalObjects(dataDir)).every((name) => before.includes(name))) {
    if (Date.now() > deadlineMs) throw new Error("the store journal wrote nothing");
    await Bun.sleep(50);
  }
}

let firstCopy: Promise<Unopened> | undefined;
const firstFolder = await temporaryDirectory();
afterAll(() => rm(firstFolder, { recursive: true, force: true }));

/** The directory of a running server, copied by `cp -a` some changes after its newest snapshot. It is made once. */
async function copyUnderWay(folder: string): Promise<Unopened> {
  firstCopy ??= makeUnopenedCopy();
  const first = await firstCopy;
  const dataDir = join(folder, "unopened");
  expect((await run(["cp", "-a", first.dataDir, dataDir])).code).toBe(0);
  return { ...first, dataDir };
}

async function makeUnopenedCopy(): Promise<Unopened> {
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
    await journalWritten(server.dataDir, []);
    await runJob(admin.client, "snapshot");
    await sendChunks(phone.client, plan, unfinished, [2]);
    const journal = await journalObjects(server.dataDir);
    const after = { id: await account.client.storedId("late", { name: "after.bin" }) };
    await journalWritten(server.dataDir, journal);
    const syncTokens = [first, await syncTokenOf(phone)] as const;
    const dataDir = join(firstFolder, "first");
    expect((await run(["cp", "-a", server.dataDir, dataDir])).code).toBe(0);
    return { dataDir, account, phone, before, after, upload: { plan, content: unfinished }, syncTokens };
  });
}

/** Databases in set-aside/, each with its log if there is one. */
async function asideOf(dataDir: string): Promise<{ database: string; log: string | undefined }[]> {
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
    const { dataDir, account, phone, before, after, upload, syncTokens } = await copyUnderWay(folder);
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

const straceFails = (await run(["strace", "-f", "-o", "/dev/null", "true"])).code !== 0;
if (straceFails) console.warn("NOT TRIED, because strace can't be used here: crashes while a copy is opened");

test.skipIf(straceFails)(
  "a crash at any step while a copy is opened loses nothing, and the next start opens it",
  async () => {
    const folder = await temporaryDirectory();
    try {
      const { dataDir: unopened, account, before, after } = await copyUnderWay(folder);
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
          const aside = await asideOf(dataDir);
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

test("a copy of a stopped server's directory has everything, including the last change", async () => {
  const folder = await temporaryDirectory();
  try {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client, token } = await server.signUp();
      const id = await client.storedId("the last change");
      expect(await server.stop()).toBe(0);
      const dataDir = join(folder, "copy");
      expect((await run(["cp", "-r", server.dataDir, dataDir])).code).toBe(0);
      await withCopy(dataDir, async (copy) => {
        expect((await new Client(copy, token).get(`/api/files/${id}/download`)).text).toBe("the last change");
        expect(copy.log).not.toContain("Starting from a snapshot");
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a requested snapshot is taken, whether or not it is due", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const results: unknown[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const ran = await admin.client.post("/api/admin/jobs/snapshot/run");
      results.push(ran.at("data.lastResult"));
    }
    expect(results).toEqual(results.map(() => expect.stringMatching(/^larder-.*\.db, /)));
    expect(new Set(results).size).toBe(3);
  });
});

test("a copy without an intact snapshot is rejected, and does not change", async () => {
  const folder = await temporaryDirectory();
  try {
    const { dataDir } = await copyUnderWay(folder);
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

test.skipIf(mountingFails !== undefined)(
  "on a full disk no snapshot is taken, the job says so, earlier ones stay, and the server keeps running",
  async () => {
    const disk = await mountTmpfs(48);
    const server = await startServer({ dataDir: disk.path, env: { LARDER_MIN_FREE_SPACE: "1MB" } });
    try {
      const admin = await server.addUser(["--admin"]);
      const { client } = await server.signUp();
      const id = await client.storedId("kept");
      await runJob(admin.client, "snapshot");
      const before = await readdir(join(disk.path, "snapshots"));
      for (let sizeBytes = 8_000_000; sizeBytes >= 100_000; ) {
        const response = await client.upload(randomContent(sizeBytes));
        if (response.status === 507) sizeBytes = Math.floor(sizeBytes / 2);
        else expectStatus(response, 201);
      }
      // The server also takes one every ten minutes: only now, when that fails too.
      const whole = (await readdir(join(disk.path, "snapshots"))).sort();
      expect(whole).toEqual(expect.arrayContaining(before));
      const ran = await admin.client.post("/api/admin/jobs/snapshot/run");
      expectStatus(ran, 200);
      expect(ran.string("data.lastError")).toContain("Not enough disk space");
      expect((await readdir(join(disk.path, "snapshots"))).sort()).toEqual(whole);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe("kept");
      const ids = (await client.get("/api/files?limit=100")).strings("data.files", "id");
      for (const other of ids) expectStatus(await client.delete(`/api/files/${other}`), 200);
      expect((await server.larder(["gc", "--now"])).code).toBe(0);
      await runJob(admin.client, "snapshot");
      expectStatus(await client.upload("after"), 201);
    } finally {
      await server.kill9();
      await disk.unmount();
    }
  },
  120_000,
);
