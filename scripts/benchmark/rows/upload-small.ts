/**
 * Many small uploads, each durable when acknowledged: over 16 connections, and 1,000 one after the other.
 */
import { type Bench, compareServers, record, type Row } from "../bench.ts";
import { load, syncFileSystem } from "../load.ts";

const SIZE_BYTES = 10 << 10;

export const uploadSmall: Row = {
  id: "small-upload",
  title: "10 KiB uploads",
  diskGib: () => 3,
  run: async (bench: Bench) => {
    const rate = bench.figure({
      task: "10 KiB uploads at 16, acknowledged",
      unit: "files/s",
      better: "higher",
      targets: [
        { against: "floor", reach: 1.2, aim: 1.7 },
        { against: "nginx", aim: 0.5 },
      ],
    });
    const synced = bench.figure({ task: "10 KiB uploads at 16, to the disk", unit: "files/s", better: "higher" });
    const p50 = bench.figure({ task: "10 KiB uploads at 16, p50", unit: "ms", better: "lower" });
    const p99 = bench.figure({
      task: "10 KiB uploads at 16, p99",
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 20 }],
    });
    const parallel = bench.figure({ task: "1,000 × 10 KiB, 16 at a time", unit: "s", better: "lower" });
    const single = bench.figure({ task: "1,000 × 10 KiB, one by one", unit: "s", better: "lower" });
    const figures = [rate, synced, p50, p99, parallel, single];
    const upload = { name: "small-########.bin", body: { random: SIZE_BYTES }, rawAs: "form" } as const;
    await compareServers(
      bench,
      figures,
      ["floor", "larder", "nginx"],
      async (server) => {
        const templates = [server.uploadTemplate({ ...upload, folder: "warm" })];
        await load(server, { connections: 16, durationMs: 1000, templates });
      },
      async (server, round) => {
        const durationMs = bench.options.quick ? 1500 : 3000;
        await syncFileSystem(server.directory);
        const many = await load(server, {
          connections: 16,
          durationMs,
          templates: [server.uploadTemplate({ ...upload, folder: `many${round}` })],
        });
        const syncMs = await syncFileSystem(server.directory);
        const cpuMs = (many.cpuSeconds / many.requests) * 1000;
        record(rate, server.subject, many.perSecond, { value: cpuMs, unit: "ms" });
        record(synced, server.subject, (many.requests / (many.elapsedMs + syncMs)) * 1000);
        record(p50, server.subject, many.p50Ms);
        record(p99, server.subject, many.p99Ms);
        for (const [figure, connections] of [
          [parallel, 16],
          [single, 1],
        ] as const) {
          const templates = [server.uploadTemplate({ ...upload, folder: `thousand${connections}-${round}` })];
          const thousand = await load(server, { connections, count: 1000, templates });
          record(figure, server.subject, thousand.elapsedMs / 1000, { value: thousand.cpuSeconds, unit: "ms" });
        }
      },
    );
  },
};
