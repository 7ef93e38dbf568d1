// Writes small Live Photos: a JPEG with the tags of a camera, a QuickTime video, and photos with a video inside.
import sharp from "sharp";

/** What a half of a Live Photo states. */
export interface LiveOptions {
  /** The identifier that both halves share, a UUID. */
  readonly contentId?: string | undefined;
  /** As in EXIF: `2024:05:06 07:08:09`, in UTC. */
  readonly takenAt?: string | undefined;
}

/** A JPEG of one color, as Apple's cameras write it: the identifier is in their maker note. */
export async function livePhoto(color: number, { contentId, takenAt }: LiveOptions): Promise<Uint8Array> {
  const background = { r: color % 256, g: Math.floor(color / 256), b: 200 };
  const jpeg = await sharp({ create: { width: 320, height: 240, channels: 3, background } })
    .jpeg()
    .toBuffer();
  return insertSegment(jpeg, Buffer.concat([Buffer.from("Exif\0\0", "latin1"), exif({ contentId, takenAt })]));
}

/** A QuickTime video without frames: its length, its time, and the identifier. */
export function liveVideo(
  seconds: number,
  { contentId, takenAt }: LiveOptions,
  frames = Buffer.alloc(500, 7),
): Uint8Array {
  const mvhd = Buffer.alloc(100);
  const iso = takenAt?.replace(/^(\d+):(\d+):(\d+) /, "$1-$2-$3T");
  mvhd.writeUInt32BE(iso === undefined ? 0 : Date.parse(`${iso}Z`) / 1000 + 2_082_844_800, 4);
  mvhd.writeUInt32BE(600, 12);
  mvhd.writeUInt32BE(Math.round(seconds * 600), 16);
  const meta = contentId === undefined ? [] : [identifierBox(contentId)];
  return Buffer.concat([
    box("ftyp", Buffer.from("qt  \0\0\0\0qt  ", "latin1")),
    box("mdat", frames),
    box("moov", box("mvhd", mvhd), ...meta),
  ]);
}

/** A photo with a video at its end, announced by XMP as in Motion Photo 1.0. */
export async function motionPhoto(color: number, video: Uint8Array): Promise<Uint8Array> {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description GCamera:MotionPhoto="1"><Container:Directory><rdf:Seq><rdf:li><Container:Item Item:Mime="image/jpeg" Item:Semantic="Primary"/></rdf:li><rdf:li><Container:Item Item:Mime="video/mp4" Item:Semantic="MotionPhoto" Item:Length="${video.length}"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description></rdf:RDF></x:xmpmeta>`;
  return Buffer.concat([await withXmp(color, xmp), video]);
}

/** The predecessor of Motion Photo 1.0. */
export async function microVideo(color: number, video: Uint8Array): Promise<Uint8Array> {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description GCamera:MicroVideo="1" GCamera:MicroVideoOffset="${video.length}"/></x:xmpmeta>`;
  return Buffer.concat([await withXmp(color, xmp), video]);
}

/** A photo with Samsung's trailer. */
export async function samsungPhoto(color: number, video: Uint8Array): Promise<Uint8Array> {
  const name = Buffer.from("MotionPhoto_Data", "latin1");
  const head = Buffer.from([0, 0, 0x30, 0x0a, name.length, 0, 0, 0]);
  const entry = Buffer.concat([head, name, video]);
  const directory = Buffer.alloc(24);
  directory.write("SEFH", 0, "latin1");
  directory.writeUInt32LE(106, 4);
  directory.writeUInt32LE(1, 8);
  directory.writeUInt16LE(0x0a30, 14);
  directory.writeUInt32LE(entry.length, 16);
  directory.writeUInt32LE(entry.length, 20);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(directory.length, 0);
  end.write("SEFT", 4, "latin1");
  return Buffer.concat([await livePhoto(color, {}), entry, directory, end]);
}

async function withXmp(color: number, xmp: string): Promise<Buffer> {
  const text = Buffer.from(`http://ns.adobe.com/xap/1.0/\0${xmp}`, "latin1");
  return insertSegment(Buffer.from(await livePhoto(color, {})), text);
}

/** Inserts an APP1 segment after the start of a JPEG. */
function insertSegment(jpeg: Buffer, content: Buffer): Buffer {
  const head = Buffer.from([0xff, 0xe1, (content.length + 2) >> 8, (content.length + 2) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)]);
}

/** TIFF, big-endian: one directory that points to a second one with the tags. */
function exif({ contentId, takenAt }: LiveOptions): Buffer {
  const values: (readonly [tag: number, type: number, value: Buffer])[] = [];
  if (takenAt !== undefined) {
    values.push([0x9003, 2, Buffer.from(`${takenAt}\0`, "latin1")], [0x9011, 2, Buffer.from("+00:00\0", "latin1")]);
  }
  if (contentId !== undefined) values.push([0x927c, 7, makerNote(contentId)]);
  const start = 26;
  let at = start + 2 + values.length * 12 + 4;
  const entries = values.map(([tag, type, value]) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt16BE(tag, 0);
    entry.writeUInt16BE(type, 2);
    entry.writeUInt32BE(value.length, 4);
    entry.writeUInt32BE(at, 8);
    at += value.length;
    return entry;
  });
  const count = Buffer.from([0, values.length]);
  const head = Buffer.from([
    0x4d,
    0x4d,
    0,
    42,
    0,
    0,
    0,
    8,
    0,
    1,
    0x87,
    0x69,
    0,
    4,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    start,
    0,
    0,
    0,
    0,
  ]);
  return Buffer.concat([head, count, ...entries, Buffer.alloc(4), ...values.map(([, , value]) => value)]);
}

/** Apple's maker note: a directory with one tag. */
function makerNote(contentId: string): Buffer {
  const head = Buffer.from("Apple iOS\0\0\x01MM", "latin1");
  const value = Buffer.from(`${contentId}\0`, "latin1");
  const entry = Buffer.alloc(12);
  entry.writeUInt16BE(0x11, 0);
  entry.writeUInt16BE(2, 2);
  entry.writeUInt32BE(value.length, 4);
  entry.writeUInt32BE(head.length + 2 + 12 + 4, 8);
  return Buffer.concat([head, Buffer.from([0, 1]), entry, Buffer.alloc(4), value]);
}

function identifierBox(contentId: string): Buffer {
  const key = box("mdta", Buffer.from("com.apple.quicktime.content.identifier", "latin1"));
  const text = box("data", Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]), Buffer.from(contentId, "latin1"));
  return box("meta", box("keys", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), key), box("ilst", box("\0\0\0\x01", text)));
}

function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}
