import { readFile, stat } from "node:fs/promises";
import { ContentFault } from "../processes/content-fault.ts";
import { BUN_FORMATS, detectFormat, isVideoFormat, type PictureFormat } from "./formats.ts";
import type { RenderRequest, ThumbnailStatus } from "./protocol.ts";
import type { Picture, RenderedVariant } from "./sharp.ts";
import { LONGEST_SIDE, type ThumbnailVariant, WEBP_QUALITY } from "./sizes.ts";
import { grabFrame } from "./video.ts";
import { messageOf } from "../../../lib/error.ts";

type SharpModule = typeof import("./sharp.ts");

/** Maximum pixels for Bun's own decoder, which holds the whole picture in memory. */
const BUN_PIXELS_MAX = 64_000_000;

/** Size limits of files: real photos and drawings are smaller. */
const PICTURE_SIZE_BYTES_MAX = 512 * 1024 * 1024;
const SVG_SIZE_BYTES_MAX = 16 * 1024 * 1024;
const BUN_SIZE_BYTES_MAX = 64 * 1024 * 1024;

/** Dependencies of {@link PictureRenderer}. */
export interface RendererOptions {
  /** Why sharp must not be loaded; undefined if it may. */
  readonly sharpRejection: string | undefined;
  readonly ffmpeg: string | undefined;
  readonly timeoutMs: number;
  readonly memoryLimitBytes: number;
}

/**
 * Makes thumbnails of files. Runs only in the child process, because the files are untrusted.
 *
 * Steps: detect the format by the bytes → decode with the one decoder for that format → encode as WebP.
 */
export class PictureRenderer {
  readonly status: ThumbnailStatus;
  readonly #sharp: SharpModule | undefined;
  readonly #options: RendererOptions;

  private constructor(sharp: SharpModule | undefined, status: ThumbnailStatus, options: RendererOptions) {
    this.#sharp = sharp;
    this.status = status;
    this.#options = options;
  }

  /** Loads sharp. If that fails, falls back to Bun's decoder and stores the reason. */
  static async load(options: RendererOptions): Promise<PictureRenderer> {
    const ffmpeg = options.ffmpeg !== undefined;
    let reason = options.sharpRejection ?? "";
    if (options.sharpRejection === undefined) {
      try {
        const sharp = await import("./sharp.ts");
        const libvips = sharp.prepareSharp();
        return new PictureRenderer(sharp, { renderer: "sharp", libvips, heic: true, ffmpeg }, options);
      } catch (error) {
        reason = messageOf(error);
      }
    }
    const renderer = "Image" in Bun ? "bun" : "none";
    return new PictureRenderer(undefined, { renderer, reason, heic: false, ffmpeg }, options);
  }

  /**
   * Renders the requested variants, the largest first.
   * @throws ContentFault if the file is the cause of the failure; other errors are faults of the machine
   */
  async render(request: RenderRequest): Promise<RenderedVariant[]> {
    if (request.isDerived) return this.#renderPicture({ source: request.sourcePath }, "webp", request.variants);
    const format = await detectFormat(request.sourcePath);
    if (format === undefined) throw new ContentFault("its bytes are of no type that thumbnails are made of");
    return this.#renderPicture(await this.#toPicture(request, format), format, request.variants);
  }

  async #toPicture(request: RenderRequest, format: PictureFormat): Promise<Picture> {
    const path = request.sourcePath;
    const { size: sizeBytes } = await stat(path);
    if (isVideoFormat(format)) return { source: await this.#grabFrame(request, format) };
    requireSize(sizeBytes, format === "svg" ? SVG_SIZE_BYTES_MAX : PICTURE_SIZE_BYTES_MAX);
    // An SVG in memory has no path, so relative references in it can't be resolved.
    if (format === "svg") return { source: await readFile(path), isVector: true };
    if (format === "heic" && this.#sharp !== undefined) {
      const { decodeHeic, HEIC_SIZE_BYTES_MAX } = await import("./heic.ts");
      requireSize(sizeBytes, HEIC_SIZE_BYTES_MAX);
      return { source: await decodeHeic(await readFile(path)) };
    }
    if (format === "office" || format === "pdf") {
      const { drawDocument } = await import("../documents/draw-document.ts");
      return drawDocument(path, format, longestSideOf(request.variants));
    }
    return { source: path };
  }

  #grabFrame(request: RenderRequest, format: Parameters<typeof grabFrame>[1]): Promise<Buffer> {
    const { ffmpeg, timeoutMs, memoryLimitBytes } = this.#options;
    if (ffmpeg === undefined) throw new Error("videos need ffmpeg, and there is none on this machine");
    const longestSide = longestSideOf(request.variants);
    // Half of the time, so that ffmpeg is ended before this process is.
    return grabFrame(request.sourcePath, format, longestSide, { ffmpeg, timeoutMs: timeoutMs / 2, memoryLimitBytes });
  }

  async #renderPicture(
    picture: Picture,
    format: PictureFormat,
    variants: readonly ThumbnailVariant[],
  ): Promise<RenderedVariant[]> {
    const sharp = this.#sharp;
    if (sharp === undefined && !BUN_FORMATS.has(format) && !isVideoFormat(format)) {
      throw new Error(`${format} needs the image library, which can't be loaded: ${this.status.reason ?? "unknown"}`);
    }
    try {
      return sharp === undefined
        ? await renderWithBun(picture.source, variants)
        : await sharp.renderWithSharp(picture, variants);
    } catch (error) {
      if (isMachineFault(error)) throw error;
      throw new ContentFault(messageOf(error), error);
    }
  }
}

function longestSideOf(variants: readonly ThumbnailVariant[]): number {
  return Math.max(...variants.map((variant) => LONGEST_SIDE[variant]));
}

function requireSize(sizeBytes: number, limitBytes: number): void {
  if (sizeBytes <= limitBytes) return;
  throw new ContentFault(`the file has ${sizeBytes} bytes; thumbnails of its type are made up to ${limitBytes}`);
}

/** Whether the file disappeared or the disk failed: not the fault of the file's content. */
function isMachineFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    (("code" in error && isSystemCode(error.code)) || error.message.startsWith("Input file is missing"))
  );
}

function isSystemCode(code: unknown): boolean {
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) && !code.startsWith("ERR");
}

async function renderWithBun(
  source: string | Buffer,
  variants: readonly ThumbnailVariant[],
): Promise<RenderedVariant[]> {
  let input: Uint8Array;
  if (typeof source === "string") {
    requireSize((await stat(source)).size, BUN_SIZE_BYTES_MAX);
    input = await readFile(source);
  } else input = source;

  const rendered: RenderedVariant[] = [];
  for (const variant of variants) {
    const side = LONGEST_SIDE[variant];
    const bytes = await new Bun.Image(input, { maxPixels: BUN_PIXELS_MAX })
      .resize(side, side, { fit: "inside", withoutEnlargement: true })
      .webp({ quality: WEBP_QUALITY })
      .bytes();
    rendered.push({ variant, bytes });
  }
  return rendered;
}
