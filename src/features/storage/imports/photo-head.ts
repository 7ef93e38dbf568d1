import { EXIF_HEAD_BYTES } from "../../media/metadata/exif.ts";

/** The tags of a JPEG are in one segment, which comes first or after a small one. */
const JPEG_HEAD_BYTES = 80 * 1024;
/** What files of other formats that may have tags begin with: TIFF, PNG, WebP; and HEIC and AVIF after four bytes. */
const OTHER_PHOTO = /^(?:II\*|MM\0\*|\x89PNG|RIFF|.{4}ftyp(?:heic|heix|hevc|mif1|msf1|avif))/s;

/** Collects the first bytes of a photo, as many as may have its tags. Copies nothing that has none. */
export class PhotoHead {
  readonly #chunks: Uint8Array[] = [];
  #leftBytes: number | undefined;

  add(bytes: Uint8Array): void {
    this.#leftBytes ??= headBytes(bytes);
    if (this.#leftBytes <= 0) return;
    this.#chunks.push(bytes.subarray(0, this.#leftBytes));
    this.#leftBytes -= bytes.length;
  }

  /** The first bytes; none without tags. */
  join(): Uint8Array<ArrayBuffer> {
    const isJpeg = this.#chunks[0]?.[0] === 0xff;
    const hasTags = !isJpeg || this.#chunks.some((chunk) => toBuffer(chunk).includes("Exif"));
    return hasTags ? new Uint8Array(Buffer.concat(this.#chunks)) : new Uint8Array();
  }
}

/** @param bytes the first chunk of a file */
function headBytes(bytes: Uint8Array): number {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return JPEG_HEAD_BYTES;
  return OTHER_PHOTO.test(toBuffer(bytes).toString("latin1", 0, 16)) ? EXIF_HEAD_BYTES : 0;
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
