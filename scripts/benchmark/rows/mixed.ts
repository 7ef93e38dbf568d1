/**
 * The latency of small reads at a steady rate while the server does something large, and the longest turn of its event
 * loop. The clients of that load run at a lower priority, as real ones have their own processors.
 */
import { join } from "node:path";
import { type Bench, type Figure, measureLarder, record, type Row } from "../bench.ts";
import type { Larder } from "../larder.ts";
import { load } from "../load.ts";
import type { RequestTemplate } from "../job.ts";
import { getTemplate } from "../server.ts";
import { longestTurnMs, turnsEnvironment } from "../turns.ts";
import { BACKGROUND, type BackgroundName, type Busy, prepareBackground } from "./background.ts";
import { SEEDED_FOLDER, seedLarder } from "./seeded.ts";
import { makePhotos } from "./thumbnails.ts";

const ENTRIES = 100_000;
const PHOTOS = 6;
const DURATION_MS = 3500;
const READS_PER_SECOND = 150;
/** The reads begin when the server is already busy, and end before it is idle again. */
const MARGIN_MS = 400;
/** Each run of the scrub reads everything, as fast as it can. */
const FULL_SCRUB = { LARDER_SCRUB_RATE: "10GB", LARDER_SCRUB_WITHIN: "0s" };
const ALONE: BackgroundName[] = [
  "a 1 GiB upload",
  "a list of 100,000 entries",
  "a full scrub",
  "a restore of the account",
  "an archive",
  "thumbnails",
  "an import",
];

interface Case {
  names: BackgroundName[];
  p99: Figure;
  turn: Figure;
}

export const mixed: Row = {
  id: "mixed",
  title: "small reads while the server is busy",
  diskGib: ({ rounds }) => 4 + 4 * rounds,
  run: async (bench: Bench) => {
    const figure = (task: string, reach: number) =>
      bench.figure({ task, unit: "ms", better: "lower", targets: [{ against: "number", reach }] });
    const describe = (title: string, names: BackgroundName[], reach: number): Case => ({
      names,
      p99: figure(`small reads beside ${title}, p99`, reach),
      turn: figure(`longest event-loop turn beside ${title}`, 20),
    });
    const cases = [
      ...ALONE.map((name) => describe(name, [name], 25)),
      describe("all of these and sign-ins", [...ALONE, "sign-ins"], 100),
    ];
    const photos = await makePhotos(bench, PHOTOS);
    const turnsOf = (larder: { directory: string }) => join(larder.directory, "turns");
    await measureLarder(bench, {
      figures: cases.flatMap(({ p99, turn }) => [p99, turn]),
      seed: (subject) => seedLarder(bench, ENTRIES, subject),
      environment: (directory) => ({ ...turnsEnvironment(turnsOf({ directory })), ...FULL_SCRUB }),
      prepare: async (larder) => ({
        busy: await prepareBackground(bench, larder, photos),
        reads: await prepareReads(larder),
      }),
      measure: async (larder, _, { busy, reads }) => {
        for (const each of cases) {
          bench.log(`${larder.subject}: ${each.names.join(", ")}`);
          await measureCase(busy, reads, each, turnsOf(larder));
        }
      },
    });
  },
};

/** Uploads small files. @returns requests for the info and the content of each, and for a page of the list */
async function prepareReads(larder: Larder): Promise<RequestTemplate[]> {
  const upload = { folder: "small", name: "small-########.bin", body: { random: 10 << 10 }, rawAs: "form" } as const;
  const templates = [larder.uploadTemplate(upload)];
  const sent = await load(larder, { connections: 4, count: 200, templates, storeBodies: true });
  const page = getTemplate(`/api/files?folder=/${SEEDED_FOLDER}&limit=50`, larder.headers);
  return sent.responses.flatMap((response) => [
    ...[larder.infoTemplate(response) ?? []].flat(),
    larder.downloadTemplate(response, upload),
    page,
  ]);
}

async function measureCase(busy: Busy, reads: RequestTemplate[], each: Case, turnsFile: string): Promise<void> {
  const { larder } = busy;
  const tasks = each.names.map((name) => BACKGROUND[name](busy, DURATION_MS));
  const background = Promise.all(tasks);
  // A failure is reported below, after the reads.
  background.catch(() => undefined);
  await Bun.sleep(MARGIN_MS);
  const fromMs = Date.now();
  const steady = await load(larder, {
    connections: 16,
    durationMs: DURATION_MS - 2 * MARGIN_MS,
    ratePerSecond: READS_PER_SECOND,
    templates: reads,
  });
  const toMs = Date.now();
  await background;
  record(each.p99, larder.subject, steady.p99Ms);
  record(each.turn, larder.subject, longestTurnMs(turnsFile, fromMs, toMs));
}
