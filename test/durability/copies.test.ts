// Copies of a data directory, taken from under a running server at any moment: each must open to what was (D42, D43).
import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { checkCopy } from "../support/copies/check.ts";
import { availableCopiers } from "../support/copies/copiers.ts";
import { MixedLoad } from "../support/copies/load.ts";
import { runJob } from "../support/jobs.ts";
import { randomOf, seedsToRun } from "../support/random.ts";
import { dispose, startServer, type TestServer, temporaryDirectory, withServer } from "../support/server.ts";

/** How many copies are taken; scripts/rounds/copies sets it. */
const rounds = Number(process.env["LARDER_TEST_ROUNDS"] ?? 9);
const roundMsMax = 60_000;

/** When the newest snapshot of a directory was taken, by its name; zero where there is none. */
async function newestSnapshotMs(dataDir: string): Promise<number> {
  const taken = (await readdir(join(dataDir, "snapshots"))).map((name) =>
    Date.parse(name.replace(/^larder-(.{13})-(..)-(..)-(...)Z-[a-z-]+\.db$/, "$1:$2:$3.$4Z")),
  );
  return Math.max(0, ...taken.filter((ms) => !Number.isNaN(ms)));
}

/** Housekeeping without rest: snapshots, collections, sweeps of leftovers. */
async function keepHouse(admin: Account, signal: AbortSignal): Promise<void> {
  // Each may be running by its schedule too.
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

/** Opens a copy with a server of its own, and ends that again. */
async function withCopy(dataDir: string, use: (copy: TestServer) => Promise<void>): Promise<void> {
  const copy = await startServer({ dataDir });
  try {
    await use(copy);
  } finally {
    await dispose(copy);
  }
}

test(
  `${rounds} copies taken under load open to what the original was, with every content (D43)`,
  async () => {
    const { copiers, absent } = await availableCopiers();
    for (const name of absent) console.warn(`NOT TRIED, because this machine has no such tool: ${name}`);
    const [seed = 1] = seedsToRun([1]);
    const folder = await temporaryDirectory();
    // No time of grace: what is deleted goes as early as it may.
    await withServer({ env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const admin = await server.addUser(["--admin"]);
      const load = await MixedLoad.start(server, seed);
      // One that has the accounts.
      await runJob(admin.client, "snapshot");
      const stop = new AbortController();
      const house = keepHouse(admin, stop.signal);
      const random = randomOf(seed);
      let filesSeen = 0;
      const takeOne = async (round: number) => {
        const copier = copiers[round % copiers.length];
        if (copier === undefined) throw new Error("there is no way to copy");
        const dataDir = join(folder, `copy-${round}`);
        const fromMs = await newestSnapshotMs(server.dataDir);
        await copier.copy(server.dataDir, dataDir, random);
        const untilMs = Date.now();
        await withCopy(dataDir, async (copy) => {
          try {
            expect(copy.log).toContain("The directory begins from a snapshot.");
            expect(copy.log).not.toContain("missing");
            const { files, bytes, momentMs } = await checkCopy(copy, load.accounts, { fromMs, untilMs });
            filesSeen += files;
            const back = /"?broughtBack"?[=:] ?(\d+)/.exec(copy.log)?.[1];
            const note = back === undefined ? "" : `, ${back} brought back`;
            const ageMs = untilMs - momentMs;
            if (rounds > copiers.length) {
              console.warn(`${round + 1} ${copier.name}: ${files} files, ${bytes} B, ${ageMs} ms old${note}`);
            }
          } catch (error) {
            throw new Error(`round ${round + 1}, ${copier.name}, seed ${seed}: ${String(error)}\n${copy.log}`);
          }
        });
      };
      const all = async () => {
        for (let round = 0; round < rounds; round++) await takeOne(round);
      };
      try {
        await Promise.race([all(), load.failure, house]);
      } finally {
        stop.abort();
        await Promise.allSettled([load.stop(), house]);
        await rm(folder, { recursive: true, force: true });
      }
      expect(filesSeen).toBeGreaterThan(rounds);
    });
  },
  60_000 + rounds * roundMsMax,
);
