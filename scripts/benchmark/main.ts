/**
 * `scripts/bench`: its options, the rows in order, the table and the JSON file.
 */
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Bench, type BenchOptions, type Figure, messageOf, type Row } from "./bench.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { killAll, killAllAndClose } from "./processes.ts";
import { beforeAfter } from "./rows/before-after.ts";
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
import { webdavFiles } from "./rows/webdav-files.ts";
import { webdavLists } from "./rows/webdav-lists.ts";
import { SUBJECTS } from "./server.ts";
import { medianOf, ratio, renderTable, checkTargets } from "./table.ts";

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
  webdavLists,
  webdavFiles,
  beforeAfter,
];
const ROW_MINUTES_MAX = 20;
const GIB = 2 ** 30;
const PROJECT = resolve(import.meta.dir, "..", "..");

const HELP = `Usage: scripts/bench [options]

Starts dist/larder and measures it over HTTP. Compares it with baselines in the same run: the "floor", a bare Bun server
that does only the physical work (hash, write, fsync, rename, one row); nginx with its DAV module if it is installed (it
never syncs); sharp alone; and, if they are installed, the WebDAV servers of Apache and rclone. They are measured in turns, round by round. The table shows medians, and Larder's as a
multiple of theirs. Load generator and servers share the machine's cores, so the table also shows the servers' CPU time.
Don't use the machine during a run. Larder runs with all checks on; its limits are set high.

  --only ROW,ROW      measure only these rows
  --rounds N          measure each N times (default 5, with --quick 3)
  --quick             smaller sizes and fewer rounds, for a first look (targets refer to the full sizes)
  --full              adds a 10 GiB upload
  --larder FILE       measure this executable instead of dist/larder
  --before FILE       also measure small uploads with this earlier executable
  --help              print this text

Rows:
${ROWS.map((row) => `  ${row.id.padEnd(18)}  ${row.title}`).join("\n")}

Progress goes to standard error, the table to standard output, and all samples to bench-results/<time>.json. Everything
else is written below $TMPDIR (default /var/tmp) and removed at the end. Use the disk that the server will use.

Columns: "floor" and "nginx" are medians in the same unit. "÷ floor" and "÷ nginx" are Larder's figure as a multiple of
theirs: the median of the ratios of each round, so that a busy moment of the machine has little effect. If a figure has
other baselines, these columns name them. "server CPU" is the median for one operation, with the first letter of each. "reach" lists required targets, "aim" further ones.
The last column says which are reached: "aim" all, "ok" the required ones, "SHORT" not all required ones.

Exit codes: 0 all required targets reached, 1 some not reached or not measured, 2 the benchmark could not run.
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
      before: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds must be a whole number of at least 1, not ${values.rounds}`);
  const selected = values.only?.split(",");
  for (const id of selected ?? []) {
    if (!ROWS.some((row) => row.id === id)) throw new Error(`unknown row ${id}; see scripts/bench --help`);
  }
  const rows = ROWS.filter((row) => selected?.includes(row.id) ?? true);
  const executable = resolve(values.larder);
  const before = values.before === undefined ? undefined : resolve(values.before);
  return { rows, rounds, quick: values.quick, full: values.full, executable, before };
}

function makeWorkDirectory(rows: Row[], options: Omit<BenchOptions, "workDirectory">): string {
  const parent = process.env.TMPDIR ?? "/var/tmp";
  const { bavail, bsize } = statfsSync(parent);
  const freeGib = (bavail * bsize) / GIB;
  const neededGib = 1 + Math.max(...rows.map((row) => row.diskGib({ ...options, workDirectory: parent })));
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
}

async function runRow(row: Row, options: BenchOptions): Promise<RowResult> {
  const bench = new Bench(options, row.id);
  bench.log(row.title);
  const startedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      bench.abandon();
      reject(new Error(`not finished after ${ROW_MINUTES_MAX} minutes`));
    }, ROW_MINUTES_MAX * 60_000);
  });
  try {
    await Promise.race([row.run(bench), timeout]);
  } catch (error) {
    bench.log(`failed: ${messageOf(error)}`);
    if (bench.figures.length === 0) bench.figure({ task: row.title, unit: "", better: "higher" });
    for (const figure of bench.figures) {
      if (medianOf(figure, "larder") === undefined) figure.failures.larder ??= messageOf(error);
    }
    await killAll();
  } finally {
    clearTimeout(timer);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { figures, details, notes } = bench;
  return { row: row.id, seconds, figures, details, notes };
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
    ...(options.quick ? ["--quick: smaller sizes and fewer rounds; don't publish these results."] : []),
    ...(machine.fileSystem.includes(" tmpfs ") ? ["The work directory is in memory, where syncs cost nothing."] : []),
    "Other file servers (copyparty, @tus/server, rclone, Directus) are not measured; none of them syncs a file before it responds.",
  ];
}

function printResults(results: RowResult[], options: BenchOptions, machine: Machine): void {
  const figures = results.flatMap((result) => result.figures);
  const { processor, cores, memoryGib, kernel, fileSystem, versions } = machine;
  console.log(renderTable(figures));
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
  const { rounds, quick, full } = options;
  const rows = results.map((result) => ({
    ...result,
    figures: result.figures.map((figure) => ({
      ...figure,
      medians: Object.fromEntries(SUBJECTS.map((subject) => [subject, medianOf(figure, subject)])),
      ratios: Object.fromEntries(SUBJECTS.slice(1).map((base) => [base, ratio(figure, base)])),
      result: checkTargets(figure),
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
    for (const row of rows) results.push(await runRow(row, options));
    const path = writeJson(results, options, machine);
    printResults(results, options, machine);
    process.stderr.write(`all samples: ${path}\n`);
    const targetResults = results.flatMap((result) => result.figures.map(checkTargets));
    return targetResults.some((each) => each === "SHORT" || each === "failed" || each === "not measured") ? 1 : 0;
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
