/**
 * `scripts/bench`: options, the rows in their order, the table and the JSON.
 */
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Bench, type BenchOptions, type Figure, messageOf, type Row } from "./bench.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { killAll, killAllForGood } from "./processes.ts";
import { archive } from "./rows/archive.ts";
import { downloadLarge } from "./rows/download-large.ts";
import { chunks } from "./rows/chunks.ts";
import { idle } from "./rows/idle.ts";
import { memory } from "./rows/memory.ts";
import { million } from "./rows/million.ts";
import { mixed } from "./rows/mixed.ts";
import { readSmall } from "./rows/read-small.ts";
import { queue } from "./rows/queue.ts";
import { search } from "./rows/search.ts";
import { sync } from "./rows/sync.ts";
import { thumbnails } from "./rows/thumbnails.ts";
import { tus } from "./rows/tus.ts";
import { uploadLarge } from "./rows/upload-large.ts";
import { uploadSmall } from "./rows/upload-small.ts";
import { middle, ratio, renderTable, verdict } from "./table.ts";

const ROWS: Row[] = [
  uploadLarge,
  memory,
  downloadLarge,
  archive,
  uploadSmall,
  readSmall,
  million,
  search,
  thumbnails,
  idle,
  mixed,
  chunks,
  tus,
  sync,
  queue,
];
const ROW_MINUTES_MAX = 20;
const GIB = 2 ** 30;
const PROJECT = resolve(import.meta.dir, "..", "..");

const HELP = `Usage: scripts/bench [options]

Starts dist/larder and measures it over HTTP against baselines in the same run: the "floor", a bare Bun server that does
only the physical work (hash, write, fsync, rename, one row), nginx with its DAV module where it is installed (it never
syncs), and sharp alone. They take turns, round by round; the table shows medians, and Larder's as a multiple of theirs.
Generator and servers share the machine's cores, so the servers' CPU time stands beside each rate. Leave the machine
alone meanwhile. Larder runs with every guard on; its limits are only set high.

  --only ROW,ROW      measure only these rows
  --rounds N          measure each N times (default 5, with --quick 3)
  --quick             smaller sizes and fewer rounds: a look, not a result (targets still refer to the full sizes)
  --full              adds a 10 GiB upload
  --larder FILE       another executable than dist/larder
  --help              this text

Rows:
${ROWS.map((row) => `  ${row.id.padEnd(18)}  ${row.title}`).join("\n")}

Progress goes to standard error, the table to standard output, all samples to bench-results/<time>.json. Everything else
is written below $TMPDIR (default /var/tmp) and removed at the end; it should be on the disk that the server will use.

In the table: "floor" and "nginx" are medians of the same unit; "÷ floor" and "÷ nginx" are Larder's figure as a multiple
of theirs (the median of each round's own ratio, so that a busy moment of the machine weighs little); server CPU is a
median for one operation (l Larder, f floor, s sharp, n nginx). The last column: "aim" all targets met, also those aimed
at; "ok" all that have to be reached; "SHORT" not.

Exit codes: 0 all targets reached, 1 one or more not, or not measured, 2 the bench could not run.
Example: scripts/bench --quick --only small-upload,small-read
`;

interface CommandLine extends Omit<BenchOptions, "workDirectory"> {
  rows: Row[];
}

