/**
 * 2,000 operations of an offline queue in four requests, each deleting a file, and the latency of other requests.
 */
import { type Bench, compareFreshServers, record, type Row } from "../bench.ts";
import { at, call, registerDevice } from "../device.ts";
import { fileId, isLarder } from "../larder.ts";
import { load } from "../load.ts";
import { getTemplate } from "../server.ts";

const CALLS = 4;
/** How long the other requests last. They begin with the operations. */
const OTHERS_MS = 3000;

export const queue: Row = {
  id: "queue",
  title: "an offline queue of 2,000 operations",
  diskGib: () => 1,
  run: async (bench: Bench) => {
    const perCall = bench.options.quick ? 100 : 500;
    const total = CALLS * perCall;
    const name = `${total.toLocaleString("en")} queue operations`;
    const accepted = bench.figure({ task: `${name} accepted`, unit: "op/s", better: "higher" });
    const carriedOut = bench.figure({ task: `${name} carried out`, unit: "op/s", better: "higher" });
    const p50 = bench.figure({ task: `other requests during ${name}, p50`, unit: "ms", better: "lower" });
    const p99 = bench.figure({
      task: `other requests during ${name}, p99`,
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: 50 }],
    });
    await compareFreshServers(bench, [accepted, carriedOut, p50, p99], [], async (server) => {
      if (!isLarder(server)) return;
      const device = await registerDevice(server, "bench-phone");
      const upload = { folder: "queue", name: "file-########.txt", body: { random: 100 }, rawAs: "form" } as const;
      const templates = [server.uploadTemplate(upload)];
      const sent = await load(server, { connections: 16, count: total + 1, templates, storeBodies: true });
      const [first, ...ids] = sent.responses.map((response) => fileId(response.body));
      const info = getTemplate(`/api/files/${first}`, server.headers);
      const others = load(server, { connections: 8, durationMs: OTHERS_MS, ratePerSecond: 200, templates: [info] });
      const startedAt = performance.now();
      for (let number = 0; number < CALLS; number += 1) {
        const operations = ids.slice(number * perCall, (number + 1) * perCall).map((fileIdOf) => ({
          id: `op-${fileIdOf}`,
          type: "delete",
          priority: "normal",
          createdAt: new Date().toISOString(),
          fileId: fileIdOf,
        }));
        await call(server, "/api/mobile/queue/add", device, { operations });
      }
      const acceptedMs = performance.now() - startedAt;
      for (;;) {
        const waiting = await call(server, "/api/mobile/queue?status=queued&limit=1", device);
        if (at(waiting, "data", "pagination", "total") === 0) break;
        await Bun.sleep(10);
      }
      const doneMs = performance.now() - startedAt;
      record(accepted, server.subject, total / (acceptedMs / 1000));
      record(carriedOut, server.subject, total / (doneMs / 1000));
      const otherRequests = await others;
      record(p50, server.subject, otherRequests.p50Ms);
      record(p99, server.subject, otherRequests.p99Ms);
    });
  },
};
