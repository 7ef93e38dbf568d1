/**
 * One large upload: the rates until it is acknowledged and until it is synced, its CPU time, and its peak memory, which
 * must not grow with the size.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { load, syncFileSystem } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";

const MB = 1e6;
const GIB = 2 ** 30;

export const uploadLarge: Row = {
  id: "upload",
  title: "1 GiB multipart upload",
  diskGib: ({ quick }) => (quick ? 2 : 3),
  run: async (bench: Bench) => {
    const sizeBytes = bench.options.quick ? GIB / 4 : GIB;
    const name = `${bench.options.quick ? "256 MiB" : "1 GiB"} multipart upload`;
    const acknowledged = bench.figure({
      task: `${name}, acknowledged`,
      unit: "MB/s",
      better: "higher",
      targets: [{ against: "floor", reach: 0.8, aim: 0.95 }],
    });
    const synced = bench.figure({ task: `${name}, to the disk`, unit: "MB/s", better: "higher" });
    const cpu = bench.figure({
      task: `${name}, server CPU`,
      unit: "s/GiB",
      better: "lower",
      targets: [{ against: "floor", reach: 1.25 }],
    });
    const peak = bench.figure({
      task: `peak RSS over idle, ${name}`,
      unit: "MiB",
      better: "lower",
      targets: [{ against: "number", reach: 48 }],
    });
    // The warm-up also fills the page cache once, as a virtual machine gets its memory only on first use.
    await compareFreshServers(
      bench,
      [acknowledged, synced, cpu, peak],
      ["floor", "nginx"],
      async (server, round) => {
        const upload = { folder: `r${round}`, name: "large-########.bin", rawAs: "form" } as const;
        // Small uploads first, so that the figure includes neither compilation nor the creation of folders.
        await load(server, {
          connections: 1,
          count: 20,
          templates: [server.uploadTemplate({ ...upload, folder: "warm", body: { random: 256 << 10 } })],
        });
        await syncFileSystem(server.directory);
        const idleMib = residentMib(server.pid);
        resetPeakResident(server.pid);
        const done = await load(server, {
          connections: 1,
          count: 1,
          templates: [server.uploadTemplate({ ...upload, body: { random: sizeBytes } })],
        });
        const syncMs = await syncFileSystem(server.directory);
        const cost = done.cpuSeconds / (sizeBytes / GIB);
        record(acknowledged, server.subject, sizeBytes / MB / (done.elapsedMs / 1000), { value: cost, unit: "s/GiB" });
        record(synced, server.subject, sizeBytes / MB / ((done.elapsedMs + syncMs) / 1000));
        record(cpu, server.subject, cost);
        record(peak, server.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
      },
      true,
    );
  },
};
