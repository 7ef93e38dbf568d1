/**
 * A large file read whole, and read in pieces of 64 KiB as a video player does.
 */
import { type Bench, contest, record, type Row } from "../bench.ts";
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
      targets: [
        { against: "floor", reach: 0.95 },
        { against: "nginx", aim: 1 },
      ],
    });
    const ranges = bench.figure({
      task: "64 KiB ranges at 16",
      unit: "req/s",
      better: "higher",
      targets: [
        { against: "floor", reach: 0.85 },
        { against: "nginx", aim: 1 },
      ],
    });
    const upload = {
      folder: "large",
      name: "large-########.bin",
      body: { random: sizeBytes },
      rawAs: "content",
    } as const;
    await contest(
      bench,
      [whole, ranges],
      ["floor", "larder", "nginx"],
      async (server) => {
        const sent = await load(server, { connections: 1, count: 1, templates: [server.uploadTemplate(upload)] });
        const answer = sent.answers[0];
        if (answer === undefined) throw new Error("the upload had no answer");
        // A first read, so that the page cache holds it for everyone.
        await load(server, { connections: 1, count: 1, templates: [server.downloadTemplate(answer, upload)] });
        return answer;
      },
      async (server, _, answer) => {
        const count = 3;
        const read = await load(server, {
          connections: 1,
          count,
          templates: [server.downloadTemplate(answer, upload)],
        });
        record(whole, server.subject, (sizeBytes * count) / MB / (read.elapsedMs / 1000), {
          value: read.cpuSeconds / ((sizeBytes * count) / GIB),
          unit: "s/GiB",
        });
        const templates = Array.from({ length: RANGES }, () => {
          const start = Math.floor(Math.random() * (sizeBytes - RANGE_BYTES));
          return server.downloadTemplate(answer, upload, `Range: bytes=${start}-${start + RANGE_BYTES - 1}\r\n`);
        });
        const pieces = await load(server, { connections: 16, durationMs: 2000, templates });
        if (pieces.statuses["206"] !== pieces.requests) throw new Error(`not all ranges were answered 206`);
        const cpuUs = (pieces.cpuSeconds / pieces.requests) * 1e6;
        record(ranges, server.subject, pieces.perSecond, { value: cpuUs, unit: "µs" });
      },
    );
  },
};
