/**
 * Folders as archives: ten large files as one ZIP compared with ten downloads, and the time to the first byte and the
 * peak memory for a folder with many small files.
 */
import { type Bench, measureLarder, record, type Row } from "../bench.ts";
import { at, call, registerDevice, textAt } from "../device.ts";
import { fileId, type Larder } from "../larder.ts";
import { load } from "../load.ts";
import { peakResidentMib, resetPeakResident, residentMib } from "../measure.ts";

const MB = 1e6;
const MIB = 1 << 20;
const LARGE_FILES = 10;
/** Files in the folder that is copied many times. */
const SEED_FILES = 1_000;

export const archive: Row = {
  id: "archive",
  title: "folders as archives",
  diskGib: ({ quick }) => (quick ? 1 : 3),
  run: async (bench: Bench) => {
    await measureLarge(bench);
    await measureMany(bench);
  },
};

async function measureLarge(bench: Bench): Promise<void> {
  const sizeBytes = (bench.options.quick ? 25 : 100) * MIB;
  const what = `${LARGE_FILES} x ${sizeBytes / MIB} MiB`;
  const whole = bench.figure({ task: `${what} as an archive`, unit: "MB/s", better: "higher" });
  const single = bench.figure({ task: `${what} one by one`, unit: "MB/s", better: "higher" });
  const peak = bench.figure({
    task: `peak RSS over idle, ${what} as an archive`,
    unit: "MiB",
    better: "lower",
    targets: [{ against: "number", reach: 96 }],
  });
  const upload = {
    folder: "large",
    name: "large-########.bin",
    body: { random: sizeBytes },
    rawAs: "content",
  } as const;
  await measureLarder(bench, {
    figures: [whole, single, peak],
    warmUp: true,
    prepare: async (larder) => {
      const { token } = await registerDevice(larder, "bench-archive");
      const templates = [larder.uploadTemplate(upload)];
      const sent = await load(larder, { connections: 1, count: LARGE_FILES, templates, storeBodies: true });
      const files = sent.responses.map(({ body }) => `/api/files/${fileId(body)}/download`);
      return { token, files, path: `/api/files/folders/${await folderId(larder, "/", "large", token)}/archive` };
    },
    measure: async (larder, _, { token, files, path }) => {
      const idleMib = residentMib(larder.pid);
      resetPeakResident(larder.pid);
      const read = await readAll(larder, [path], token);
      record(whole, larder.subject, read.bytes / MB / (read.ms / 1000));
      record(peak, larder.subject, Math.max(0, peakResidentMib(larder.pid) - idleMib));
      const each = await readAll(larder, files, token);
      record(single, larder.subject, each.bytes / MB / (each.ms / 1000));
    },
  });
}

async function measureMany(bench: Bench): Promise<void> {
  const copies = bench.options.quick ? 10 : 50;
  const what = `${(copies * SEED_FILES).toLocaleString("en-GB")} files as an archive`;
  const first = bench.figure({
    task: `first byte of ${what}`,
    unit: "ms",
    better: "lower",
    targets: [{ against: "number", reach: 1_000 }],
  });
  const peak = bench.figure({ task: `peak RSS over idle, ${what}`, unit: "MiB", better: "lower" });
  const seed = { folder: "seed", name: "small-########.bin", body: { random: 200 }, rawAs: "content" } as const;
  await measureLarder(bench, {
    figures: [first, peak],
    warmUp: true,
    prepare: async (larder) => {
      await load(larder, { connections: 16, count: SEED_FILES, templates: [larder.uploadTemplate(seed)] });
      const device = await registerDevice(larder, "bench-archive");
      const seedId = await folderId(larder, "/", "seed", device.token);
      const many = textAt(await call(larder, "/api/files/folders", device, { name: "many" }), "data", "id");
      for (let copy = 0; copy < copies; copy += 1) {
        await call(larder, "/api/files/copy", device, { fileIds: [seedId], destinationFolder: "/many" });
      }
      return { device, path: `/api/files/folders/${many}/archive` };
    },
    measure: async (larder, round, { device, path }) => {
      // A change in the account makes the cached plan of the archive invalid.
      await call(larder, "/api/files/folders", device, { name: `changed ${round}` });
      const idleMib = residentMib(larder.pid);
      resetPeakResident(larder.pid);
      const read = await readAll(larder, [path], device.token);
      record(first, larder.subject, read.firstMs);
      record(peak, larder.subject, Math.max(0, peakResidentMib(larder.pid) - idleMib));
    },
  });
}

/** Downloads these paths one after the other, and discards the bytes. */
async function readAll(larder: Larder, paths: readonly string[], token: string) {
  const startedMs = performance.now();
  let bytes = 0;
  let firstMs = 0;
  for (const path of paths) {
    const response = await fetch(`http://127.0.0.1:${larder.port}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!response.ok || response.body === null) throw new Error(`${path} responded with ${response.status}`);
    for await (const bytesRead of response.body) {
      if (bytes === 0) firstMs = performance.now() - startedMs;
      bytes += bytesRead.length;
    }
  }
  return { bytes, firstMs, ms: performance.now() - startedMs };
}

async function folderId(larder: Larder, folder: string, name: string, token: string): Promise<string> {
  const response = await call(larder, `/api/files?folder=${folder}&type=folder&search=${name}&recursive=false`, {
    token,
    headers: "",
  });
  return textAt(at(response, "data", "files", 0), "id");
}
