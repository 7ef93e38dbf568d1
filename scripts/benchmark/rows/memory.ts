/**
 * Memory under load: the peak during uploads, which must not grow with their size, and the memory after many requests.
 */
import { type Bench, compareFreshServers, measureLarder, record, type Row } from "../bench.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";
import { getTemplate } from "../server.ts";

const MIB = 1 << 20;
const FIRST_REQUESTS = 100_000;
/** The maximum of the load generator. */
const REQUESTS_PER_LOAD = 1_000_000;
const SETTLE_MS = 15_000;

interface Uploads {
  task: string;
  connections: number;
  sizeBytes: number;
  targetMib: number;
}

async function measureUploads(bench: Bench, { task, connections, sizeBytes, targetMib }: Uploads): Promise<void> {
  const targets = [{ against: "number", reach: targetMib } as const];
  const figure = bench.figure({ task: `peak RSS over idle, ${task}`, unit: "MiB", better: "lower", targets });
  await compareFreshServers(bench, [figure], ["floor"], async (server, round) => {
    await Bun.sleep(1000);
    const idleMib = residentMib(server.pid);
    resetPeakResident(server.pid);
    const upload = { folder: `r${round}`, name: "large-########.bin", rawAs: "form" } as const;
    const templates = [server.uploadTemplate({ ...upload, body: { random: sizeBytes } })];
    await load(server, { connections, count: connections, templates });
    record(figure, server.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
  });
}

export const memory: Row = {
  id: "memory",
  title: "peak memory of eight uploads at once",
  diskGib: () => 2,
  run: (bench: Bench) =>
    measureUploads(bench, { task: "eight of 128 MiB at once", connections: 8, sizeBytes: 128 * MIB, targetMib: 96 }),
};

export const memoryHuge: Row = {
  id: "memory-huge",
  title: "peak memory of a 10 GiB upload",
  diskGib: () => 12,
  run: (bench: Bench) =>
    measureUploads(bench, { task: "one 10 GiB upload", connections: 1, sizeBytes: 10_240 * MIB, targetMib: 48 }),
};

/**
 * A quarter each of the requests: file info, a page of a list, a 10 KiB download, a profile. The first 100,000 fill all
 * caches; what comes on top of them afterward is growth.
 */
export const memoryRequests: Row = {
  id: "memory-requests",
  title: "memory after 8,000,000 requests",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const total = bench.options.quick ? 500_000 : 8_000_000;
    const resident = (requests: number) =>
      bench.figure({
        task: `RSS at rest after ${requests.toLocaleString("en")} requests`,
        unit: "MiB",
        better: "lower",
      });
    const early = resident(FIRST_REQUESTS);
    const late = resident(total);
    late.targets = [{ against: "number", reach: 160 }];
    const growth = bench.figure({
      task: "the same, as a multiple of the value before",
      unit: "×",
      better: "lower",
      targets: [{ against: "number", reach: 1.15 }],
    });
    await measureLarder(bench, {
      // The figure needs the memory of a new process, and millions of requests take minutes.
      rounds: 1,
      figures: [early, late, growth],
      prepare: async (larder) => {
        const upload = { folder: "small", name: "########.bin", body: { random: 10 << 10 }, rawAs: "content" } as const;
        const sent = await load(larder, {
          connections: 8,
          count: 500,
          templates: [larder.uploadTemplate(upload)],
          storeBodies: true,
        });
        const others = [
          getTemplate("/api/files?folder=/small&limit=20", larder.headers),
          getTemplate("/api/users/profile", larder.headers),
        ];
        return sent.responses
          .flatMap((response) => [
            larder.infoTemplate(response) ?? [],
            larder.downloadTemplate(response, upload),
            others,
          ])
          .flat();
      },
      measure: async (larder, _, templates) => {
        const measureAfter = async (requests: number) => {
          for (let sent = 0; sent < requests; sent += REQUESTS_PER_LOAD) {
            const count = Math.min(REQUESTS_PER_LOAD, requests - sent);
            await load(larder, { connections: 16, count, templates });
            bench.log(`${larder.subject}: ${Math.round(residentMib(larder.pid))} MiB after ${sent + count} requests`);
          }
          await Bun.sleep(SETTLE_MS);
          return residentMib(larder.pid);
        };
        const earlyMib = await measureAfter(FIRST_REQUESTS);
        const lateMib = await measureAfter(total - FIRST_REQUESTS);
        record(early, larder.subject, earlyMib);
        record(late, larder.subject, lateMib);
        record(growth, larder.subject, lateMib / earlyMib);
      },
    });
  },
};
