import { readFile } from "node:fs/promises";
import type { LibHeif } from "libheif-js/libheif-wasm/libheif.js";
import { ContentFault } from "../processes/content-fault.ts";
import { packTiff } from "./tiff.ts";

/** Side of the largest square that is decoded: 64 megapixels; phones have up to 48. Checked before decoding. */
const SQUARE_SIDE_MAX = 8000;

/** Largest file that is read; a 48-megapixel HEIC of a phone has 5 MiB. */
export const HEIC_SIZE_BYTES_MAX = 64 * 1024 * 1024;

// libheif/heif.h: heif_colorspace_RGB, heif_chroma_interleaved_RGB, heif_channel_interleaved.
const COLORSPACE_RGB = 1;
const CHROMA_INTERLEAVED_RGB = 10;
const CHANNEL_INTERLEAVED = 10;

/** Larger color profiles are ignored. */
const PROFILE_SIZE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Decodes the primary picture of a HEIC file, rotated and cropped as the file specifies, into an uncompressed TIFF with
 * the file's color profile. Blocks its thread (about 1 s for 12 megapixels) and takes about 10 bytes per pixel.
 *
 * libheif is loaded at the first call. Its memory never shrinks, so the process is replaced after large pictures.
 *
 * @throws ContentFault
 */
export async function decodeHeic(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.byteLength > HEIC_SIZE_BYTES_MAX) {
    throw new ContentFault(`the file has ${bytes.byteLength} bytes, HEIC is read up to ${HEIC_SIZE_BYTES_MAX}`);
  }
  loading ??= loadLibHeif();
  return new HeicDecoding(await loading).decode(bytes);
}

/** One module for the lifetime of the process. */
let loading: Promise<LibHeif> | undefined;

async function loadLibHeif(): Promise<LibHeif> {
  const { default: instantiate } = await import("libheif-js/libheif-wasm/libheif.js");
  const { default: path } = await import("libheif-js/libheif-wasm/libheif.wasm", { with: { type: "file" } });
  return instantiate({ wasmBinary: await readFile(path) });
}

/** One decoding: owns what it allocated in the module's memory. */
class HeicDecoding {
  /** `struct heif_error { int code; int subcode; const char *message }`, returned through a pointer. */
  readonly #error: number;
  /** Memory for one pointer or size that a call returns. */
  readonly #result: number;
  readonly #heif: LibHeif;

  constructor(heif: LibHeif) {
    this.#heif = heif;
    this.#error = heif._malloc(12);
    this.#result = heif._malloc(4);
  }

  decode(bytes: Uint8Array): Buffer {
    const heif = this.#heif;
    const context = heif._heif_context_alloc();
    let source = 0;
    let handle = 0;
    let image = 0;
    try {
      heif._heif_context_set_maximum_image_size_limit(context, SQUARE_SIDE_MAX);
      source = this.#allocate(bytes.byteLength);
      heif.HEAPU8.set(bytes, source);
      heif._heif_context_read_from_memory(this.#error, context, source, bytes.byteLength, 0);
      this.#check("reading");
      heif._heif_context_get_primary_image_handle(this.#error, context, this.#result);
      this.#check("finding the primary picture");
      handle = this.#word(this.#result);
      const width = heif._heif_image_handle_get_width(handle);
      const height = heif._heif_image_handle_get_height(handle);
      if (width <= 0 || height <= 0 || width * height > SQUARE_SIDE_MAX ** 2) {
        throw new ContentFault(`a HEIC of ${width}x${height} pixels is beyond ${SQUARE_SIDE_MAX ** 2} pixels`);
      }
      const profile = this.#profile(handle);
      heif._heif_decode_image(this.#error, handle, this.#result, COLORSPACE_RGB, CHROMA_INTERLEAVED_RGB, 0);
      this.#check("decoding");
      image = this.#word(this.#result);
      return this.#pack(image, profile);
    } finally {
      if (image !== 0) heif._heif_image_release(image);
      if (handle !== 0) heif._heif_image_handle_release(handle);
      heif._heif_context_free(context);
      for (const pointer of [source, this.#result, this.#error]) heif._free(pointer);
    }
  }

  #pack(image: number, profile: Uint8Array | undefined): Buffer {
    const heif = this.#heif;
    const width = heif._heif_image_get_width(image, CHANNEL_INTERLEAVED);
    const height = heif._heif_image_get_height(image, CHANNEL_INTERLEAVED);
    const plane = heif._heif_image_get_plane_readonly2(image, CHANNEL_INTERLEAVED, this.#result);
    const strideBytes = this.#word(this.#result);
    if (plane === 0 || width <= 0 || height <= 0) throw new ContentFault("HEIC: decoding gave no picture");
    return packTiff(width, height, profile, (row) => {
      const start = plane + row * strideBytes;
      return heif.HEAPU8.subarray(start, start + width * 3);
    });
  }

  /** The ICC profile (iPhones: Display P3); undefined if colors are described by numbers or not at all. */
  #profile(handle: number): Uint8Array | undefined {
    const heif = this.#heif;
    const sizeBytes = heif._heif_image_handle_get_raw_color_profile_size(handle);
    if (sizeBytes <= 0 || sizeBytes > PROFILE_SIZE_BYTES_MAX) return undefined;
    const pointer = this.#allocate(sizeBytes);
    try {
      heif._heif_image_handle_get_raw_color_profile(this.#error, handle, pointer);
      this.#check("reading the colour profile");
      return heif.HEAPU8.slice(pointer, pointer + sizeBytes);
    } finally {
      heif._free(pointer);
    }
  }

  #allocate(sizeBytes: number): number {
    const pointer = this.#heif._malloc(sizeBytes);
    if (pointer === 0) throw new ContentFault(`HEIC: no memory for ${sizeBytes} bytes`);
    return pointer;
  }

  #word(pointer: number): number {
    return new DataView(this.#heif.HEAPU8.buffer).getUint32(pointer, true);
  }

  #check(step: string): void {
    if (this.#word(this.#error) === 0) return;
    const start = this.#word(this.#error + 8);
    const end = this.#heif.HEAPU8.indexOf(0, start);
    const message = new TextDecoder().decode(this.#heif.HEAPU8.subarray(start, Math.min(end, start + 200)));
    throw new ContentFault(`HEIC: ${step}: ${message}`);
  }
}
