// Generates small images, so that each test shows what its images contain.
import { deflateSync } from "node:zlib";
import sharp from "sharp";

/** A PNG of one color, written without a library. */
export function tinyPng(width = 2, height = 2, rgb: [number, number, number] = [200, 30, 30]): Uint8Array {
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: width }, () => Buffer.from(rgb)))]);
  return pngOf(width, height, deflateSync(Buffer.concat(Array.from({ length: height }, () => row))));
}

/** A PNG whose header declares any size, with almost no pixel data. */
export function pngBomb(width: number, height: number): Uint8Array {
  return pngOf(width, height, deflateSync(Buffer.alloc(1000)));
}

/**
 * A JPEG with a red left half, a blue right half, an EXIF orientation and a camera name.
 *
 * @param orientation 1 to 8 as in EXIF; 6 means that viewers rotate the image 90° clockwise
 */
export async function jpegPhoto(width: number, height: number, orientation = 1): Promise<Uint8Array> {
  const half = { width: Math.floor(width / 2), height, channels: 3 as const };
  const blue = await sharp({ create: { ...half, background: { r: 0, g: 0, b: 255 } } })
    .png()
    .toBuffer();
  const bytes = await sharp({ create: { ...half, width, background: { r: 255, g: 0, b: 0 } } })
    .composite([{ input: blue, left: Math.ceil(width / 2), top: 0 }])
    .withExif({ IFD0: { Make: "LarderCam", Orientation: String(orientation) } })
    .jpeg({ quality: 90 })
    .toBuffer();
  return withOrientation(bytes, orientation);
}

/** Reads an image's format, its size in pixels, and whether it contains EXIF. */
export async function describeImage(
  bytes: Uint8Array,
): Promise<{ format: string; width: number; height: number; hasExif: boolean }> {
  const { format, width, height, exif } = await sharp(bytes).metadata();
  return { format, width, height, hasExif: exif !== undefined };
}

/** Red, green and blue of one pixel. Its position is given as fractions of width and height. */
export async function pixelAt(bytes: Uint8Array, x: number, y: number): Promise<[number, number, number]> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(y * (info.height - 1)) * info.width + Math.floor(x * (info.width - 1))) * info.channels;
  return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
}

function pngOf(width: number, height: number, idat: Uint8Array): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", idat), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(Bun.hash.crc32(body));
  return Buffer.concat([length, body, crc]);
}

/** An EXIF directory of two entries, big-endian: Make at offset 38, Orientation. */
function makeAndOrientation(orientation: number): number[] {
  const make = [0x01, 0x0f, 0, 2, 0, 0, 0, 10, 0, 0, 0, 38];
  return [0, 2].concat(make, [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0], [0, 0, 0, 0]);
}

/** Sets the orientation in a JPEG's EXIF block, which libraries often normalize when they write. */
function withOrientation(jpeg: Uint8Array, orientation: number): Uint8Array {
  const exif = Buffer.from([
    ...Buffer.from("Exif\0\0MM\0*\0\0\0\x08", "latin1"),
    ...makeAndOrientation(orientation),
    ...Buffer.from("LarderCam\0", "latin1"),
  ]);
  const segment = Buffer.alloc(4 + exif.length);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(exif.length + 2, 2);
  segment.set(exif, 4);
  // Directly after the start-of-image marker, because readers use the first EXIF block.
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
}

/** A small JPEG that was taken at a position. @param seed gives each picture bytes of its own */
export async function placedJpeg(seed: number, latitude: number, longitude: number): Promise<Uint8Array> {
  const background = { r: seed % 256, g: Math.floor(seed / 256) % 256, b: 120 };
  // EXIF writes positive fractions, and a letter for the direction.
  const degrees = (value: number) => `${Math.round(Math.abs(value) * 10_000)}/10000 0/1 0/1`;
  const bytes = await sharp({ create: { width: 24, height: 16, channels: 3, background } })
    .withExif({
      IFD3: {
        GPSLatitudeRef: latitude < 0 ? "S" : "N",
        GPSLatitude: degrees(latitude),
        GPSLongitudeRef: longitude < 0 ? "W" : "E",
        GPSLongitude: degrees(longitude),
      },
    })
    .jpeg()
    .toBuffer();
  return new Uint8Array(bytes);
}
