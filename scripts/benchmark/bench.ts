/**
 * What a row is given: where to work, how often to measure, where to put the figures, and the contest, which lets
 * servers take turns so that what changes on the machine meanwhile strikes all of them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startLarder, type Larder } from "./larder.ts";
import { NotInstalledError, type Server, startFloor, startNginx, type Subject } from "./server.ts";

export interface BenchOptions {
  executable: string;
  rounds: number;
  quick: boolean;
  full: boolean;
  workDirectory: string;
}

/**
 * What a figure has to reach, as the issue of the first release states it. `against` names the baseline that the factor
 * is of, `number` an amount in the figure's own unit. "Above" is better where the figure says `higher`, else "below".
 */
export interface Target {
  against: "number" | Exclude<Subject, "larder">;
  reach?: number;
  aim?: number;
}

export interface FigureSpec {
  task: string;
  unit: string;
  better: "higher" | "lower";
  targets?: Target[];
}

export interface Figure extends FigureSpec {
  row: string;
  samples: Partial<Record<Subject, number[]>>;
  /** Server CPU beside the figure: what one operation cost. */
  cpu: Partial<Record<Subject, number[]>>;
  cpuUnit?: string;
  /** In place of samples: why there are none. */
  failures: Partial<Record<Subject, string>>;
}

export interface Row {
  /** As `--only` names it. */
  id: string;
  title: string;
  /** Free disk space that it takes at most. */
  diskGib: (options: BenchOptions) => number;
  run(bench: Bench): Promise<void>;
}

/** One row's run. */
export class Bench {
  readonly figures: Figure[] = [];
  /** Whatever else is worth keeping; goes into the JSON only. */
  readonly details: Record<string, unknown> = {};
  readonly notes: string[] = [];
  private isAbandoned = false;

  constructor(
    readonly options: BenchOptions,
    private readonly rowId: string,
  ) {}

  /** From here on nothing is started for this row any more: its time is over. */
  abandon(): void {
    this.isAbandoned = true;
  }

  /** A line of progress, on standard error. */
  say(text: string): void {
    const time = new Date().toTimeString().slice(0, 8);
    process.stderr.write(`${time}  ${this.rowId.padEnd(13)} ${text}\n`);
  }

  /** A new empty directory in the work directory. */
  directory(name: string): string {
    if (this.isAbandoned) throw new Error("the row's time is over");
    return mkdtempSync(join(this.options.workDirectory, `${name}-`));
  }

  figure(spec: FigureSpec): Figure {
    const figure: Figure = { ...spec, row: this.rowId, samples: {}, cpu: {}, failures: {} };
    this.figures.push(figure);
    return figure;
  }

  /** Starts a server on a new directory. */
  start(subject: Subject): Promise<Server> {
    if (subject === "floor") return startFloor(this.directory(subject), process.execPath);
    if (subject === "nginx") return startNginx(this.directory(subject));
    if (subject === "larder") return this.startLarder();
    throw new Error("sharp is a library, not a server");
  }

  /** Starts Larder on a new directory, with an account. */
  async startLarder(): Promise<Larder> {
    return startLarder({ executable: this.options.executable, directory: this.directory("larder") });
  }
}

/** Adds a measurement, and what one operation cost where that was measured with it. */
export function record(figure: Figure, subject: Subject, value: number, cpu?: { value: number; unit: string }): void {
  (figure.samples[subject] ??= []).push(value);
  if (cpu !== undefined) {
    (figure.cpu[subject] ??= []).push(cpu.value);
    figure.cpuUnit = cpu.unit;
  }
}

/** Short text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface Contestant {
  subject: Subject;
  measure(round: number): Promise<void>;
  finish?(): Promise<void>;
}

/**
 * Lets contestants take turns for as many rounds as the options say, each round beginning with another one. Who fails
 * is out; the others go on, and the figures tell why. With `warmUp` a round 0 comes first that is not recorded.
 */
export async function alternate(
  bench: Bench,
  figures: Figure[],
  contestants: Contestant[],
  warmUp = false,
): Promise<void> {
  const left = [...contestants];
  try {
    for (let round = warmUp ? 0 : 1; round <= bench.options.rounds; round += 1) {
      for (const contestant of left.slice()) {
        const name = round === 0 ? "warming up" : `round ${round} of ${bench.options.rounds}`;
        bench.say(`${name}: ${contestant.subject}`);
        try {
          await contestant.measure(round);
        } catch (error) {
          fail(bench, figures, contestant.subject, error);
          left.splice(left.indexOf(contestant), 1);
        }
      }
      const first = left.shift();
      if (first !== undefined) left.push(first);
      if (round === 0) for (const figure of figures) Object.assign(figure, { samples: {}, cpu: {} });
    }
  } finally {
    for (const contestant of contestants) {
      try {
        await contestant.finish?.();
      } catch (error) {
        bench.notes.push(`${contestant.subject} did not end well: ${messageOf(error)}`);
      }
    }
  }
}

function fail(bench: Bench, figures: Figure[], subject: Subject, error: unknown): void {
  const message = messageOf(error);
  for (const figure of figures) figure.failures[subject] = message;
  if (!(error instanceof NotInstalledError)) bench.say(`${subject} failed: ${message}`);
}

/**
 * A contest of servers that each run for the whole row, on directories that are removed at its end. `measure` gets the
 * server and the round; `prepare` is called once before its first round.
 */
export async function contest<Prepared>(
  bench: Bench,
  figures: Figure[],
  subjects: Subject[],
  prepare: (server: Server) => Promise<Prepared>,
  measure: (server: Server, round: number, prepared: Prepared) => Promise<void>,
): Promise<void> {
  const contestants: Contestant[] = [];
  for (const subject of subjects) {
    let server: Server | undefined;
    try {
      server = await bench.start(subject);
      const prepared = await prepare(server);
      const ready = server;
      contestants.push({
        subject,
        measure: (round) => measure(ready, round, prepared),
        finish: () => stopAndRemove(ready),
      });
    } catch (error) {
      fail(bench, figures, subject, error);
      if (server !== undefined) await stopAndRemove(server);
    }
  }
  await alternate(bench, figures, contestants);
}

/**
 * As contest, with a new server on a new directory in each round: for peaks of memory, and for large files. `measure`
 * is called with round 0 first where `warmUp` is set, and what it records then is forgotten.
 */
export async function freshContest(
  bench: Bench,
  figures: Figure[],
  subjects: Subject[],
  measure: (server: Server, round: number) => Promise<void>,
  warmUp = false,
): Promise<void> {
  await alternate(
    bench,
    figures,
    subjects.map((subject) => ({
      subject,
      measure: async (round) => {
        const server = await bench.start(subject);
        try {
          await measure(server, round);
        } finally {
          await stopAndRemove(server);
        }
      },
    })),
    warmUp,
  );
}

/** Ends a server and removes its data. */
export async function stopAndRemove(server: Server): Promise<void> {
  await server.stop();
  rmSync(server.directory, { recursive: true, force: true });
}
