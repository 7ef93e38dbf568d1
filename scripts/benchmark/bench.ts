/**
 * The tools of a row: a place to work, options, figures, and comparisons of servers. Servers are measured in turns, so
 * that a change on the machine affects all of them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Larder, type LarderSubject, startLarder } from "./larder.ts";
import { NotInstalledError, type Server, startFloor, startNginx, type Subject } from "./server.ts";

export interface BenchOptions {
  executable: string;
  /** In a comparison, the earlier executable. It then replaces all baselines. */
  before: string | undefined;
  rounds: number;
  quick: boolean;
  /** The files of the largest account of the growth row. */
  files: number;
  workDirectory: string;
}

/**
 * A target of a figure: `reach` is required, `aim` is optional. Both are multiples of the baseline that `against`
 * names, or amounts in the figure's unit with `number`. The figure's `better` says if they are a minimum or a maximum.
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

export type Samples = Partial<Record<Subject, number[]>>;

export interface Figure extends FigureSpec {
  row: string;
  samples: Samples;
  /** Server CPU time for one operation. */
  cpu: Samples;
  cpuUnit?: string;
  /** The reason why a subject has no samples. */
  failures: Partial<Record<Subject, string>>;
}

export interface Row {
  /** The name for `--only`. */
  id: string;
  title: string;
  /** The maximum disk space that it needs. */
  diskGib: (options: BenchOptions) => number;
  run(bench: Bench): Promise<void>;
}

/** A run of one row. */
export class Bench {
  readonly figures: Figure[] = [];
  /** Further data for the JSON file only. */
  readonly details: Record<string, unknown> = {};
  readonly notes: string[] = [];
  /** Further tables, which are printed after that of the figures. */
  readonly tables: string[] = [];
  private isAbandoned = false;

  constructor(
    readonly options: BenchOptions,
    private readonly rowId: string,
  ) {}

  /** Ends the row after its time limit: it can start nothing more. */
  abandon(): void {
    this.isAbandoned = true;
  }

  /** Writes a line of progress to standard error. */
  log(text: string): void {
    const time = new Date().toTimeString().slice(0, 8);
    process.stderr.write(`${time}  ${this.rowId.padEnd(13)} ${text}\n`);
  }

  /** Creates an empty directory in the work directory. */
  directory(name: string): string {
    if (this.isAbandoned) throw new Error("the row has reached its time limit");
    return mkdtempSync(join(this.options.workDirectory, `${name}-`));
  }

  figure(spec: FigureSpec): Figure {
    const figure: Figure = { ...spec, row: this.rowId, samples: {}, cpu: {}, failures: {} };
    this.figures.push(figure);
    return figure;
  }

  /** The executables of Larder that are measured: one, or two in a comparison. */
  larders(): LarderSubject[] {
    return this.options.before === undefined ? ["larder"] : ["larder", "before"];
  }

  executableOf(subject: LarderSubject): string {
    return (subject === "before" ? this.options.before : undefined) ?? this.options.executable;
  }

  /** Starts a server on a new directory. */
  start(subject: Subject): Promise<Server> {
    if (subject === "floor") return startFloor(this.directory(subject), process.execPath);
    if (subject === "nginx") return startNginx(this.directory(subject));
    if (subject === "larder" || subject === "before") return this.startLarder(subject);
    throw new Error(`${subject} is started by its row`);
  }

  /** Starts Larder on a new directory with an account, or on the directory of an account that exists. */
  async startLarder(
    subject: LarderSubject = "larder",
    existing: { directory: string; token?: string } = { directory: this.directory(subject) },
    environment: Record<string, string> = {},
  ): Promise<Larder> {
    const executable = this.executableOf(subject);
    return startLarder({ subject, executable, environment, ...existing });
  }
}

