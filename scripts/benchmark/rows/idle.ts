/**
 * Resident memory of an idle server, and the size of the executable.
 */
import { statSync } from "node:fs";
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { residentMib } from "../measure.ts";

const SETTLE_MS = 3000;

export const idle: Row = {
  id: "idle",
  title: "idle memory, size of the executable",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const resident = bench.figure({
      task: "idle RSS",
      unit: "MiB",
      better: "lower",
      targets: [{ against: "number", reach: 80, aim: 60 }],
    });
    await compareFreshServers(bench, [resident], ["floor", "larder", "nginx"], async (server) => {
      await Bun.sleep(SETTLE_MS);
      record(resident, server.subject, residentMib(server.pid));
    });
    const size = bench.figure({
      task: "size of the executable",
      unit: "MB",
      better: "lower",
      targets: [{ against: "number", reach: 140 }],
    });
    record(size, "larder", statSync(bench.options.executable).size / 1e6);
  },
};
