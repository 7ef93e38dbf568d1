/**
 * `larder import` of many small files, compared with a copy of the same folder that is then synced. Both read the files
 * from the disk.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, measureInTurns, messageOf, type Participant, record, type Row } from "../bench.ts";
import { runOnLarder } from "../larder.ts";
import { syncFileSystem } from "../load.ts";
import { run } from "../processes.ts";

const FOLDERS = 100;
const SIZE_BYTES = 10 << 10;

export const importMany: Row = {
  id: "import",
  title: "import of 100,000 small files",
  diskGib: () => 4,
  run: async (bench: Bench) => {
    const count = bench.options.quick ? 10_000 : 100_000;
    const time = bench.figure({
      task: `import of ${count.toLocaleString("en")} files of 10 KiB`,
      unit: "s",
      better: "lower",
      targets: [{ against: "cp", reach: 2 }],
    });
    const source = bench.directory("source");
    bench.log(`writing ${count.toLocaleString("en")} files`);
    writeFiles(source, count);
    const measureCopy = async () => {
      const target = bench.directory("copy");
      await dropCaches(bench, source);
      const startedAt = performance.now();
      await run(["cp", "-a", source, target]);
      await syncFileSystem(target);
      record(time, "cp", (performance.now() - startedAt) / 1000);
      rmSync(target, { recursive: true });
    };
    const participants: Participant[] = [];
    if (bench.options.before === undefined) participants.push({ subject: "cp", measure: measureCopy });
    for (const subject of bench.larders()) {
      const measure = async () => {
        const larder = await bench.startLarder(subject);
        await larder.stop();
        await dropCaches(bench, source);
        const startedAt = performance.now();
        await runOnLarder(larder, ["import", source, "--user", larder.email, "--folder", "/imported"]);
        record(time, subject, (performance.now() - startedAt) / 1000);
        rmSync(larder.directory, { recursive: true });
      };
      participants.push({ subject, measure });
    }
    await measureInTurns(bench, [time], participants);
    rmSync(source, { recursive: true });
  },
};

function writeFiles(directory: string, count: number): void {
  const content = new Uint8Array(SIZE_BYTES);
  for (let index = 0; index < count; index += 1) {
    const folder = join(directory, `folder ${index % FOLDERS}`);
    if (index < FOLDERS) mkdirSync(folder);
    writeFileSync(join(folder, `file ${index}.bin`), crypto.getRandomValues(content));
  }
}

/** Writes everything to the disk, and makes the next reader read from it. */
async function dropCaches(bench: Bench, directory: string): Promise<void> {
  await syncFileSystem(directory);
  try {
    writeFileSync("/proc/sys/vm/drop_caches", "3");
  } catch (error) {
    const note = `import: the files were read from memory, as only root can drop the caches (${messageOf(error)})`;
    if (!bench.notes.includes(note)) bench.notes.push(note);
  }
}
