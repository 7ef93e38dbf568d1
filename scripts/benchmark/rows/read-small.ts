/**
 * Small downloads and file info, 32 at a time.
 */
import { type Bench, contest, type Figure, record, type Row } from "../bench.ts";
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
    // The first floor knows no accounts; this one shows what is left to win where a token has to be checked.
    const signed = bench.figure({ task: "file info at 32, floor checks a token too", unit: "req/s", better: "higher" });
    const infosP99 = bench.figure({ task: "file info at 32, p99", unit: "ms", better: "lower" });
    const upload = {
      folder: "small",
      name: "small-########.bin",
      body: { random: SIZE_BYTES },
      rawAs: "content",
    } as const;
    await contest(
      bench,
      [downloads, downloadsP99, infos, signed, infosP99],
      ["floor", "larder", "nginx"],
      async (server) => {
        const templates = [server.uploadTemplate(upload)];
        const sent = await load(server, { connections: 8, count: FILES, templates, keepBodies: true });
        return sent.answers;
      },
      async (server, _, answers) => {
        const durationMs = bench.options.quick ? 1500 : 3000;
        const read = await load(server, {
          connections: 32,
          durationMs,
          templates: answers.map((answer) => server.downloadTemplate(answer, upload)),
        });
        const readUs = (read.cpuSeconds / read.requests) * 1e6;
        record(downloads, server.subject, read.perSecond, { value: readUs, unit: "µs" });
        record(downloadsP99, server.subject, read.p99Ms);
        const askFor = async (templates: RequestTemplate[], figure: Figure) => {
          const asked = await load(server, { connections: 32, durationMs, templates });
          const askedUs = (asked.cpuSeconds / asked.requests) * 1e6;
          record(figure, server.subject, asked.perSecond, { value: askedUs, unit: "µs" });
          return asked;
        };
        const unsigned = answers.flatMap((answer) => server.infoTemplate(answer) ?? []);
        if (unsigned.length === 0) return;
        record(infosP99, server.subject, (await askFor(unsigned, infos)).p99Ms);
        await askFor(
          answers.flatMap((answer) => server.signedInfoTemplate(answer) ?? []),
          signed,
        );
      },
    );
  },
};
