import { crc32 } from "node:zlib";
import sharp, { type Metadata, type Sharp } from "sharp";
import { say } from "../../../translations/say.ts";
import { PIXELS_MAX, prepareSharp } from "../thumbnails/sharp.ts";
import { AreaFault } from "./area-fault.ts";
import { ContentFault } from "../processes/content-fault.ts";
import type { CropArea, PictureEdit } from "./types.ts";

/** Formats that are encoded again. */
const FORMATS = { "image/jpeg": "jpeg", "image/png": "png", "image/webp": "webp", "image/avif": "avif" } as const;

/** Almost free of visible loss; an edit is made of an original, once. */
const JPEG_QUALITY = 93;
const WEBP_QUALITY = 92;
const AVIF_QUALITY = 75;

/**
 * Decodes a picture, rotates and crops it, and encodes it in its own format, with its metadata and color profile. Runs
 * only in the editing process, because the file is untrusted.
 * @throws ContentFault if the picture can't be edited; AreaFault
 */
export async function editPicture(path: string, mediaType: string, edit: PictureEdit): Promise<Buffer> {
  prepareSharp();
  const format = Object.entries(FORMATS).find(([type]) => type === mediaType)?.[1];
  if (format === undefined) throw new ContentFault(`Larder can't write ${mediaType}`);
  const picture = sharp(path, { limitInputPixels: PIXELS_MAX, failOn: "error", pages: -1 });
  const described = await picture.metadata();
  checkEditable(described, format);
  const edited = sharp(path, { limitInputPixels: PIXELS_MAX, failOn: "error" }).autoOrient();
  const { width, height } = displayedSize(described, edit.rotate);
  if (edit.rotate !== undefined) edited.rotate(edit.rotate);
  if (edit.crop !== undefined) edited.extract(extraction(edit.crop, width, height));
  if (described.depth === "ushort") edited.toColourspace(described.space === "grey16" ? "grey16" : "rgb16");
  const isLossless = format === "webp" && (await isLosslessWebp(path));
  const bytes = await ENCODERS[format](edited.keepMetadata(), described, isLossless).toBuffer();
  // The checksums of PNG cover its other metadata, and no common program writes thumbnails there.
  if (format !== "png") blankOtherThumbnails(bytes);
  return dropThumbnail(bytes, (await sharp(bytes).metadata()).exif, format);
}

/** The server translates these texts: see `edit-process.ts`. */
function checkEditable({ pages = 1, space, format: found }: Metadata, format: string): void {
  if (pages > 1) throw new ContentFault(say`it is animated`.english);
  if (found !== (format === "avif" ? "heif" : format))
    throw new ContentFault(say`its content is of another format`.english);
  // Colors for print would change.
  if (space === "cmyk") throw new ContentFault(say`it has colors for print (CMYK)`.english);
}

function displayedSize({ autoOrient }: Metadata, rotate: PictureEdit["rotate"]): { width: number; height: number } {
  const { width, height } = autoOrient;
  return rotate === 90 || rotate === 270 ? { width: height, height: width } : { width, height };
}

function extraction({ x, y, width, height }: CropArea, pictureWidth: number, pictureHeight: number) {
  if (x + width > pictureWidth || y + height > pictureHeight) {
    throw new AreaFault(
      `The area to keep is partly outside the picture, which has ${pictureWidth} × ${pictureHeight} pixels.`,
    );
  }
  return { left: x, top: y, width, height };
}

const ENCODERS = {
  jpeg: (edited: Sharp, { chromaSubsampling, isProgressive }: Metadata) =>
    edited.jpeg({
      quality: JPEG_QUALITY,
      chromaSubsampling: chromaSubsampling === "4:2:0" ? "4:2:0" : "4:4:4",
      progressive: isProgressive ?? false,
    }),
  png: (edited: Sharp) => edited.png(),
  webp: (edited: Sharp, _: Metadata, isLossless: boolean) =>
    edited.webp({ quality: WEBP_QUALITY, lossless: isLossless }),
  avif: (edited: Sharp) => edited.avif({ quality: AVIF_QUALITY }),
};

