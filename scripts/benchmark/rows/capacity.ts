/**
 * Where one server ends: requests by the number of connections, the share of the main thread, what the transactions of
 * uploads cost the disk, and how a slow disk changes that.
 */
import { Database } from "bun:sqlite";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, measureInTurns, record, type Row, stopAndRemove } from "../bench.ts";
import type { RequestTemplate } from "../job.ts";
import { type Larder, startLarder } from "../larder.ts";
import { load } from "../load.ts";
import { mainThreadSeconds, median } from "../measure.ts";
import { getTemplate } from "../server.ts";
import { formatAmount } from "../table.ts";

const CONNECTIONS = [1, 4, 16, 64, 256];
/** With a slow disk. */
const SLOW_CONNECTIONS = [1, 16, 64];
/** Milliseconds that each sync of the disk takes longer. */
const SYNC_DELAYS_MS = [0, 1, 5, 20];
const DURATION_MS = 1500;
const FILES = 300;
const BESIDE = { connections: 4, ratePerSecond: 200 } as const;
const WAL_UPLOADS = 400;
const SMALL = { body: { random: 10 << 10 }, rawAs: "form" } as const;

/** The samples of one task on one server, by number of connections. */
interface Cell {
  perSecond: number[];
  p50Ms: number[];
  p99Ms: number[];
  cpuMs: number[];
  /** CPU time of the main thread for one request. */
  mainMs: number[];
  commitsPerSecond: number[];
  transactionsPerCommit: number[];
}

type Cells = Map<string, Cell>;

interface Started {
  larder: Larder;
  delayMs: number;
  files: RequestTemplate[];
  downloads: RequestTemplate[];
}

const post = (larder: Larder, path: string, prefix: string): RequestTemplate => ({
  head: `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}Content-Type: application/json\r\n`,
  prefix,
});

/** The requests of each task. Names are new in each round. */
const TASKS: ReadonlyMap<string, (started: Started, round: string) => RequestTemplate[]> = new Map([
  ["file info", ({ files }: Started) => files],
  ["list of 100 files", ({ larder }: Started) => [getTemplate("/api/files?folder=/sample&limit=100", larder.headers)]],
  ["download of 10 KiB", ({ downloads }: Started) => downloads],
  [
    "upload of 10 KiB",
    ({ larder }: Started, round: string) => [
      larder.uploadTemplate({ ...SMALL, name: "small-########.bin", folder: `upload ${round}` }),
    ],
  ],
  [
    "new folder",
    ({ larder }: Started) => [post(larder, "/api/files/folders", '{"name":"folder ########","path":"/"}')],
  ],
]);
const WRITES = ["upload of 10 KiB", "new folder"];

export const capacity: Row = {
  id: "capacity",
  title: "requests by number of connections, and with a slow disk",
  diskGib: () => 8,
  run: async (bench: Bench) => {
    const beside = bench.figure({ task: "file info beside uploads at 16, p99", unit: "ms", better: "lower" });
    const cells: Cells = new Map();
    const besideMs = new Map<number, number[]>();
    const started: Started[] = [];
    const walBytes: string[] = [];
    try {
      for (const delayMs of SYNC_DELAYS_MS) started.push(await startDelayed(bench, delayMs));
      const measure = async (round: number) => {
        for (const server of started) {
          await measureServer(server, round, cells);
          const p99Ms = await measureBeside(server, round);
          besideMs.set(server.delayMs, [...(besideMs.get(server.delayMs) ?? []), p99Ms]);
          if (server.delayMs === 0) record(beside, "larder", p99Ms);
        }
      };
      await measureInTurns(bench, bench.figures, [{ subject: "larder", measure }]);
      const [fast] = started;
      for (const connections of fast === undefined ? [] : [1, 16]) {
        if (fast !== undefined) walBytes.push(await measureLog(fast.larder, connections));
      }
    } finally {
      for (const { larder } of started) await stopAndRemove(larder);
    }
    Object.assign(bench.details, { cells: Object.fromEntries(cells), besideMs: Object.fromEntries(besideMs) });
    bench.notes.push(...walBytes);
    for (const [delayMs, samples] of besideMs) {
      bench.notes.push(
        `file info beside uploads at 16, syncs ${delayMs} ms longer: p99 ${median(samples).toFixed(1)} ms`,
      );
    }
    bench.tables.push(renderCells(cells));
  },
};

/** Starts a server whose syncs take longer, and uploads some files. */
async function startDelayed(bench: Bench, delayMs: number): Promise<Started> {
  const directory = bench.directory("larder");
  const { executable } = bench.options;
  const delayed = delayMs === 0 ? executable : writeDelayed(executable, directory, delayMs);
  const larder = await startLarder({ subject: "larder", executable: delayed, directory });
  const upload = larder.uploadTemplate({ ...SMALL, name: "small-########.bin", folder: "sample" });
  const sent = await load(larder, { connections: 16, count: FILES, templates: [upload], storeBodies: true });
  return {
    larder,
    delayMs,
    files: sent.responses.flatMap((response) => larder.infoTemplate(response) ?? []),
    downloads: sent.responses.map((response) => larder.downloadTemplate(response, { ...SMALL, name: "", folder: "" })),
  };
}

/**
 * Writes a script that runs the server under strace, which delays only the system calls that sync. The tracer is no
 * parent of the server (-D), so the server gets the signals, and its CPU time is its own.
 */
