/**
 * Many small uploads, each durable when acknowledged: over 16 connections, and one after the other.
 */
import { type Bench, compareServers, record, type Row } from "../bench.ts";
import { load, syncFileSystem } from "../load.ts";

const SIZE_BYTES = 10 << 10;
const DURATION_MS = 2000;
/** Uploads one after the other. */
const SINGLE_MS = 1000;

export const uploadSmall: Row = {
  id: "small-upload",
  title: "10 KiB uploads",
  diskGib: () => 3,
  run: async (bench: Bench) => {
    const rate = bench.figure({
      task: "10 KiB uploads at 16",
      unit: "files/s",
      better: "higher",
      targets: [{ against: "floor", reach: 1.1, aim: 1.4 }],
    });
    const cpu = bench.figure({
      task: "10 KiB uploads at 16, server CPU",
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 0.36, aim: 0.28 }],
    });
    const p50 = bench.figure({ task: "10 KiB uploads at 16, p50", unit: "ms", better: "lower" });
    const p99 = bench.figure({
      task: "10 KiB uploads at 16, p99",
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 14 }],
    });
    const synced = bench.figure({ task: "10 KiB uploads at 16, to the disk", unit: "files/s", better: "higher" });
    const single = bench.figure({ task: "10 KiB uploads one by one", unit: "files/s", better: "higher" });
    const upload = { name: "small-########.bin", body: { random: SIZE_BYTES }, rawAs: "form" } as const;
    await compareServers(bench, {
      figures: [rate, cpu, p50, p99, synced, single],
      baselines: ["floor", "nginx"],
      prepare: async (server) => {
        const templates = [server.uploadTemplate({ ...upload, folder: "warm" })];
        await load(server, { connections: 16, durationMs: 1500, templates });
      },
      measure: async (server, round) => {
        const { subject } = server;
        const send = (folder: string, connections: number, durationMs: number) =>
          load(server, { connections, durationMs, templates: [server.uploadTemplate({ ...upload, folder })] });
        await syncFileSystem(server.directory);
        const many = await send(`many${round}`, 16, DURATION_MS);
        const syncMs = await syncFileSystem(server.directory);
        const cpuMs = (many.cpuSeconds / many.requests) * 1000;
        record(rate, subject, many.perSecond);
        record(cpu, subject, cpuMs);
        record(p50, subject, many.p50Ms);
        record(p99, subject, many.p99Ms);
        record(synced, subject, (many.requests / (many.elapsedMs + syncMs)) * 1000);
        const alone = await send(`single${round}`, 1, SINGLE_MS);
        const aloneMs = (alone.cpuSeconds / alone.requests) * 1000;
        record(single, subject, alone.perSecond, { value: aloneMs, unit: "ms" });
      },
    });
  },
};