/** The image data is one of the first chunks: the color profile comes before it, Exif and XMP after it. */
const WEBP_HEAD_BYTES = 4 * 1024 * 1024;

/** Whether a WebP has lossless image data (RFC 9649 §2.6). */
async function isLosslessWebp(path: string): Promise<boolean> {
  const head = Buffer.from(await Bun.file(path).slice(0, WEBP_HEAD_BYTES).arrayBuffer());
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString("latin1", at, at + 4);
    if (name === "VP8L" || name === "VP8 ") return name === "VP8L";
    const lengthBytes = head.readUInt32LE(at + 4);
    at += 8 + lengthBytes + (lengthBytes % 2);
  }
  return false;
}

const POINTER_BYTES = 4;

/**
 * Removes the thumbnail from Exif data: it shows the picture from before, with what was cropped away.
 * @param exif the Exif data of `bytes`, as sharp reads it
 */
function dropThumbnail(bytes: Buffer, exif: Buffer | undefined, format: string): Buffer {
  if (exif === undefined) return bytes;
  const tiff = exif.toString("latin1", 0, 6) === "Exif\0\0" ? exif.subarray(6) : exif;
  const at = bytes.indexOf(tiff);
  if (at < 0) throw new Error("The Exif data of the edited picture was not found.");
  const found = bytes.subarray(at, at + tiff.length);
  const isLittle = found.toString("latin1", 0, 2) === "II";
  const long = (position: number) => (isLittle ? found.readUInt32LE(position) : found.readUInt32BE(position));
  const short = (position: number) => (isLittle ? found.readUInt16LE(position) : found.readUInt16BE(position));
  const directoryAt = long(4);
  const nextAt = directoryAt + 2 + short(directoryAt) * 12;
  const thumbnailAt = long(nextAt);
  // The directory of the thumbnail and its bytes are the last of what libexif writes.
  if (thumbnailAt !== 0) found.fill(0, thumbnailAt);
  found.fill(0, nextAt, nextAt + POINTER_BYTES);
  if (format === "png") writeChecksum(bytes, at, tiff.length);
  return bytes;
}

/** The thumbnail resources of Photoshop (Adobe Photoshop File Formats Specification, image resources 1033 and 1036). */
const PHOTOSHOP_THUMBNAILS = ["8BIM\x04\x09", "8BIM\x04\x0c"];

/** Overwrites thumbnails in Photoshop's resources and in XMP. Sizes stay, so everything else remains where it is. */
function blankOtherThumbnails(bytes: Buffer): void {
  for (const mark of PHOTOSHOP_THUMBNAILS) {
    for (let at = bytes.indexOf(mark, 0, "latin1"); at >= 0; at = bytes.indexOf(mark, at + 1, "latin1")) {
      // A name of even length, with its length byte, comes before the size.
      const sizeAt = at + 6 + ((1 + (bytes[at + 6] ?? 0) + 1) & ~1);
      if (sizeAt + 4 > bytes.length) break;
      bytes.fill(0, sizeAt + 4, Math.min(sizeAt + 4 + bytes.readUInt32BE(sizeAt), bytes.length));
    }
  }
  const start = "<xmpGImg:image>";
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + 1)) {
    const end = bytes.indexOf("</xmpGImg:image>", at);
    if (end < 0) break;
    bytes.fill(" ", at + start.length, end);
  }
}

/** The checksum of a PNG chunk covers its type and its data (PNG §5.3). */
function writeChecksum(bytes: Buffer, dataAt: number, lengthBytes: number): void {
  bytes.writeUInt32BE(crc32(bytes.subarray(dataAt - 4, dataAt + lengthBytes)), dataAt + lengthBytes);
}
