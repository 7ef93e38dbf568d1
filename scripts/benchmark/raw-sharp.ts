/**
 * The baseline for thumbnails: sharp alone converts 12-megapixel JPEGs to WebP with 512 pixels, two at a time.
 *
 * Usage: bun raw-sharp.ts DIRECTORY COUNT. Prints {"elapsedMs", "cpuSeconds"}.
 */
import { join } from "node:path";
import sharp from "sharp";

const CONCURRENCY = 2;
const SIDE_PIXELS = 512;

const [directory, count] = process.argv.slice(2);
if (directory === undefined) throw new Error("usage: raw-sharp.ts DIRECTORY COUNT");

let next = 0;
async function work(folder: string): Promise<void> {
  for (let index = next++; index < Number(count); index = next++) {
    await sharp(join(folder, `${index}.jpg`))
      .autoOrient()
      .resize(SIDE_PIXELS, SIDE_PIXELS, { fit: "inside" })
      .webp()
      .toBuffer();
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: CONCURRENCY }, () => work(directory)));
const elapsedMs = performance.now() - startedAt;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ elapsedMs, cpuSeconds: (user + system) / 1e6 }));
