import sharp from "sharp";
import { prepareSharp } from "../thumbnails/sharp.ts";

/** Phones take photos of 50 megapixels; more would only cost memory. */
const PIXELS_MAX = 64_000_000;
const LARGE_SIDE = 256;
const SMALL_SIDE = 64;
/** The qualities to try, until the picture is small enough. */
const QUALITIES = [82, 65, 45, 20];
/** The pictures of all people are in the database and in its copies. */
const LARGE_BYTES_MAX = 24 * 1024;
/** Drawings may refer to other files, and no camera makes TIFFs for people. */
const BLOCKED = ["VipsForeignLoadSvg", "VipsForeignLoadTiff"];
/** The size of the large picture comes before both. */
const HEADER_BYTES = 4;

/**
 * The middle square of an image as two WebP pictures, without metadata. Runs only in the editing process, because the
 * image is untrusted.
 * @returns the size of the large picture, the large one, and the small one
 * @throws Error with the message of libvips if the image can't be read
 */
export async function makeAvatar(image: Buffer): Promise<Buffer> {
  prepareSharp();
  sharp.block({ operation: BLOCKED });
  const options = { limitInputPixels: PIXELS_MAX, sequentialRead: true, failOn: "error", pages: 1 } as const;
  const { data, info } = await sharp(image, options)
    .autoOrient()
    .resize({ width: LARGE_SIDE, height: LARGE_SIDE, fit: "cover" })
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const encode = (side: number, quality: number) =>
    sharp(data, { raw }).resize({ width: side, height: side }).webp({ quality, effort: 4 }).toBuffer();
  let large = Buffer.alloc(0);
  for (const quality of QUALITIES) {
    large = Buffer.from(await encode(LARGE_SIDE, quality));
    if (large.length <= LARGE_BYTES_MAX) break;
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(large.length);
  return Buffer.concat([header, large, await encode(SMALL_SIDE, QUALITIES[0] ?? 0)]);
}
