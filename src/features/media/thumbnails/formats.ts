import { open } from "node:fs/promises";

/** The format of a file, by its first bytes alone. Files of other formats are never passed to a decoder. */
export type PictureFormat =
  | "jpeg"
  | "png"
  | "webp"
  | "gif"
  | "avif"
  | "tiff"
  | "svg"
  | "heic"
  | DocumentFormat
  | VideoFormat;

/** Documents: PDFs, and ZIP files with a picture of their first page or cover. */
export type DocumentFormat = "pdf" | "office";

/** Containers that ffmpeg may open, named after the demuxer that it is restricted to. */
export type VideoFormat = "mov" | "matroska" | "avi" | "mpeg" | "mpegts" | "flv" | "asf" | "ogg";

/** How many of the first bytes are searched for the root of an SVG. */
const SVG_HEAD_BYTES = 4096;
/** Within how many of the first bytes a PDF may begin (PDF 1.7, implementation note 13). */
const PDF_HEAD_BYTES = 1024;
const ZIP_SIGNATURE = "PK\x03\x04";

const OFFICE_TYPES =
  /^application\/(vnd\.openxmlformats-officedocument\.(wordprocessingml|spreadsheetml|presentationml)\.[a-z]+|vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)(-template)?|vnd\.ms-(word|excel|powerpoint)\.[a-z]+\.macroenabled\.12|vnd\.apple\.(pages|numbers|keynote)|epub\+zip)$/;

/** Formats by the media types that file-type reports. Other types have no thumbnail. */
const DETECTED: Readonly<Record<string, PictureFormat>> = {
  "image/jpeg": "jpeg",
  "image/png": "png",
  "image/apng": "png",
  "image/webp": "webp",
  "image/gif": "gif",
  "image/avif": "avif",
  "image/avif-sequence": "avif",
  "image/tiff": "tiff",
  "image/heic": "heic",
  "image/heif": "heic",
  "image/heic-sequence": "heic",
  "image/heif-sequence": "heic",
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "video/x-m4v": "mov",
  "video/3gpp": "mov",
  "video/3gpp2": "mov",
  "video/webm": "matroska",
  "video/matroska": "matroska",
  "video/x-matroska": "matroska",
  "video/vnd.avi": "avi",
  "video/x-msvideo": "avi",
  "video/mpeg": "mpeg",
  "video/mp1s": "mpeg",
  "video/mp2p": "mpeg",
  "video/mp2t": "mpegts",
  "application/pdf": "pdf",
  "video/x-flv": "flv",
  "video/x-ms-asf": "asf",
  "video/x-ms-wmv": "asf",
  "video/ogg": "ogg",
};

/** Formats that Bun can decode. */
export const BUN_FORMATS: ReadonlySet<PictureFormat> = new Set(["jpeg", "png", "webp", "gif"]);

const VIDEO_FORMATS: ReadonlySet<PictureFormat> = new Set<VideoFormat>([
  "mov",
  "matroska",
  "avi",
  "mpeg",
  "mpegts",
  "flv",
  "asf",
  "ogg",
]);

/** Whether only ffmpeg can open a format. */
export function isVideoFormat(format: PictureFormat): format is VideoFormat {
  return VIDEO_FORMATS.has(format);
}

/**
 * Detects the format of a file by its bytes; undefined if it has no thumbnail. Name and declared media type are
 * ignored.
 * @throws the system's error if the file cannot be read
 */
export async function detectFormat(path: string): Promise<PictureFormat | undefined> {
  const head = await readHead(path);
  if (isSvg(head)) return "svg";
  if (head.subarray(0, PDF_HEAD_BYTES).includes("%PDF-")) return "pdf";
  if (head.toString("latin1", 0, ZIP_SIGNATURE.length) === ZIP_SIGNATURE) return "office";
  // Loaded at the first use: the start does not need it.
  const { fileTypeFromBlob } = await import("file-type");
  // Not fileTypeFromFile: it loads a package at run time, which the executable does not contain.
  const type = await fileTypeFromBlob(Bun.file(path));
  return type === undefined ? undefined : promisedFormat(type.mime);
}

/**
 * The format of a media type, or undefined. Pure: decides whether a file may have a thumbnail, before its bytes are
 * read.
 */
export function promisedFormat(mediaType: string): PictureFormat | undefined {
  const bare = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  if (bare === "image/svg+xml") return "svg";
  if (bare === "image/jpg" || bare === "image/pjpeg") return "jpeg";
  return DETECTED[bare] ?? (OFFICE_TYPES.test(bare) ? "office" : undefined);
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SVG_HEAD_BYTES), 0, SVG_HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Whether the root element is svg, after byte order mark, white space, XML declaration, comments and document type. */
function isSvg(head: Uint8Array): boolean {
  let text = new TextDecoder("utf-8").decode(head).trimStart();
  if (!text.startsWith("<")) return false;
  for (;;) {
    const prologue = /^(?:<\?[^]*?\?>|<!--[^]*?-->|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>)\s*/i.exec(text);
    if (prologue === null) break;
    text = text.slice(prologue[0].length);
  }
  return /^<(?:svg:)?svg[\s>]/.test(text);
}
