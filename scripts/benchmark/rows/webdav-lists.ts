/**
 * Listing folders by WebDAV: 3,000 entries compared with Apache and rclone, the memory for 200,000 entries, and the
 * request of an idle sync client.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Figure, measureInTurns, type Participant, record, type Row } from "../bench.ts";
import { type Larder, startLarder } from "../larder.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";
import { NotInstalledError, type Subject } from "../server.ts";
import { measurePropfind, propfind, startApache, startRclone, type WebDavServer, webDavOf } from "../webdav.ts";
import { SEEDED_FOLDER, seedLarder } from "./seeded.ts";

const ENTRIES = 3000;
const SETTLE_MS = 1000;

export const webdavLists: Row = {
  id: "webdav-lists",
  title: "WebDAV listings",
  diskGib: () => 2,
  run: async (bench: Bench) => {
    await compareListings(bench);
    await measureMemory(bench);
    await measureIdle(bench);
  },
};

/** Compares listings of the same number of files. The other servers have no accounts, which saves them work. */
async function compareListings(bench: Bench): Promise<void> {
  const task = `PROPFIND of ${ENTRIES.toLocaleString("en")} entries`;
  const cpu = bench.figure({ task: `${task}, server CPU`, unit: "ms", better: "lower", targets: [] });
  const time = bench.figure({ task, unit: "ms", better: "lower", targets: [{ against: "number", reach: 1000 }] });
  const files = bench.directory("webdav-files");
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, "first.txt"), "x".repeat(1000));
  for (let index = 1; index < ENTRIES; index += 1) {
    writeFileSync(join(files, `report ${index} of the garden party.pdf`), "x".repeat(index % 100));
  }
  const starts: [Subject, () => Promise<WebDavServer>, string][] = [
    ["larder", async () => webDavOf(await startSeeded(bench, ENTRIES - 1)), `${SEEDED_FOLDER}/`],
    ["apache", () => startApache(bench.directory("apache"), files), ""],
    ["rclone", () => startRclone(bench.directory("rclone"), files), ""],
  ];
  const participants: Participant[] = [];
  for (const [subject, start, path] of starts) {
    const server = await start().catch((error: unknown) => {
      if (!(error instanceof NotInstalledError)) throw error;
      bench.log(`SKIPPED: ${subject} is not installed`);
      bench.notes.push(`${subject} was not compared: it is not installed.`);
      return undefined;
    });
    if (server === undefined) continue;
    if (subject === "apache" || subject === "rclone") cpu.targets?.push({ against: subject, reach: 0.5 });
    participants.push({
      subject,
      measure: async () => {
        const cost = await measurePropfind(server, path, ENTRIES + 1, 40);
        record(cpu, subject, cost.cpuMs);
        record(time, subject, cost.medianMs);
      },
      finish: () => server.stop(),
    });
  }
  await measureInTurns(bench, [cpu, time], participants, true);
}

/** Starts Larder with a folder of `count` files and the one that they are copies of. */
async function startSeeded(bench: Bench, count: number): Promise<Larder> {
  const { directory, token } = await seedLarder(bench, count);
  return startLarder({ executable: bench.options.executable, directory, token });
}

async function measureMemory(bench: Bench): Promise<void> {
  const count = bench.options.quick ? 50_000 : 200_000;
  const memory = bench.figure({
    task: `peak RSS over idle, PROPFIND of ${count.toLocaleString("en")} entries`,
    unit: "MiB",
    better: "lower",
    targets: [{ against: "number", reach: 8 }],
  });
  const larder = await startSeeded(bench, count - 1);
  const server = await webDavOf(larder);
  const measure = async () => {
    // The same code runs for the short list, so that its compilation does not count.
    for (let request = 0; request < 50; request += 1) await propfind(server, "");
    await Bun.sleep(SETTLE_MS);
    const idleMib = residentMib(server.pid);
    resetPeakResident(server.pid);
    const counted = await propfind(server, `${SEEDED_FOLDER}/`);
    if (counted !== count + 1) throw new Error(`PROPFIND listed ${counted} instead of ${count + 1}`);
    record(memory, "larder", Math.max(0, peakResidentMib(server.pid) - idleMib));
  };
  await finishAlone(bench, [memory], larder, measure);
}

/** The one request of a sync client that finds nothing new. */
async function measureIdle(bench: Bench): Promise<void> {
  const count = bench.options.quick ? 10_000 : 100_000;
  const idle = bench.figure({
    task: `idle sync of ${count.toLocaleString("en")} files, server CPU of its PROPFIND`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 5 }],
  });
  const larder = await startSeeded(bench, count - 1);
  const server = await webDavOf(larder);
  // The root has one entry, the folder of all files.
  const measure = async () => record(idle, "larder", (await measurePropfind(server, "", 2, 300)).cpuMs);
  await finishAlone(bench, [idle], larder, measure);
}

/** Measures Larder alone in all rounds after a warm-up, stops it, and removes its data. */
async function finishAlone(
  bench: Bench,
  figures: Figure[],
  larder: Larder,
  measure: () => Promise<void>,
): Promise<void> {
  const finish = async () => {
    await larder.stop();
    rmSync(larder.directory, { recursive: true, force: true });
  };
  await measureInTurns(bench, figures, [{ subject: "larder", measure, finish }], true);
}
