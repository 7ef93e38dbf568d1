/**
 * Makes different JPEGs like those of a 12-megapixel camera: 4000 × 3000 pixels, about 3 MB. The load generator writes
 * a number into a comment of each, so that every upload has new content.
 *
 * Usage: bun images.ts DIRECTORY COUNT
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";

const WIDTH = 4000;
const HEIGHT = 3000;
/** A comment segment with two length bytes and 16 characters, to follow the start of image (ITU-T T.81, B.2.4.5). */
const COMMENT = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x12]), Buffer.from("number: ########")]);

async function makeImages(directory: string, count: number): Promise<void> {
  const noise = await sharp({
    create: {
      width: WIDTH,
      height: HEIGHT,
      channels: 3,
      noise: { type: "gaussian", mean: 128, sigma: 16 },
      background: "black",
    },
  })
    .blur(0.7)
    .png({ compressionLevel: 0 })
    .toBuffer();
  for (let index = 0; index < count; index += 1) {
    const hue = (index * 47) % 360;
    const gradient = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><defs>
        <linearGradient id="sky" x1="0" y1="0" x2="${(index % 7) / 7}" y2="1">
          <stop offset="0" stop-color="hsl(${hue},60%,70%)"/><stop offset="1" stop-color="hsl(${(hue + 90) % 360},50%,25%)"/>
        </linearGradient></defs><rect width="100%" height="100%" fill="url(#sky)"/>
        <circle cx="${400 + ((index * 331) % 3000)}" cy="${300 + ((index * 171) % 2000)}" r="420" fill="hsl(${(hue + 180) % 360},70%,55%)"/>
      </svg>`,
    );
    const image = await sharp(noise)
      .composite([{ input: gradient, blend: "overlay" }])
      .removeAlpha()
      .jpeg({ quality: 88 })
      .toBuffer();
    writeFileSync(join(directory, `${index}.jpg`), Buffer.concat([image.subarray(0, 2), COMMENT, image.subarray(2)]));
  }
}

const [directory, count] = process.argv.slice(2);
if (directory === undefined) throw new Error("usage: images.ts DIRECTORY COUNT");
await makeImages(directory, Number(count));
