import sharp, { type Sharp, type SharpOptions } from "sharp";
import { LONGEST_SIDE, type ThumbnailVariant, WEBP_EFFORT, WEBP_QUALITY } from "./sizes.ts";

/** Most pixels of a picture that is decoded: phones will soon have 200 megapixels. */
export const PIXELS_MAX = 256_000_000;

/** A picture for sharp to decode. */
export interface Picture {
  /** A path, or bytes already in memory. */
  readonly source: string | Buffer;
  /** The size of the picture, if the bytes are its pixels: RGBA. */
  readonly pixels?: { readonly width: number; readonly height: number };
  /** A vector picture is drawn at the requested size, rather than scaled from its own size. */
  readonly isVector?: boolean;
}

/** A rendered variant: a WebP without metadata, in sRGB. */
export interface RenderedVariant {
  readonly variant: ThumbnailVariant;
  readonly bytes: Uint8Array;
}

/** The only loaders of libvips that may run, even if a file claims another format. */
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff", "Svg"].map((name) => `VipsForeignLoad${name}`);

/** Configures sharp: one thread per picture, no cache, only the listed loaders. @returns the version of libvips */
export function prepareSharp(): string {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS });
  return sharp.versions.vips;
}

/**
 * Renders all variants from one decoding: the largest from the picture, each smaller one from the one before, which
 * keeps quality because the steps are at least threefold.
 *
 * @param variants the largest first, at least one
 * @throws Error with the message of libvips
 */
export async function renderWithSharp(
  picture: Picture,
  variants: readonly ThumbnailVariant[],
): Promise<RenderedVariant[]> {
  const [largest, ...smaller] = variants;
  if (largest === undefined) return [];
  const fitted = fit(await open(picture, LONGEST_SIDE[largest]), largest);
  if (smaller.length === 0) return [{ variant: largest, bytes: await encode(fitted) }];

  let pixels = await toPixels(fitted);
  const rendered = [{ variant: largest, bytes: await encode(fromPixels(pixels)) }];
  for (const [index, variant] of smaller.entries()) {
    const reduced = fit(fromPixels(pixels), variant);
    if (index === smaller.length - 1) rendered.push({ variant, bytes: await encode(reduced) });
    else {
      pixels = await toPixels(reduced);
      rendered.push({ variant, bytes: await encode(fromPixels(pixels)) });
    }
  }
  return rendered;
}

async function open(picture: Picture, longestSide: number): Promise<Sharp> {
  const options: SharpOptions = {
    limitInputPixels: PIXELS_MAX,
    sequentialRead: true,
    // Warnings (stray bytes between segments, odd chunks) are common in photos that every viewer shows.
    failOn: "error",
    pages: 1,
    ...(picture.pixels !== undefined && { raw: { ...picture.pixels, channels: 4 } }),
  };
  if (picture.isVector) options.density = await densityFor(picture.source, longestSide);
  return sharp(picture.source, options).autoOrient();
}

/** Dots per inch at which the longest side of a vector picture, given at 72, becomes `longestSide` pixels. */
async function densityFor(source: string | Buffer, longestSide: number): Promise<number> {
  // Only the header is read here: a picture with a huge declared size is drawn small rather than rejected.
  const { width, height } = await sharp(source, { limitInputPixels: false }).metadata();
  return Math.min(Math.max((72 * longestSide) / Math.max(width, height, 1), 1), 100_000);
}

function fit(picture: Sharp, variant: ThumbnailVariant): Sharp {
  const side = LONGEST_SIDE[variant];
  return picture.resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
}

interface Pixels {
  readonly data: Buffer;
  readonly raw: { readonly width: number; readonly height: number; readonly channels: 1 | 2 | 3 | 4 };
}

async function toPixels(picture: Sharp): Promise<Pixels> {
  const { data, info } = await picture
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  return { data, raw: { width: info.width, height: info.height, channels: info.channels } };
}

function fromPixels(pixels: Pixels): Sharp {
  return sharp(pixels.data, { raw: pixels.raw });
}

function encode(picture: Sharp): Promise<Buffer> {
  return picture.toColourspace("srgb").webp({ quality: WEBP_QUALITY, effort: WEBP_EFFORT }).toBuffer();
}
