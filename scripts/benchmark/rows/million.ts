/**
 * A folder with 1,000,000 files: its pages in each order, searches for names in it, and the server's start.
 */
import {
  type Bench,
  type Figure,
  measureInTurns,
  measureLarder,
  type Participant,
  record,
  type Row,
} from "../bench.ts";
import type { RecordedResponse } from "../job.ts";
import type { Larder } from "../larder.ts";
import { load, loadLeniently } from "../load.ts";
import { MARKERS } from "../seed.ts";
import { getTemplate } from "../server.ts";
import { SEEDED_FOLDER, seedLarder } from "./seeded.ts";

const LIMIT = 100;
const SORTS = ["name", "size", "createdAt", "modifiedAt"];

export const million: Row = {
  id: "million",
  title: "a folder of 1,000,000 files",
  diskGib: () => 4,
  run: async (bench: Bench) => {
    const count = bench.options.quick ? 100_000 : 1_000_000;
    await measureStart(bench, count);
    await measureReads(bench, count);
  },
};

async function measureStart(bench: Bench, count: number): Promise<void> {
  const start = bench.figure({
    task: `start to the first listing, ${count.toLocaleString("en")} files`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 100, aim: 60 }],
  });
  const participants: Participant[] = [];
  for (const subject of bench.larders()) {
    const seeded = await seedLarder(bench, count, subject);
    const measure = async () => {
      const larder = await bench.startLarder(subject, seeded);
      record(start, subject, larder.startMs);
      await larder.stop();
    };
    participants.push({ subject, measure });
  }
  await measureInTurns(bench, [start], participants);
}

interface ReadFigures {
  p50: Figure;
  p99: Figure;
}

function readFigures(bench: Bench, task: string, targets: { reach: number; aim?: number }): ReadFigures {
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

async function measureReads(bench: Bench, count: number): Promise<void> {
  // One more page follows, with the file that the others are copies of.
  const lastPage = Math.floor(count / LIMIT);
  const goals = { reach: 10, aim: 2 };
  const pages = [
    { page: 1, figures: readFigures(bench, "page 1, slowest of 8 orders", goals) },
    { page: lastPage >> 1, figures: readFigures(bench, "middle page, slowest of 8 orders", goals) },
    { page: lastPage, figures: readFigures(bench, "last page, slowest of 8 orders", goals) },
  ];
  const searches = [
    { word: MARKERS.one, hits: 1, figures: readFigures(bench, "name search, 1 hit", { reach: 20 }) },
    { word: MARKERS.thousand, hits: 1000, figures: readFigures(bench, "name search, 1,000 hits", { reach: 20 }) },
  ];
  const half = count / 2;
  const dense = bench.figure({
    task: `name search, ${half.toLocaleString("en")} hits, uncached`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 20 }],
  });
  const during = bench.figure({
    task: "file info during that search, p99",
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 20 }],
  });
  const figures = [...pages, ...searches].flatMap((entry) => [entry.figures.p50, entry.figures.p99]);
  const responses = new Map<string, RecordedResponse>();
  await measureLarder(bench, {
    figures: [...figures, dense, during],
    seed: async (subject) => {
      const seeded = await seedLarder(bench, count, subject);
      responses.set(subject, seeded.response);
      return seeded;
    },
    prepare: async (larder) => responses.get(larder.subject),
    measure: async (larder, round, response) => {
      for (const entry of pages) await measurePage(bench, larder, entry.page, round, entry.figures);
      for (const { word, hits, figures: each } of searches) {
        const found = await load(larder, { connections: 1, count: 200, templates: [searchTemplate(larder, word)] });
        checkTotal(found.responses[0], hits);
        record(each.p50, larder.subject, found.p50Ms, cpuOf(found));
        record(each.p99, larder.subject, found.p99Ms, cpuOf(found));
      }
      if (response !== undefined) await measureDense(larder, half, response, dense, during);
    },
  });
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
  record(figures.p50, larder.subject, slowest.p50Ms, cpuOf(slowest));
  record(figures.p99, larder.subject, slowest.p99Ms, cpuOf(slowest));
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
    record(dense, larder.subject, found.maxMs);
  }
  record(during, larder.subject, (await others).p99Ms);
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