/** Adds a sample, and the CPU time of one operation if it was measured. */
export function record(figure: Figure, subject: Subject, value: number, cpu?: { value: number; unit: string }): void {
  (figure.samples[subject] ??= []).push(value);
  if (cpu !== undefined) {
    (figure.cpu[subject] ??= []).push(cpu.value);
    figure.cpuUnit = cpu.unit;
  }
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface Participant {
  subject: Subject;
  measure(round: number): Promise<void>;
  finish?(): Promise<void>;
}

/**
 * Measures the participants in turns, for the number of rounds in the options. Each round begins with another one. A
 * participant that fails is left out of later rounds, and the figures record why. `warmUp` adds a round 0 without
 * samples.
 */
export async function measureInTurns(
  bench: Bench,
  figures: Figure[],
  participants: Participant[],
  warmUp = false,
  rounds = bench.options.rounds,
): Promise<void> {
  const remaining = [...participants];
  try {
    for (let round = warmUp ? 0 : 1; round <= rounds; round += 1) {
      for (const participant of remaining.slice()) {
        const name = round === 0 ? "warming up" : `round ${round} of ${rounds}`;
        bench.log(`${name}: ${participant.subject}`);
        try {
          await participant.measure(round);
        } catch (error) {
          fail(bench, figures, participant.subject, error);
          remaining.splice(remaining.indexOf(participant), 1);
        }
      }
      const first = remaining.shift();
      if (first !== undefined) remaining.push(first);
      if (round === 0) for (const figure of figures) Object.assign(figure, { samples: {}, cpu: {} });
    }
  } finally {
    for (const participant of participants) {
      try {
        await participant.finish?.();
      } catch (error) {
        bench.notes.push(`${participant.subject} did not stop cleanly: ${messageOf(error)}`);
      }
    }
  }
}

function fail(bench: Bench, figures: Figure[], subject: Subject, error: unknown): void {
  const message = messageOf(error);
  for (const figure of figures) figure.failures[subject] = message;
  if (!(error instanceof NotInstalledError)) bench.log(`${subject} failed: ${message}`);
}

/** A comparison of servers. */
export interface Comparison<S extends Server, Prepared> {
  figures: Figure[];
  /** Starts a server on a new directory. */
  start: (subject: Subject) => Promise<S>;
  /** The baselines of Larder. A comparison of two executables of Larder has none. */
  baselines?: Subject[];
  /** Adds a round 0 without samples. */
  warmUp?: boolean;
  /** Instead of the number of rounds in the options. */
  rounds?: number;
  /** Called once for each server, before its first round. */
  prepare: (server: S) => Promise<Prepared>;
  measure: (server: S, round: number, prepared: Prepared) => Promise<void>;
}

/** Larder, and its baselines or the earlier executable. */
function subjectsOf(bench: Bench, baselines: Subject[]): Subject[] {
  return bench.options.before === undefined ? [...baselines, "larder"] : bench.larders();
}

/** Compares servers that each run for the whole row; their directories are removed at its end. */
export async function compareStarted<S extends Server, Prepared>(
  bench: Bench,
  comparison: Comparison<S, Prepared>,
): Promise<void> {
  const { figures, baselines = [], start, prepare, measure } = comparison;
  const participants: Participant[] = [];
  for (const subject of subjectsOf(bench, baselines)) {
    let server: S | undefined;
    try {
      server = await start(subject);
      const prepared = await prepare(server);
      const ready = server;
      participants.push({
        subject,
        measure: (round) => measure(ready, round, prepared),
        finish: () => stopAndRemove(ready),
      });
    } catch (error) {
      fail(bench, figures, subject, error);
      if (server !== undefined) await stopAndRemove(server);
    }
  }
  await measureInTurns(bench, figures, participants, comparison.warmUp, comparison.rounds);
}

/** Compares Larder with baselines that each run for the whole row. */
export function compareServers<Prepared>(
  bench: Bench,
  comparison: Omit<Comparison<Server, Prepared>, "start">,
): Promise<void> {
  return compareStarted(bench, { ...comparison, start: (subject) => bench.start(subject) });
}

/** A directory with an account for each executable of Larder, whose server is stopped. */
export interface Existing {
  directory: string;
  token: string;
}

/** Measures Larder alone, or two executables of it. Each starts on a new directory, or on the one that `seed` makes. */
export async function measureLarder<Prepared>(
  bench: Bench,
  plan: Omit<Comparison<Larder, Prepared>, "start" | "baselines"> & {
    seed?: (subject: LarderSubject) => Promise<Existing>;
    /** Further settings of the server in a directory. */
    environment?: (directory: string) => Record<string, string>;
  },
): Promise<void> {
  await compareStarted(bench, {
    ...plan,
    start: async (subject) => {
      const own = subject === "before" ? "before" : "larder";
      const existing = (await plan.seed?.(own)) ?? { directory: bench.directory(own) };
      return bench.startLarder(own, existing, plan.environment?.(existing.directory));
    },
  });
}

/**
 * Compares servers that start on a new directory in each round, for peak memory and large files. With `warmUp`,
 * `measure` is first called with round 0, whose samples are discarded.
 */
export async function compareFreshServers(
  bench: Bench,
  figures: Figure[],
  baselines: Subject[],
  measure: (server: Server, round: number) => Promise<void>,
  warmUp = false,
): Promise<void> {
  await measureInTurns(
    bench,
    figures,
    subjectsOf(bench, baselines).map((subject) => ({
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

/** Stops a server and removes its data. */
export async function stopAndRemove(server: Server): Promise<void> {
  await server.stop();
  rmSync(server.directory, { recursive: true, force: true });
}
