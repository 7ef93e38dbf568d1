/**
 * Small downloads and file info over 32 connections.
 */
import { type Bench, compareServers, type Figure, record, type Row } from "../bench.ts";
import type { RequestTemplate } from "../job.ts";
import { load } from "../load.ts";

const SIZE_BYTES = 10 << 10;
const FILES = 500;

export const readSmall: Row = {
  id: "small-read",
  title: "10 KiB downloads, file info",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const downloads = bench.figure({
      task: "10 KiB downloads at 32",
      unit: "req/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.95, aim: 1.3 }],
    });
    const downloadsP99 = bench.figure({ task: "10 KiB downloads at 32, p99", unit: "ms", better: "lower" });
    const infos = bench.figure({
      task: "file info at 32",
      unit: "req/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.6, aim: 0.75 }],
    });
    // The plain floor checks no token. This one does, and shows how fast Larder could be with its check.
    const signed = bench.figure({ task: "file info at 32, floor checks a token too", unit: "req/s", better: "higher" });
    const infosP99 = bench.figure({ task: "file info at 32, p99", unit: "ms", better: "lower" });
    const upload = {
      folder: "small",
      name: "small-########.bin",
      body: { random: SIZE_BYTES },
      rawAs: "content",
    } as const;
    await compareServers(
      bench,
      [downloads, downloadsP99, infos, signed, infosP99],
      ["floor", "larder", "nginx"],
      async (server) => {
        const templates = [server.uploadTemplate(upload)];
        const sent = await load(server, { connections: 8, count: FILES, templates, storeBodies: true });
        return sent.responses;
      },
      async (server, _, responses) => {
        const durationMs = bench.options.quick ? 1500 : 3000;
        const read = await load(server, {
          connections: 32,
          durationMs,
          templates: responses.map((response) => server.downloadTemplate(response, upload)),
        });
        const readUs = (read.cpuSeconds / read.requests) * 1e6;
        record(downloads, server.subject, read.perSecond, { value: readUs, unit: "µs" });
        record(downloadsP99, server.subject, read.p99Ms);
        const measureInfo = async (templates: RequestTemplate[], figure: Figure) => {
          const loaded = await load(server, { connections: 32, durationMs, templates });
          const cpuUs = (loaded.cpuSeconds / loaded.requests) * 1e6;
          record(figure, server.subject, loaded.perSecond, { value: cpuUs, unit: "µs" });
          return loaded;
        };
        const unsigned = responses.flatMap((response) => server.infoTemplate(response) ?? []);
        if (unsigned.length === 0) return;
        record(infosP99, server.subject, (await measureInfo(unsigned, infos)).p99Ms);
        await measureInfo(
          responses.flatMap((response) => server.signedInfoTemplate(response) ?? []),
          signed,
        );
      },
    );
  },
};
