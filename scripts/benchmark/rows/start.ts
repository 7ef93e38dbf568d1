/**
 * The time to start on existing data, and memory at rest afterward.
 */
import { statSync } from "node:fs";
import { type Bench, type Existing, measureInTurns, type Participant, record, type Row } from "../bench.ts";
import type { LarderSubject } from "../larder.ts";
import { anonymousMib, median, residentMib } from "../measure.ts";

/** Starts in each round; the median of all counts. */
const STARTS = 5;
/** Jobs that are due run right after the start. */
const SETTLE_MS = 10_000;

export const start: Row = {
  id: "start",
  title: "start, memory at rest, size of the executable",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const amount = (task: string, unit: string, reach: number, aim?: number) =>
      bench.figure({
        task,
        unit,
        better: "lower",
        targets: [{ against: "number", reach, ...(aim !== undefined && { aim }) }],
      });
    const ready = amount("start to the first listing", "ms", 100, 60);
    const anonymous = amount("anonymous memory at rest", "MiB", 30);
    const resident = amount("resident memory at rest, pages of files included", "MiB", 100);
    const participants: Participant[] = [];
    if (bench.options.before === undefined) {
      participants.push({
        subject: "floor",
        measure: async () => {
          const floor = await bench.start("floor");
          record(ready, "floor", floor.startMs);
          record(anonymous, "floor", anonymousMib(floor.pid));
          record(resident, "floor", residentMib(floor.pid));
          await floor.stop();
        },
      });
    }
    for (const subject of bench.larders()) {
      const first = await bench.startLarder(subject);
      await first.stop();
      const figures = { ready, anonymous, resident };
      participants.push({ subject, measure: () => measureRest(bench, subject, first, figures) });
    }
    await measureInTurns(bench, [ready, anonymous, resident], participants);
    const size = amount("size of the executable", "MB", 140);
    for (const subject of bench.larders()) record(size, subject, statSync(bench.executableOf(subject)).size / 1e6);
  },
};

type Figures = Record<"ready" | "anonymous" | "resident", ReturnType<Bench["figure"]>>;

async function measureRest(bench: Bench, subject: LarderSubject, existing: Existing, figures: Figures): Promise<void> {
  const startsMs: number[] = [];
  for (let number = 1; number < STARTS; number += 1) {
    const larder = await bench.startLarder(subject, existing);
    startsMs.push(larder.startMs);
    await larder.stop();
  }
  const larder = await bench.startLarder(subject, existing);
  startsMs.push(larder.startMs);
  record(figures.ready, subject, median(startsMs));
  await Bun.sleep(SETTLE_MS);
  record(figures.anonymous, subject, anonymousMib(larder.pid));
  record(figures.resident, subject, residentMib(larder.pid));
  await larder.stop();
}
