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
    this.#leftBytes ??= hasTags(bytes) ? headBytes(bytes) : 0;
    if (this.#leftBytes <= 0) return;
    // A copy: the chunk may be used again.
    this.#chunks.push(new Uint8Array(bytes.subarray(0, this.#leftBytes)));
    this.#leftBytes -= bytes.length;
  }

  /** The first bytes; none without tags. */
  join(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(Buffer.concat(this.#chunks));
  }
}

/** Whether a file may have tags. Those of a JPEG begin near its start. @param bytes the first chunk of a file */
function hasTags(bytes: Uint8Array): boolean {
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  return !isJpeg || toBuffer(bytes.subarray(0, JPEG_HEAD_BYTES)).includes("Exif");
}

/** @param bytes the first chunk of a file */
function headBytes(bytes: Uint8Array): number {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return JPEG_HEAD_BYTES;
  return OTHER_PHOTO.test(toBuffer(bytes).toString("latin1", 0, 16)) ? EXIF_HEAD_BYTES : 0;
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