function parseCommandLine(): CommandLine | undefined {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      larder: { type: "string", default: join(PROJECT, "dist", "larder") },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds takes a number from 1, not ${values.rounds}`);
  const wanted = values.only?.split(",");
  for (const id of wanted ?? []) {
    if (!ROWS.some((row) => row.id === id)) throw new Error(`there is no row ${id}; see scripts/bench --help`);
  }
  const rows = ROWS.filter((row) => wanted?.includes(row.id) ?? true);
  return { rows, rounds, quick: values.quick, full: values.full, executable: resolve(values.larder) };
}

function makeWorkDirectory(rows: Row[], options: Omit<BenchOptions, "workDirectory">): string {
  const parent = process.env.TMPDIR ?? "/var/tmp";
  const { bavail, bsize } = statfsSync(parent);
  const freeGib = (bavail * bsize) / GIB;
  const neededGib = 1 + Math.max(...rows.map((row) => row.diskGib({ ...options, workDirectory: parent })));
  if (freeGib < neededGib) {
    throw new Error(
      `${parent} has ${freeGib.toFixed(1)} GiB free and ${neededGib} are needed: free some, or name another in TMPDIR`,
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
}

async function runRow(row: Row, options: BenchOptions): Promise<RowResult> {
  const bench = new Bench(options, row.id);
  bench.say(row.title);
  const startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      bench.abandon();
      reject(new Error(`not done after ${ROW_MINUTES_MAX} minutes`));
    }, ROW_MINUTES_MAX * 60_000);
  });
  try {
    await Promise.race([row.run(bench), timeout]);
  } catch (error) {
    bench.say(`failed: ${messageOf(error)}`);
    if (bench.figures.length === 0) bench.figure({ task: row.title, unit: "", better: "higher" });
    for (const figure of bench.figures) {
      if (middle(figure, "larder") === undefined) figure.failures.larder ??= messageOf(error);
    }
    await killAll();
  } finally {
    clearTimeout(timer);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { figures, details, notes } = bench;
  return { row: row.id, seconds, figures, details, notes };
}

function notesOf(results: RowResult[], options: BenchOptions, machine: Machine): string[] {
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
    ...(options.quick ? ["--quick: smaller sizes and fewer rounds; no result to quote."] : []),
    ...(machine.fileSystem.includes(" tmpfs ") ? ["The work directory is in memory: syncs cost nothing there."] : []),
    "Other file servers (copyparty, @tus/server, rclone, Directus) are not started here; none of them syncs a file before it answers.",
  ];
}

function printResults(results: RowResult[], options: BenchOptions, machine: Machine): void {
  const figures = results.flatMap((result) => result.figures);
  const { processor, cores, memoryGib, kernel, fileSystem, versions } = machine;
  console.log(renderTable(figures));
  console.log("");
  for (const note of notesOf(results, options, machine)) console.log(`- ${note}`);
  console.log(
    `- Medians of ${options.rounds} ${options.rounds === 1 ? "round" : "rounds"}. Machine: ${processor}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}, ${fileSystem}.`,
  );
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  console.log(`- ${listed.join("; ")}.`);
}

function writeJson(results: RowResult[], options: BenchOptions, machine: Machine): string {
  const time = new Date().toISOString();
  const path = join(PROJECT, "bench-results", `${time.replaceAll(":", "-")}.json`);
  const { rounds, quick, full } = options;
  const rows = results.map((result) => ({
    ...result,
    figures: result.figures.map((figure) => ({
      ...figure,
      medians: Object.fromEntries(
        (["larder", "floor", "nginx", "sharp"] as const).map((subject) => [subject, middle(figure, subject)]),
      ),
      ratios: Object.fromEntries((["floor", "nginx", "sharp"] as const).map((base) => [base, ratio(figure, base)])),
      verdict: verdict(figure),
    })),
  }));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ time, machine, options: { rounds, quick, full }, rows }, null, 2)}\n`);
  return path;
}

async function main(): Promise<number> {
  const commandLine = parseCommandLine();
  if (commandLine === undefined) {
    console.log(HELP);
    return 0;
  }
  const { rows, ...rest } = commandLine;
  const workDirectory = makeWorkDirectory(rows, rest);
  const cleanUp = async () => {
    await killAllForGood();
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
    for (const row of rows) results.push(await runRow(row, options));
    const path = writeJson(results, options, machine);
    printResults(results, options, machine);
    process.stderr.write(`all samples: ${path}\n`);
    const verdicts = results.flatMap((result) => result.figures.map(verdict));
    return verdicts.some((each) => each === "SHORT" || each === "failed" || each === "not measured") ? 1 : 0;
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
