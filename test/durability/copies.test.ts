// Copies of the data directory of a running server: each must open in the state of its snapshot.
import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Account, Client, randomContent } from "../support/client.ts";
import { checkCopy } from "../support/copies/check.ts";
import { availableCopiers, type Copier } from "../support/copies/copiers.ts";
import { type Interval, MixedLoad } from "../support/copies/load.ts";
import { withCopy } from "../support/copies/open.ts";
import { expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { mountingFails, mountTmpfs, run } from "../support/mounts.ts";
import { readMultistatus } from "../support/multistatus.ts";
import { seededRandom, type SeededRandom, seedsToRun } from "../support/random.ts";
import { startServer, type TestServer, temporaryDirectory, testCommand, withServer } from "../support/server.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

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
            // Objects and contents of the journal may be missing: only the snapshot must be complete.
            expect(copy.log).not.toMatch(/Blobs are missing|Keys were missing/);
            const { files, bytes, momentMs, lateFiles } = await checkCopy(copy, load.accounts, { fromMs, untilMs });
            filesSeen += files;
            const back = /"?broughtBack"?[=:] ?(\d+)/.exec(copy.log)?.[1];
            const note = back === undefined ? "" : `, ${back} restored`;
            const ageMs = untilMs - momentMs;
            if (rounds > copiers.length) {
              const late = lateFiles > 0 ? `, ${lateFiles} late` : "";
              console.warn(`${round + 1} ${copier.name}: ${files} files, ${bytes} B, ${ageMs} ms old${note}${late}`);
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

test("a copy of a stopped server's directory has everything, including the last change", async () => {
  const folder = await temporaryDirectory();
  try {
    await withServer({ hasAccounts: true }, async (server) => {
      const account = await server.signUp();
      const { client, token } = account;
      const id = await client.storedId("the last change");
      const dav = await connectDav(account);
      // What sync clients compare: the ETag of the root, and whether the server was restored.
      const shown = await readShown(server, dav);
      await server.restart();
      expect(await readShown(server, dav)).toEqual(shown);
      expect(await server.stop()).toBe(0);
      const dataDir = join(folder, "copy");
      expect((await run(["cp", "-r", server.dataDir, dataDir])).code).toBe(0);
      await withCopy(dataDir, async (copy) => {
        expect((await new Client(copy, token).get(`/api/files/${id}/download`)).text).toBe("the last change");
        expect(copy.log).not.toContain("Starting from a snapshot");
        // The original may have changed since, and clients may have seen that.
        const inCopy = await readShown(copy, dav);
        expect(inCopy.map((value, index) => value === shown[index])).toEqual([false, false]);
        await copy.restart();
        expect(await readShown(copy, dav)).toEqual(inCopy);
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** The ETag of the root and `oc:data-fingerprint`. */
async function readShown(server: TestServer, { authorization }: DavClient): Promise<(string | undefined)[]> {
  const body = `<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:getetag/><oc:data-fingerprint/></d:prop></d:propfind>`;
  const listed = readMultistatus(
    await server.visitor.request("PROPFIND", "/dav/", { headers: { authorization, depth: "0" }, body }),
  );
  const [root] = listed.values();
  return ["DAV:getetag", "http://owncloud.org/nsdata-fingerprint"].map((name) => root?.get(name)?.text);
}

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
