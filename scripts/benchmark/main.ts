/**
 * `scripts/bench`: measures the rows in order, and prints the table and the JSON file.
 */
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Bench, type BenchOptions, type Figure, messageOf, type Row } from "./bench.ts";
import { type CommandLine, HELP, parseCommandLine, PROJECT } from "./command-line.ts";
import { hasRegressed, renderComparison } from "./comparison.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { killAll, killAllAndClose } from "./processes.ts";
import { SUBJECTS } from "./server.ts";
import { checkTargets, medianOf, ratio, renderTable } from "./table.ts";

const GIB = 2 ** 30;

function makeWorkDirectory({ rows, ...options }: CommandLine): string {
  const parent = process.env.TMPDIR ?? "/var/tmp";
  const { bavail, bsize } = statfsSync(parent);
  const freeGib = (bavail * bsize) / GIB;
  // Two executables need twice the space.
  const factor = options.before === undefined ? 1 : 2;
  const neededGib = 1 + factor * Math.max(...rows.map((row) => row.diskGib({ ...options, workDirectory: parent })));
  if (freeGib < neededGib) {
    throw new Error(
      `${parent} has ${freeGib.toFixed(1)} GiB free, but ${neededGib} GiB are needed. Free some space, or set TMPDIR.`,
    );
  }
  return mkdtempSync(join(parent, "larder-bench-"));
}

interface RowResult {
  row: string;
  seconds: number;
  figures: Figure[];
  details: Record<string, unknown>;
  notes: string[];
  tables: string[];
}

async function runRow(row: Row, options: BenchOptions, minutesMax: number): Promise<RowResult> {
  const bench = new Bench(options, row.id);
  bench.log(row.title);
  const startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      bench.abandon();
      reject(new Error(`not finished after ${minutesMax} minutes`));
    }, minutesMax * 60_000);
  });
  try {
    await Promise.race([row.run(bench), timeout]);
  } catch (error) {
    bench.log(`failed: ${messageOf(error)}`);
    if (bench.figures.length === 0) bench.figure({ task: row.title, unit: "", better: "higher" });
    for (const figure of bench.figures) {
      if (medianOf(figure.samples, "larder") === undefined) figure.failures.larder ??= messageOf(error);
    }
    await killAll();
  } finally {
    clearTimeout(timer);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { figures, details, notes, tables } = bench;
  return { row: row.id, seconds, figures, details, notes, tables };
}

function listNotes(results: RowResult[], options: BenchOptions, machine: Machine): string[] {
  const failures = new Set(
    results.flatMap(({ figures }) =>
      figures.flatMap((figure) =>
        Object.entries(figure.failures)
          .filter(([, cause]) => cause !== "not installed")
          .map(([subject, cause]) => `${figure.row}: ${subject} failed: ${cause}`),
      ),
    ),
  );
  return [
    ...failures,
    ...results.flatMap(({ notes }) => notes),
    ...(options.quick ? ["--quick: smaller sizes; don't publish these results."] : []),
    ...(machine.fileSystem.includes(" tmpfs ") ? ["The work directory is in memory, where syncs cost nothing."] : []),
  ];
}

function printResults(results: RowResult[], options: BenchOptions, machine: Machine): void {
  const figures = results.flatMap((result) => result.figures);
  const { processor, cores, memoryGib, kernel, fileSystem, versions } = machine;
  console.log(options.before === undefined ? renderTable(figures) : renderComparison(figures));
  for (const table of results.flatMap((result) => result.tables)) console.log(`\n${table}`);
  console.log("");
  for (const note of listNotes(results, options, machine)) console.log(`- ${note}`);
  console.log(
    `- Medians of ${options.rounds} ${options.rounds === 1 ? "round" : "rounds"}. Machine: ${processor}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}, ${fileSystem}.`,
  );
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  console.log(`- ${listed.join("; ")}.`);
}

function writeJson(results: RowResult[], options: BenchOptions, machine: Machine): string {
  const time = new Date().toISOString();
  const path = join(PROJECT, "bench-results", `${time.replaceAll(":", "-")}.json`);
  const { rounds, quick } = options;
  const rows = results.map((result) => ({
    ...result,
    figures: result.figures.map((figure) => ({
      ...figure,
      medians: Object.fromEntries(SUBJECTS.map((subject) => [subject, medianOf(figure.samples, subject)])),
      ratios: Object.fromEntries(SUBJECTS.slice(1).map((base) => [base, ratio(figure, base)])),
      result: checkTargets(figure),
    })),
  }));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ time, machine, options: { rounds, quick }, rows }, null, 2)}\n`);
  return path;
}

async function main(): Promise<number> {
  const commandLine = parseCommandLine(process.argv.slice(2));
  if (commandLine === undefined) {
    console.log(HELP);
    return 0;
  }
  const { rows, minutesMax, ...rest } = commandLine;
  const workDirectory = makeWorkDirectory(commandLine);
  const cleanUp = async () => {
    await killAllAndClose();
    rmSync(workDirectory, { recursive: true, force: true });
  };
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.on(signal, () => void cleanUp().finally(() => process.exit(code)));
  }
  try {
    const options: BenchOptions = { ...rest, workDirectory };
    const machine = await describeMachine(workDirectory, options.executable);
    const results: RowResult[] = [];
    for (const row of rows) results.push(await runRow(row, options, minutesMax));
    const path = writeJson(results, options, machine);
    printResults(results, options, machine);
    process.stderr.write(`all samples: ${path}\n`);
    const figures = results.flatMap((result) => result.figures);
    if (options.before !== undefined) return figures.some(hasRegressed) ? 1 : 0;
    return figures.some((figure) => ["SHORT", "failed", "not measured"].includes(checkTargets(figure))) ? 1 : 0;
  } finally {
    await cleanUp();
  }
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(2);
}