function writeDelayed(executable: string, directory: string, delayMs: number): string {
  const path = join(directory, "delayed");
  const calls = "fsync,fdatasync,syncfs";
  const strace = `strace -D -f -qq --seccomp-bpf -o /dev/null -e signal=none -e trace=${calls}`;
  const script = `#!/bin/sh
if [ "$1" != serve ]; then exec ${executable} "$@"; fi
exec ${strace} -e inject=${calls}:delay_exit=${delayMs * 1000} ${executable} "$@"
`;
  writeFileSync(path, script, { mode: 0o700 });
  return path;
}

async function measureServer(started: Started, round: number, cells: Cells): Promise<void> {
  const { delayMs } = started;
  for (const [name, templatesOf] of TASKS) {
    if (delayMs > 0 && !WRITES.includes(name)) continue;
    for (const connections of delayMs > 0 ? SLOW_CONNECTIONS : CONNECTIONS) {
      const cell = cellOf(cells, [name, delayMs, connections].join("/"));
      await measureCell(started.larder, connections, templatesOf(started, `${round} ${connections}`), cell);
    }
  }
}

function cellOf(cells: Cells, key: string): Cell {
  const found = cells.get(key);
  if (found !== undefined) return found;
  const made: Cell = {
    perSecond: [],
    p50Ms: [],
    p99Ms: [],
    cpuMs: [],
    mainMs: [],
    commitsPerSecond: [],
    transactionsPerCommit: [],
  };
  cells.set(key, made);
  return made;
}

async function measureCell(
  larder: Larder,
  connections: number,
  templates: RequestTemplate[],
  cell: Cell,
): Promise<void> {
  const commitsBefore = await readCommits(larder);
  const mainBefore = mainThreadSeconds(larder.pid);
  const done = await load(larder, { connections, durationMs: DURATION_MS, templates });
  const mainSeconds = mainThreadSeconds(larder.pid) - mainBefore;
  const after = await readCommits(larder);
  const commits = after.commits - commitsBefore.commits;
  cell.perSecond.push(done.perSecond);
  cell.p50Ms.push(done.p50Ms);
  cell.p99Ms.push(done.p99Ms);
  cell.cpuMs.push((done.cpuSeconds / done.requests) * 1000);
  cell.mainMs.push((mainSeconds / done.requests) * 1000);
  cell.commitsPerSecond.push((commits / done.elapsedMs) * 1000);
  if (commits > 0) cell.transactionsPerCommit.push((after.transactions - commitsBefore.transactions) / commits);
}

/** Commits and their transactions since the start of the server. */
async function readCommits(larder: Larder): Promise<{ commits: number; transactions: number }> {
  const response = await fetch(`http://127.0.0.1:${larder.port}/metrics`);
  const text = await response.text();
  const valueOf = (name: string) => {
    const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
    if (value === undefined) throw new Error(`the metrics (${response.status}) have no ${name}`);
    return Number(value);
  };
  return {
    commits: valueOf("larder_commit_transactions_count"),
    transactions: valueOf("larder_commit_transactions_sum"),
  };
}

/** Small reads at a fixed rate while files are uploaded. @returns the latency of the slowest of a hundred */
async function measureBeside({ larder, files }: Started, round: number): Promise<number> {
  const upload = larder.uploadTemplate({ ...SMALL, name: "small-########.bin", folder: `beside ${round}` });
  const uploads = load(larder, { connections: 16, durationMs: 2500, templates: [upload], isBackground: true });
  const reads = await load(larder, { ...BESIDE, durationMs: 2000, templates: files });
  await uploads;
  return reads.p99Ms;
}

/** How much uploads write to the log of the database. A reader keeps the server from beginning the log again. */
async function measureLog(larder: Larder, connections: number): Promise<string> {
  const path = join(larder.directory, "data", "larder.db");
  const database = new Database(path, { readonly: true });
  database.run("BEGIN");
  database.query("SELECT count(*) FROM accounts").get();
  const before = statSync(`${path}-wal`).size;
  const upload = larder.uploadTemplate({ ...SMALL, name: "small-########.bin", folder: `log ${connections}` });
  await load(larder, { connections, count: WAL_UPLOADS, templates: [upload] });
  const bytes = (statSync(`${path}-wal`).size - before) / WAL_UPLOADS;
  database.close();
  return `log of the database for one upload of 10 KiB, ${connections} at a time: ${Math.round(bytes / 1000)} KB`;
}

/** A table for docs/scaling.md. */
function renderCells(cells: Cells): string {
  const header = ["task", "sync", "at a time", "per s", "p50 ms", "p99 ms", "CPU ms", "main thread ms", "commits/s"];
  const columns = [...header, "transactions a commit"];
  const rows = [...cells].map(([key, cell]) => {
    const [name = "", delayMs = "", connections = ""] = key.split("/");
    const samples = [cell.perSecond, cell.p50Ms, cell.p99Ms, cell.cpuMs, cell.mainMs];
    const commits = [cell.commitsPerSecond, cell.transactionsPerCommit];
    const figures = [...samples, ...commits].map((each) => (each.length === 0 ? "" : formatAmount(median(each))));
    return [name, `+${delayMs} ms`, connections, ...figures];
  });
  const rule = columns.map((_, column) => (column === 0 ? "---" : "---:"));
  return [columns, rule, ...rows].map((line) => `| ${line.join(" | ")} |`).join("\n");
}
