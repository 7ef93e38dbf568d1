/**
 * Peak memory above idle during large uploads. It must not grow with the file size.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";

const MIB = 1 << 20;

interface Case {
  task: string;
  connections: number;
  sizeBytes: number;
  targetMib: number;
}

function cases(bench: Bench): Case[] {
  const { quick, full } = bench.options;
  const list: Case[] = [
    quick
      ? { task: "peak RSS over idle, one 256 MiB upload", connections: 1, sizeBytes: 256 * MIB, targetMib: 48 }
      : { task: "peak RSS over idle, one 1 GiB upload", connections: 1, sizeBytes: 1024 * MIB, targetMib: 48 },
    quick
      ? { task: "peak RSS over idle, eight of 64 MiB at once", connections: 8, sizeBytes: 64 * MIB, targetMib: 96 }
      : { task: "peak RSS over idle, eight of 300 MiB at once", connections: 8, sizeBytes: 300 * MIB, targetMib: 96 },
  ];
  if (full) {
    list.push({
      task: "peak RSS over idle, one 10 GiB upload",
      connections: 1,
      sizeBytes: 10_240 * MIB,
      targetMib: 48,
    });
  }
  return list;
}

export const memory: Row = {
  id: "memory",
  title: "peak memory of large uploads",
  diskGib: ({ quick, full }) => (full ? 12 : quick ? 1 : 4),
  run: async (bench: Bench) => {
    for (const { task, connections, sizeBytes, targetMib } of cases(bench)) {
      const target = { against: "number", reach: targetMib, aim: targetMib } as const;
      const figure = bench.figure({ task, unit: "MiB", better: "lower", targets: [target] });
      await compareFreshServers(bench, [figure], ["floor", "larder", "nginx"], async (server, round) => {
        await Bun.sleep(1000);
        const idleMib = residentMib(server.pid);
        resetPeakResident(server.pid);
        const template = server.uploadTemplate({
          folder: `r${round}`,
          name: "large-########.bin",
          body: { random: sizeBytes },
          rawAs: "form",
        });
        await load(server, { connections, count: connections, templates: [template] });
        record(figure, server.subject, Math.max(0, peakResidentMib(server.pid) - idleMib));
      });
    }
  },
};
