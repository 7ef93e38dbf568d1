/**
 * Listing folders by WebDAV: 3,000 entries compared with Apache and rclone, the memory for 100,000 entries, and the
 * request of an idle sync client.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, measureInTurns, measureLarder, type Participant, record, type Row } from "../bench.ts";
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
    await measureLong(bench);
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
  const own = bench
    .larders()
    .map((subject): [Subject, () => Promise<WebDavServer>, string] => [
      subject,
      async () => webDavOf(await bench.startLarder(subject, await seedLarder(bench, ENTRIES - 1, subject))),
      `${SEEDED_FOLDER}/`,
    ]);
  const others: [Subject, () => Promise<WebDavServer>, string][] = [
    ["apache", () => startApache(bench.directory("apache"), files), ""],
    ["rclone", () => startRclone(bench.directory("rclone"), files), ""],
  ];
  const starts = bench.options.before === undefined ? [...own, ...others] : own;
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

/** The memory for a long list, and the one request of a sync client that finds nothing new, on the same account. */
async function measureLong(bench: Bench): Promise<void> {
  const count = bench.options.quick ? 50_000 : 100_000;
  const files = count.toLocaleString("en");
  const memory = bench.figure({
    task: `peak RSS over idle, PROPFIND of ${files} entries`,
    unit: "MiB",
    better: "lower",
    targets: [{ against: "number", reach: 8 }],
  });
  const idle = bench.figure({
    task: `idle sync of ${files} files, server CPU of its PROPFIND`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 5 }],
  });
  await measureLarder(bench, {
    figures: [memory, idle],
    warmUp: true,
    seed: (subject) => seedLarder(bench, count - 1, subject),
    prepare: webDavOf,
    measure: async (larder, _, server) => {
      // The same code runs for the short list, so that its compilation does not count. The root has one entry.
      record(idle, larder.subject, (await measurePropfind(server, "", 2, 300)).cpuMs);
      await Bun.sleep(SETTLE_MS);
      const idleMib = residentMib(server.pid);
      resetPeakResident(server.pid);
      const counted = await propfind(server, `${SEEDED_FOLDER}/`);
      if (counted !== count + 1) throw new Error(`PROPFIND listed ${counted} instead of ${count + 1}`);
      record(memory, larder.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
    },
  });
}
