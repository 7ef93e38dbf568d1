/**
 * The status of a sync without changes and with 500 changes, on accounts of different sizes. Its cost must not depend
 * on the size, and without changes it must be about as low as that of reading the session.
 */
import { type Bench, measureLarder, record, type Row } from "../bench.ts";
import { call, type Device, registerDevice, textAt } from "../device.ts";
import type { Larder } from "../larder.ts";
import { load } from "../load.ts";
import { getTemplate } from "../server.ts";
import { seedLarder } from "./seeded.ts";

const CHANGES = 500;

export const sync: Row = {
  id: "sync",
  title: "changes since the last sync, with 100,000 files",
  diskGib: () => 2,
  run: (bench: Bench) => measureSize(bench, 100_000),
};

export const syncMillion: Row = {
  id: "sync-million",
  title: "changes since the last sync, with 1,000,000 files",
  diskGib: () => 4,
  run: (bench: Bench) => measureSize(bench, 1_000_000),
};

async function measureSize(bench: Bench, count: number): Promise<void> {
  const size = `${count.toLocaleString("en")} files`;
  const session = bench.figure({ task: `GET session, ${size}, p99`, unit: "ms", better: "lower" });
  const nothing = bench.figure({ task: `sync/status, nothing new, ${size}, p99`, unit: "ms", better: "lower" });
  const ratio = bench.figure({
    task: `sync/status, nothing new, ${size}: p99 as a multiple of GET session`,
    unit: "×",
    better: "lower",
    targets: [{ against: "number", reach: 2 }],
  });
  const changed = bench.figure({
    task: `sync/status, ${CHANGES} changes, ${size}, p99`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 15 }],
  });
  await measureLarder(bench, {
    figures: [session, nothing, ratio, changed],
    warmUp: true,
    seed: (subject) => seedLarder(bench, count, subject),
    prepare: async (larder) => {
      const device = await registerDevice(larder, "bench-phone");
      const before = await syncToken(larder, device);
      const upload = { folder: "changes", name: "change-########.txt", body: { random: 100 }, rawAs: "form" } as const;
      await load(larder, { connections: 8, count: CHANGES, templates: [larder.uploadTemplate(upload)] });
      return { device, before, after: await syncToken(larder, device) };
    },
    measure: async (larder, _, { device, before, after }) => {
      const read = (path: string, requests: number) =>
        load(larder, { connections: 1, count: requests, templates: [getTemplate(path, device.headers)] });
      const sessionRead = await read("/api/auth/session", 2_000);
      const status = await read(`/api/mobile/sync/status?syncToken=${after}`, 2_000);
      record(session, larder.subject, sessionRead.p99Ms);
      record(nothing, larder.subject, status.p99Ms);
      record(ratio, larder.subject, status.p99Ms / sessionRead.p99Ms);
      const many = await read(`/api/mobile/sync/status?syncToken=${before}&limit=${CHANGES}`, 200);
      record(changed, larder.subject, many.p99Ms);
    },
  });
}

/** A sync token that includes all changes so far. */
async function syncToken(larder: Larder, device: Device): Promise<string> {
  const now = new Date(Date.now() + 60_000).toISOString();
  return textAt(await call(larder, `/api/mobile/sync/status?lastSync=${now}`, device), "data", "nextSyncToken");
}
