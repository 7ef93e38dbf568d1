/**
 * The cost of each operation on servers with more and more of everything: files, one large folder, a long journal,
 * accounts, and shares. What has to find something among N others may cost log N, and no more.
 */
import { dirname, join } from "node:path";
import { Database } from "bun:sqlite";
import { type Bench, measureInTurns, messageOf, record, type Row, stopAndRemove } from "../bench.ts";
import type { Larder } from "../larder.ts";
import { load } from "../load.ts";
import { cpuSeconds, median } from "../measure.ts";
import { run } from "../processes.ts";
import type { Scale } from "../seed-growth.ts";
import { formatAmount } from "../table.ts";
import { type AtRest, measureAtRest, renderAtRest } from "./at-rest.ts";
import { type Operation, OPERATIONS, prepareOperations, type Prepared } from "./operations.ts";
import { SEEDED_FOLDER } from "./seeded.ts";

const SMALLEST = 1000;
const MIDDLE = 100_000;
const MILLION = 1_000_000;
const FILES_PER_PART = 1000;
const JOURNAL_BYTES = 40;
const FILE_BYTES = 1500;
const GIB = 2 ** 30;
/** The server is idle after this many checks with hardly any CPU time. */
const IDLE_CHECKS = 3;
const IDLE_CHECK_MS = 1000;
const IDLE_SHARE_MAX = 0.05;
const IDLE_MINUTES_MAX = 30;

function scaleOf(files: number): Scale {
  return {
    files,
    folderFiles: Math.min(files, 200_000),
    journalEntries: Math.min(50 * files, 50_000_000),
    accounts: Math.min(Math.max(1, files / 1000), 1000),
    shares: Math.min(files / 100, 10_000),
  };
}

/** The sizes up to the largest, which the options name. */
function sizesOf(largest: number): number[] {
  return [SMALLEST, MIDDLE, MILLION, largest].filter(
    (size, index, all) => size <= largest && all.indexOf(size) === index,
  );
}

export const growth: Row = {
  id: "growth",
  title: "cost of each operation with 1,000 to 1,000,000 files",
  diskGib: ({ files }) =>
    2 + Math.ceil((2 * (files * FILE_BYTES + scaleOf(files).journalEntries * JOURNAL_BYTES)) / GIB),
  run: async (bench: Bench) => {
    const sizes = sizesOf(bench.options.files);
    const largest = sizes.at(-1) ?? MILLION;
    // Not lines of the common table, but cells of their own.
    const cells = new Map(
      [...OPERATIONS.keys()].flatMap((name) =>
        sizes.map((size): [string, Cell] => [keyOf(name, size), { cpuMs: [], p50Ms: [] }]),
      ),
    );
    const started: { larder: Larder; prepared: Prepared; size: number }[] = [];
    const atRest: AtRest[] = [];
    try {
      for (const size of sizes) {
        const larder = await startGrown(bench, scaleOf(size));
        started.push({ larder, size, prepared: await prepareOperations(larder) });
      }
      const measureOperation = async (name: string, operation: Operation, round: number) => {
        for (const { larder, prepared, size } of started) {
          const cost = await operation(larder, prepared, round);
          const cell = cells.get(keyOf(name, size));
          cell?.cpuMs.push(cost.cpuMs);
          cell?.p50Ms.push(cost.p50Ms);
        }
      };
      const measure = async (round: number) => {
        for (const [name, operation] of OPERATIONS) {
          // The other operations are measured all the same; the table has a gap, and its target is not measured.
          await measureOperation(name, operation, round).catch((error: unknown) => {
            bench.notes.push(`growth: ${name} failed: ${messageOf(error)}`);
          });
        }
      };
      await measureInTurns(bench, bench.figures, [{ subject: "larder", measure }]);
      for (const entry of started) {
        const [larder, rest] = await measureAtRest(bench, entry.larder, entry.size);
        entry.larder = larder;
        atRest.push(rest);
      }
    } finally {
      for (const { larder } of started) await stopAndRemove(larder);
    }
    const lines = [...OPERATIONS.keys()].map((name) => ({
      name,
      cells: sizes.flatMap((size) => cells.get(keyOf(name, size)) ?? []),
    }));
    Object.assign(bench.details, { cells: Object.fromEntries(cells), atRest });
    bench.tables.push(renderGrowth(sizes, lines), renderAtRest(atRest));
    addSlopes(bench, largest, lines);
  },
};

/** The samples of an operation at one size. */
interface Cell {
  cpuMs: number[];
  p50Ms: number[];
}

interface Line {
  name: string;
  /** By size. */
  cells: Cell[];
}

function keyOf(name: string, size: number): string {
  return `${name}/${size}`;
}

