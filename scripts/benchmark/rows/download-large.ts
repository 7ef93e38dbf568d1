/**
 * A large file, downloaded whole and in ranges of 64 KiB as by a video player.
 */
import { type Bench, compareServers, record, type Row } from "../bench.ts";
import { load } from "../load.ts";

const MB = 1e6;
const GIB = 2 ** 30;
const RANGE_BYTES = 64 << 10;
const RANGES = 1024;

export const downloadLarge: Row = {
  id: "download",
  title: "1 GiB download, 64 KiB ranges",
  diskGib: ({ quick }) => (quick ? 2 : 4),
  run: async (bench: Bench) => {
    const sizeBytes = bench.options.quick ? GIB / 4 : GIB;
    const whole = bench.figure({
      task: `${bench.options.quick ? "256 MiB" : "1 GiB"} download`,
      unit: "MB/s",
      better: "higher",
      targets: [{ against: "floor", reach: 1 }],
    });
    const ranges = bench.figure({
      task: "64 KiB ranges at 16",
      unit: "req/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.9, aim: 1 }],
    });
    const upload = {
      folder: "large",
      name: "large-########.bin",
      body: { random: sizeBytes },
      rawAs: "content",
    } as const;
    await compareServers(bench, {
      figures: [whole, ranges],
      baselines: ["floor", "nginx"],
      prepare: async (server) => {
        const sent = await load(server, { connections: 1, count: 1, templates: [server.uploadTemplate(upload)] });
        const response = sent.responses[0];
        if (response === undefined) throw new Error("the upload had no response");
        // The first download puts the file into the page cache for all servers.
        await load(server, { connections: 1, count: 1, templates: [server.downloadTemplate(response, upload)] });
        return response;
      },
      measure: async (server, _, response) => {
        const count = 3;
        const read = await load(server, {
          connections: 1,
          count,
          templates: [server.downloadTemplate(response, upload)],
        });
        record(whole, server.subject, (sizeBytes * count) / MB / (read.elapsedMs / 1000), {
          value: read.cpuSeconds / ((sizeBytes * count) / GIB),
          unit: "s/GiB",
        });
        const templates = Array.from({ length: RANGES }, () => {
          const start = Math.floor(Math.random() * (sizeBytes - RANGE_BYTES));
          return server.downloadTemplate(response, upload, `Range: bytes=${start}-${start + RANGE_BYTES - 1}\r\n`);
        });
        const rangeReads = await load(server, { connections: 16, durationMs: 2000, templates });
        if (rangeReads.statuses["206"] !== rangeReads.requests) throw new Error("not all ranges had status 206");
        const cpuUs = (rangeReads.cpuSeconds / rangeReads.requests) * 1e6;
        record(ranges, server.subject, rangeReads.perSecond, { value: cpuUs, unit: "µs" });
      },
    });
  },
};
