/**
 * Small downloads, file info and profiles over 32 connections. The floor checks a token for file info and profiles.
 */
import { type Bench, compareServers, type Figure, record, type Row } from "../bench.ts";
import type { RequestTemplate } from "../job.ts";
import { load } from "../load.ts";
import type { Server } from "../server.ts";

const SIZE_BYTES = 10 << 10;
const FILES = 500;
const DURATION_MS = 1500;
const WARM_UP_MS = 500;

export const readSmall: Row = {
  id: "small-read",
  title: "10 KiB downloads, file info, profiles",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const rate = (task: string, reach: number) =>
      bench.figure({ task, unit: "req/s", better: "higher", targets: [{ against: "floor", reach }] });
    const slowest = (task: string) => bench.figure({ task: `${task}, p99`, unit: "ms", better: "lower" });
    const downloads = rate("10 KiB downloads at 32", 0.95);
    const downloadsP99 = slowest("10 KiB downloads at 32");
    const infos = rate("file info at 32", 0.75);
    const infosP99 = slowest("file info at 32");
    const profiles = rate("profile at 32", 0.75);
    const upload = {
      folder: "small",
      name: "small-########.bin",
      body: { random: SIZE_BYTES },
      rawAs: "content",
    } as const;
    const read = async (server: Server, templates: RequestTemplate[], figure: Figure, p99?: Figure) => {
      if (templates.length === 0) return;
      const loaded = await load(server, { connections: 32, durationMs: DURATION_MS, templates });
      const cpuUs = (loaded.cpuSeconds / loaded.requests) * 1e6;
      record(figure, server.subject, loaded.perSecond, { value: cpuUs, unit: "µs" });
      if (p99 !== undefined) record(p99, server.subject, loaded.p99Ms);
    };
    await compareServers(bench, {
      figures: [downloads, downloadsP99, infos, infosP99, profiles],
      baselines: ["floor", "nginx"],
      prepare: async (server) => {
        const templates = [server.uploadTemplate(upload)];
        const { responses } = await load(server, { connections: 8, count: FILES, templates, storeBodies: true });
        const warmUp = responses.flatMap((response) => [
          server.downloadTemplate(response, upload),
          ...[server.signedInfoTemplate(response) ?? []].flat(),
        ]);
        await load(server, { connections: 32, durationMs: WARM_UP_MS, templates: warmUp });
        return responses;
      },
      measure: async (server, _, responses) => {
        const contents = responses.map((response) => server.downloadTemplate(response, upload));
        await read(server, contents, downloads, downloadsP99);
        const signed = responses.flatMap((response) => server.signedInfoTemplate(response) ?? []);
        await read(server, signed, infos, infosP99);
        const profile = server.profileTemplate();
        await read(server, profile === undefined ? [] : [profile], profiles);
      },
    });
  },
};
