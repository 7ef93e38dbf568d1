/**
 * Photos uploaded over four connections, until the medium thumbnail of each is served, compared with sharp alone.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { measureInTurns, type Bench, type Participant, record, type Row, stopAndRemove } from "../bench.ts";
import { fileId, type Larder } from "../larder.ts";
import { load } from "../load.ts";
import { cpuSeconds } from "../measure.ts";
import { run } from "../processes.ts";

const WAIT_MS_MAX = 120_000;

/** Creates photos in a new directory of the row, and returns their paths. */
export async function makePhotos(bench: Bench, count: number): Promise<string[]> {
  const directory = join(bench.directory("photos"), "photos");
  mkdirSync(directory);
  bench.log(`making ${count} photos`);
  await run([process.execPath, join(dirname(import.meta.dir), "images.ts"), directory, String(count)]);
  return Array.from({ length: count }, (_, index) => join(directory, `${index}.jpg`));
}

export const thumbnails: Row = {
  id: "thumbnails",
  title: "thumbnails of 12-megapixel JPEGs",
  diskGib: () => 2,
  run: async (bench: Bench) => {
    const count = bench.options.quick ? 12 : 24;
    const photos = await makePhotos(bench, count);
    const directory = dirname(photos[0] ?? "");
    const rate = bench.figure({
      task: "thumbnails of 12-megapixel JPEGs, upload included",
      unit: "per s",
      better: "higher",
      targets: [{ against: "sharp", reach: 0.9 }],
    });
    const measureSharp = async () => {
      const script = join(dirname(import.meta.dir), "raw-sharp.ts");
      const printed = await run([process.execPath, script, directory, String(count)]);
      const done: { elapsedMs: number; cpuSeconds: number } = JSON.parse(printed);
      const cpuMs = (done.cpuSeconds / count) * 1000;
      record(rate, "sharp", (count / done.elapsedMs) * 1000, { value: cpuMs, unit: "ms" });
    };
    const participants: Participant[] = [];
    if (bench.options.before === undefined) participants.push({ subject: "sharp", measure: measureSharp });
    for (const subject of bench.larders()) {
      const larder = await bench.startLarder(subject);
      participants.push({
        subject,
        measure: async (round) => {
          const before = cpuSeconds(larder.pid);
          const elapsedMs = await uploadAndWait(larder, photos, round);
          const cpuMs = ((cpuSeconds(larder.pid) - before) / count) * 1000;
          record(rate, subject, (count / elapsedMs) * 1000, { value: cpuMs, unit: "ms" });
        },
        finish: () => stopAndRemove(larder),
      });
    }
    await measureInTurns(bench, [rate], participants, true);
  },
};

async function uploadAndWait(larder: Larder, photos: string[], round: number): Promise<number> {
  const templates = photos.map((file) =>
    larder.uploadTemplate({
      folder: `photos${round}`,
      name: "photo-########.jpg",
      body: { file },
      mediaType: "image/jpeg",
      rawAs: "content",
    }),
  );
  const startedAt = performance.now();
  const sent = await load(larder, { connections: 4, count: photos.length, templates, storeBodies: true });
  // The time in which the generator starts and reads the photos doesn't count for the server.
  const overheadMs = performance.now() - startedAt - sent.elapsedMs;
  for (const response of sent.responses) await waitForThumbnail(larder, fileId(response.body));
  return performance.now() - startedAt - overheadMs;
}

async function waitForThumbnail(larder: Larder, id: string): Promise<void> {
  const url = `http://${larder.host}:${larder.port}/api/files/${id}/download?thumbnail=medium`;
  const until = performance.now() + WAIT_MS_MAX;
  while (performance.now() < until) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${larder.token}` } });
    await response.arrayBuffer();
    const type = response.headers.get("content-type");
    if (response.status === 200 && type === "image/webp") return;
    if (response.status !== 503) throw new Error(`the response for a thumbnail was ${response.status} ${type}`);
    await Bun.sleep(10);
  }
  throw new Error(`a thumbnail took more than ${WAIT_MS_MAX / 1000} s`);
}