/** How many times the value of the smallest size that of the largest is; undefined if the smallest is too small. */
function slopeOf({ cells }: Line, key: keyof Cell): number | undefined {
  const [first, last] = [cells[0], cells.at(-1)].map((cell) => median(cell?.[key] ?? []));
  return first === undefined || last === undefined || !(first > 0) ? undefined : last / first;
}

/** The growth of each operation's CPU time, whose target is that of a logarithm. */
function addSlopes(bench: Bench, largest: number, lines: Line[]): void {
  const reach = Number((Math.log(largest) / Math.log(SMALLEST)).toFixed(2));
  const sizes = `${largest.toLocaleString("en")} ÷ ${SMALLEST.toLocaleString("en")} files`;
  for (const line of lines) {
    const targets = [{ against: "number", reach } as const];
    const figure = bench.figure({ task: `${line.name}, CPU, ${sizes}`, unit: "×", better: "lower", targets });
    const slope = slopeOf(line, "cpuMs");
    if (slope !== undefined) record(figure, "larder", slope);
  }
}

/** A table for docs/performance.md. */
function renderGrowth(sizes: number[], lines: Line[]): string {
  const format = (slope: number | undefined) => (slope === undefined ? "–" : `${slope.toFixed(1)} ×`);
  const rows = lines.map((line) => {
    const texts = line.cells.map(({ cpuMs, p50Ms }) =>
      cpuMs.length === 0 ? "–" : `${formatAmount(median(cpuMs))} (${formatAmount(median(p50Ms))})`,
    );
    return [line.name, ...texts, format(slopeOf(line, "cpuMs")), format(slopeOf(line, "p50Ms"))];
  });
  const header = ["CPU ms (p50 ms)", ...sizes.map((size) => `${size.toLocaleString("en")} files`), "CPU", "p50"];
  const rule = header.map((_, column) => (column === 0 ? "---" : "---:"));
  return [header, rule, ...rows].map((cellsOfRow) => `| ${cellsOfRow.join(" | ")} |`).join("\n");
}

/** Fills a data directory, starts the server on it, and waits until its background work is done. */
async function startGrown(bench: Bench, scale: Scale): Promise<Larder> {
  const first = await bench.startLarder();
  const upload = { folder: SEEDED_FOLDER, name: "first.txt", body: { random: 1000 }, rawAs: "form" } as const;
  const sent = await load(first, { connections: 1, count: 1, templates: [first.uploadTemplate(upload)] });
  const id = /"id":"(file_[^"]+)"/.exec(sent.responses[0]?.body ?? "")?.[1];
  const post = (path: string, prefix: string) => ({
    head: `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${first.headers}Content-Type: application/json\r\n`,
    prefix,
  });
  const parts = Math.ceil((scale.files - scale.folderFiles) / FILES_PER_PART);
  if (parts > 0) {
    const folder = post("/api/files/folders", '{"name":"part ########","path":"/"}');
    await load(first, { connections: 8, count: parts, templates: [folder] });
  }
  await load(first, { connections: 1, count: 1, templates: [post(`/api/files/${id}/shares`, "{}")] });
  await first.stop();
  bench.log(`writing rows for ${scale.files.toLocaleString("en")} files`);
  const script = join(dirname(import.meta.dir), "seed-growth.ts");
  const data = join(first.directory, "data");
  const writeRows = (part: string) => run([process.execPath, script, part, data, SEEDED_FOLDER, JSON.stringify(scale)]);
  await writeRows("accounts");
  const small = await bench.startLarder("larder", first);
  await waitUntilIdle(bench, small);
  await small.stop();
  await writeRows("files");
  const larder = await bench.startLarder("larder", first);
  await waitForIndex(bench, larder);
  await waitUntilIdle(bench, larder);
  return larder;
}

async function waitForIndex(bench: Bench, larder: Larder): Promise<void> {
  bench.log("waiting for the search index");
  const database = new Database(join(larder.directory, "data", "larder.db"), { readonly: true });
  const state = database.prepare<{ left: number }, []>("SELECT until_id - next_id + 1 AS left FROM search_fill");
  const until = performance.now() + IDLE_MINUTES_MAX * 60_000;
  while (state.get()?.left !== 0) {
    if (performance.now() > until) throw new Error("the search index was not built in time");
    await Bun.sleep(500);
  }
  state.finalize();
  database.close();
}

async function waitUntilIdle(bench: Bench, larder: Larder): Promise<void> {
  bench.log("waiting until the server is idle");
  const until = performance.now() + IDLE_MINUTES_MAX * 60_000;
  for (let quiet = 0; quiet < IDLE_CHECKS; ) {
    if (performance.now() > until) throw new Error("the server was not idle in time");
    const before = cpuSeconds(larder.pid);
    await Bun.sleep(IDLE_CHECK_MS);
    const isQuiet = cpuSeconds(larder.pid) - before < (IDLE_CHECK_MS / 1000) * IDLE_SHARE_MAX;
    quiet = isQuiet ? quiet + 1 : 0;
  }
}
