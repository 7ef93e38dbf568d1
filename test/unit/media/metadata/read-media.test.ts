import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMedia as readAll } from "../../../../src/features/media/metadata/read-media.ts";
import { hasMetadata } from "../../../../src/features/media/metadata/types.ts";
import { seededRandom } from "../../../support/random.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-media-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What is described of a file; test/api/live-photos.test.ts has the parts of Live Photos. */
const readMedia = async (path: string, mediaType: string) => (await readAll(path, mediaType)).info;

function fileOf(...parts: Uint8Array[]): string {
  const path = join(directory, crypto.randomUUID());
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

function mvhd(createdSeconds: number, scale: number, duration: number): Buffer {
  const body = Buffer.alloc(100);
  body.writeUInt32BE(createdSeconds + 2_082_844_800, 4);
  body.writeUInt32BE(scale, 12);
  body.writeUInt32BE(duration, 16);
  return box("mvhd", body);
}

/** A track of this size; optionally turned by 90 degrees. */
function trak(width: number, height: number, isTurned = false): Buffer {
  const body = Buffer.alloc(84);
  body.writeInt32BE(isTurned ? 0 : 65_536, 40);
  body.writeInt32BE(isTurned ? 65_536 : 0, 44);
  body.writeUInt32BE(width * 65_536, 76);
  body.writeUInt32BE(height * 65_536, 80);
  return box("trak", box("tkhd", body));
}

const ftyp = box("ftyp", Buffer.from("qt  \0\0\0\0qt  "));

describe("readMedia of videos", () => {
  test("reads a header at the end, and the largest track, turned for display", async () => {
    const head = box("moov", mvhd(1_600_000_000, 600, 900), trak(0, 0), trak(1920, 1080, true));
    const written = await readMedia(fileOf(ftyp, box("mdat", Buffer.alloc(5000)), head), "video/quicktime");
    expect(written).toMatchObject({ width: 1080, height: 1920, durationMs: 1500, takenAt: "2020-09-13T12:26:40Z" });
  });

  test("time and position written by the phone take precedence over the clock", async () => {
    const position = box("udta", box("\u00a9xyz", Buffer.from("\0\x12\x15\xc7+48.2082+016.3738/")));
    const keys = box("meta", Buffer.from("com.apple.quicktime.creationdate 2021-07-01T12:30:00+0200"));
    const head = box("moov", mvhd(1_600_000_000, 1, 1), trak(4, 2), position, keys);
    expect(await readMedia(fileOf(ftyp, head), "video/mp4")).toMatchObject({
      takenAt: "2021-07-01T12:30:00+02:00",
      latitude: 48.2082,
      longitude: 16.3738,
    });
  });

  test("the time of a clock that was never set is ignored", async () => {
    const head = box("moov", mvhd(-2_082_844_800, 0, 5), trak(4, 2));
    expect(await readMedia(fileOf(ftyp, head), "video/mp4")).toMatchObject({
      takenAt: null,
      durationMs: null,
      width: 4,
    });
  });

  test("any bytes are read without a hang or an error", async () => {
    const good = Buffer.concat([ftyp, box("moov", mvhd(1, 1, 1), trak(4, 2, true), box("udta", Buffer.alloc(30)))]);
    const random = seededRandom(1);
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(good.subarray(0, 1 + random.below(good.length)));
      for (let index = 0; index < 6; index++) bytes[random.below(bytes.length)] = random.below(256);
      await readMedia(fileOf(bytes), "video/mp4").catch((error: unknown) => expect(error).toBeInstanceOf(Error));
    }
  }, 120_000);
});

test("types with metadata", () => {
  for (const type of ["image/jpeg", "IMAGE/HEIC", "audio/mpeg", "video/webm; codecs=vp9", "application/ogg"]) {
    expect(hasMetadata(type)).toBe(true);
  }
  for (const type of ["image/svg+xml", "text/plain", "application/pdf", "image/jpegx", ""]) {
    expect(hasMetadata(type)).toBe(false);
  }
});
