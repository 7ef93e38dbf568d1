/**
 * Small uploads by the API, compared with an earlier executable in the same run.
 */
import { type Bench, measureInTurns, record, type Row, stopAndRemove } from "../bench.ts";
import { startLarder } from "../larder.ts";
import { load, syncFileSystem } from "../load.ts";

export const beforeAfter: Row = {
  id: "before-after",
  title: "small uploads, and those of an earlier executable (--before FILE)",
  diskGib: () => 2,
  run: async (bench: Bench) => {
    const { before, executable, quick } = bench.options;
    if (before === undefined) {
      bench.log("SKIPPED: no earlier executable; see --before in --help");
      bench.notes.push("before-after was not measured: --before names no earlier executable.");
      return;
    }
    const rate = bench.figure({
      task: "10 KiB uploads at 16, against the earlier executable",
      unit: "files/s",
      better: "higher",
      targets: [{ against: "before", reach: 0.95 }],
    });
    const single = bench.figure({
      task: "10 KiB uploads one by one, against the earlier executable",
      unit: "files/s",
      better: "higher",
      targets: [{ against: "before", reach: 0.95 }],
    });
    const participants = [];
    for (const [subject, file] of [["larder", executable] as const, ["before", before] as const]) {
      const larder = await startLarder({ executable: file, directory: bench.directory(subject) });
      participants.push({
        subject,
        measure: async (round: number) => {
          for (const [figure, connections] of [[rate, 16] as const, [single, 1] as const]) {
            const folder = `r${round}-${connections}`;
            const upload = { folder, name: "small-########.bin", body: { random: 10 << 10 }, rawAs: "form" } as const;
            await syncFileSystem(larder.directory);
            const templates = [larder.uploadTemplate(upload)];
            const done = await load(larder, { connections, durationMs: quick ? 1500 : 3000, templates });
            const cpuMs = (done.cpuSeconds / done.requests) * 1000;
            record(figure, subject, done.perSecond, { value: cpuMs, unit: "ms" });
          }
        },
        finish: () => stopAndRemove(larder),
      });
    }
    await measureInTurns(bench, [rate, single], participants, true);
  },
};
