/**
 * A folder with 1,000,000 files: its pages in each order, searches for names in it, and the server's start.
 */
import { rmSync } from "node:fs";
import { measureInTurns, type Bench, type Figure, record, type Row } from "../bench.ts";
import type { RecordedResponse } from "../job.ts";
import { type Larder, startLarder } from "../larder.ts";
import { load, loadLeniently } from "../load.ts";
import { MARKERS } from "../seed.ts";
import { getTemplate, startFloor, startNginx } from "../server.ts";
import { type SeededAccount, SEEDED_FOLDER, seedLarder } from "./seeded.ts";

const LIMIT = 100;
const SORTS = ["name", "size", "createdAt", "modifiedAt"];

export const million: Row = {
  id: "million",
  title: "a folder of 1,000,000 files",
  diskGib: () => 4,
  run: async (bench: Bench) => {
    const count = bench.options.quick ? 100_000 : 1_000_000;
    const seeded = await seedLarder(bench, count);
    await measureStart(bench, count, seeded);
    await measureReads(bench, count, seeded);
    rmSync(seeded.directory, { recursive: true, force: true });
  },
};

async function measureStart(bench: Bench, count: number, seeded: SeededAccount): Promise<void> {
  const { executable } = bench.options;
  const [empty, full] = ["empty", `${count.toLocaleString("en")} files`].map((content) =>
    bench.figure({
      task: `start to first response, ${content}`,
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 100, aim: 50 }],
    }),
  );
  if (empty === undefined || full === undefined) return;
  const first = await bench.startLarder();
  await first.stop();
  const timeLarder = async (figure: Figure, directory: string, token: string) => {
    const larder = await startLarder({ executable, directory, token });
    record(figure, "larder", larder.startMs);
    await larder.stop();
  };
  await measureInTurns(
    bench,
    [empty, full],
    [
      {
        subject: "floor",
        measure: async () => {
          const floor = await startFloor(bench.directory("floor"), process.execPath);
          record(empty, "floor", floor.startMs);
          await floor.stop();
        },
      },
      {
        subject: "larder",
        measure: async () => {
          await timeLarder(empty, first.directory, first.token);
          await timeLarder(full, seeded.directory, seeded.token);
        },
      },
      {
        subject: "nginx",
        measure: async () => {
          const nginx = await startNginx(bench.directory("nginx"));
          record(empty, "nginx", nginx.startMs);
          await nginx.stop();
        },
      },
    ],
  );
}

interface ReadFigures {
  p50: Figure;
  p99: Figure;
}

function readFigures(bench: Bench, task: string, targets: { reach: number; aim: number }): ReadFigures {
  return {
    p50: bench.figure({ task: `${task}, p50`, unit: "ms", better: "lower" }),
    p99: bench.figure({
      task: `${task}, p99`,
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", ...targets }],
    }),
  };
}

async function measureReads(bench: Bench, count: number, seeded: SeededAccount): Promise<void> {
  // One more page follows, with the file that the others are copies of.
  const lastPage = Math.floor(count / LIMIT);
  const pages = [
    { page: 1, figures: readFigures(bench, "page 1, slowest of 8 orders", { reach: 10, aim: 2 }) },
    { page: lastPage >> 1, figures: readFigures(bench, "middle page, slowest of 8 orders", { reach: 10, aim: 2 }) },
    { page: lastPage, figures: readFigures(bench, "last page, slowest of 8 orders", { reach: 10, aim: 2 }) },
  ];
  const searches = [
    { word: MARKERS.one, hits: 1, figures: readFigures(bench, "name search, 1 hit", { reach: 20, aim: 3 }) },
    {
      word: MARKERS.thousand,
      hits: 1000,
      figures: readFigures(bench, "name search, 1,000 hits", { reach: 20, aim: 3 }),
    },
  ];
  const half = count / 2;
  const dense = bench.figure({
    task: `name search, ${half.toLocaleString("en")} hits, uncached`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 300, aim: 100 }],
  });
  const during = bench.figure({ task: "file info during that search, p99", unit: "ms", better: "lower" });
  const figures = [...pages, ...searches].flatMap((entry) => [entry.figures.p50, entry.figures.p99]);

  const { executable } = bench.options;
  const larder = await startLarder({ executable, directory: seeded.directory, token: seeded.token });
  const measure = async (round: number) => {
    for (const { page, figures } of pages) await measurePage(bench, larder, page, round, figures);
    for (const { word, hits, figures } of searches) {
      const search = searchTemplate(larder, word);
      const found = await load(larder, { connections: 1, count: 200, templates: [search] });
      checkTotal(found.responses[0], hits);
      record(figures.p50, "larder", found.p50Ms, cpuOf(found));
      record(figures.p99, "larder", found.p99Ms, cpuOf(found));
    }
    await measureDense(larder, half, seeded.response, dense, during);
  };
  const all = [...figures, dense, during];
  await measureInTurns(bench, all, [{ subject: "larder", measure, finish: () => larder.stop() }]);
}

async function measurePage(
  bench: Bench,
  larder: Larder,
  page: number,
  round: number,
  figures: ReadFigures,
): Promise<void> {
  let slowest = { p50Ms: 0, p99Ms: 0, cpuSeconds: 0, requests: 1 };
  for (const sort of SORTS) {
    for (const order of ["asc", "desc"]) {
      const path = `/api/files?folder=/${SEEDED_FOLDER}&page=${page}&limit=${LIMIT}&sort=${sort}&order=${order}`;
      const read = await load(larder, { connections: 1, count: 100, templates: [getTemplate(path, larder.headers)] });
      bench.details[`page ${page}, ${sort} ${order}, round ${round}`] = { p50Ms: read.p50Ms, p99Ms: read.p99Ms };
      if (read.p99Ms > slowest.p99Ms) slowest = read;
    }
  }
  record(figures.p50, "larder", slowest.p50Ms, cpuOf(slowest));
  record(figures.p99, "larder", slowest.p99Ms, cpuOf(slowest));
}

/** Changes the account before each search, so that no cached result can be used. */
async function measureDense(
  larder: Larder,
  hits: number,
  response: RecordedResponse,
  dense: Figure,
  during: Figure,
): Promise<void> {
  const head = `POST /api/files/folders HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}Content-Type: application/json\r\n`;
  const change = { head, prefix: '{"name":"change ########","path":"/"}' };
  const info = larder.infoTemplate(response);
  const others = loadLeniently(larder, {
    connections: 4,
    durationMs: 2500,
    ratePerSecond: 200,
    templates: info === undefined ? [] : [info],
  });
  for (let search = 0; search < 3; search += 1) {
    await load(larder, { connections: 1, count: 1, templates: [change] });
    const templates = [searchTemplate(larder, MARKERS.half)];
    const found = await load(larder, { connections: 1, count: 1, templates });
    checkTotal(found.responses[0], hits);
    record(dense, "larder", found.maxMs);
  }
  record(during, "larder", (await others).p99Ms);
}

function searchTemplate(larder: Larder, word: string) {
  return getTemplate(`/api/files?folder=/${SEEDED_FOLDER}&search=${word}&limit=${LIMIT}`, larder.headers);
}

function cpuOf(read: { cpuSeconds: number; requests: number }): { value: number; unit: string } {
  return { value: (read.cpuSeconds / read.requests) * 1000, unit: "ms" };
}

/** Checks that a search found all files. */
function checkTotal(response: RecordedResponse | undefined, expected: number): void {
  const total = Number(/"total":(\d+)/.exec(response?.body ?? "")?.[1]);
  if (total !== expected) throw new Error(`a search found ${total} instead of ${expected}`);
}
