import { beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";
import type { Account } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer();

const TAKEN = "2019:03:04 05:06:07";

let owner: Account;

beforeAll(async () => {
  owner = await server().signUp();
});

/** A photo of 60 × 40 pixels: red left, blue right, with the date it was taken. */
function photo() {
  const left = { create: { width: 30, height: 40, channels: 3 as const, background: "#ff0000" } };
  return sharp({ create: { width: 60, height: 40, channels: 3, background: "#0000ff" } })
    .composite([{ input: left, left: 0, top: 0 }])
    .withExif({ IFD0: { Make: "Camera" }, IFD2: { DateTimeOriginal: TAKEN }, IFD3: { GPSLatitudeRef: "N" } });
}

async function upload(bytes: Uint8Array, name: string, fileModifiedAt = "2019-03-04T05:06:07.000Z"): Promise<string> {
  const made = await owner.client.upload(bytes, { name, fields: { fileModifiedAt } });
  expectStatus(made, 201);
  return made.string("data.id");
}

const edit = (id: string, body: object, headers: Record<string, string> = {}, as = owner) =>
  as.client.post(`/api/files/${id}/edit`, body, headers);

async function download(id: string): Promise<Buffer> {
  return Buffer.from((await owner.client.get(`/api/files/${id}/download`)).bytes);
}

/** The color of a displayed pixel, rounded: encoders are not exact. */
async function colorAt(bytes: Buffer, x: number, y: number): Promise<string> {
  const { data, info } = await sharp(bytes).autoOrient().removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + 3)].map((value) => (value > 200 ? "f" : value < 60 ? "0" : "?")).join("");
}

describe("editing a picture", () => {
  test("rotates a JPEG by its tag alone, as a new version that keeps date and metadata", async () => {
    const bytes = await photo().jpeg().toBuffer();
    const id = await upload(bytes, "rotated.jpg");
    const rotated = await edit(id, { rotate: 90 });
    expectStatus(rotated, 200);
    expect(rotated.number("data.version")).toBe(2);
    const info = await owner.client.get(`/api/files/${id}`);
    expect(Date.parse(info.string("data.fileModifiedAt"))).toBe(Date.parse("2019-03-04T05:06:07Z"));
    const after = await download(id);
    const { orientation, width, exif } = await sharp(after).metadata();
    expect([orientation, width, exif?.includes(TAKEN)]).toEqual([6, 60, true]);
    // The coded picture is the same: everything from the first table on.
    const coded = (of: Buffer) => of.subarray(of.indexOf(Buffer.from([0xff, 0xdb])));
    expect(coded(after).equals(coded(bytes))).toBe(true);
    expect([await colorAt(after, 20, 5), await colorAt(after, 20, 55)]).toEqual(["f00", "00f"]);
    const versions = await owner.client.get(`/api/files/${id}/versions`);
    expect(versions.strings("data.versions", "checksum").length).toBe(2);
  });

  for (const format of ["jpeg", "png", "webp", "avif"] as const) {
    test(`crops a ${format}, and keeps its metadata`, async () => {
      const id = await upload(await photo().toFormat(format, { lossless: true }).toBuffer(), `cropped.${format}`);
      const cropped = await edit(id, { rotate: 90, crop: { x: 0, y: 20, width: 40, height: 30 } });
      expectStatus(cropped, 200);
      const after = await download(id);
      const { width, height, exif, format: found } = await sharp(after).metadata();
      expect([found, width, height]).toEqual([format === "avif" ? "heif" : format, 40, 30]);
      expect([exif?.includes("Camera"), exif?.includes(TAKEN)]).toEqual([true, true]);
      // Rotated clockwise, the red half is on top: rows 0 to 29, of which 20 to 49 are kept.
      expect([await colorAt(after, 20, 2), await colorAt(after, 20, 27)]).toEqual(["f00", "00f"]);
    });
  }

  test("removes the thumbnail in the metadata, which still shows what was cropped away", async () => {
    const thumbnail = await sharp({ create: { width: 80, height: 60, channels: 3, background: "#00ff00" } })
      .jpeg()
      .toBuffer();
    for (const format of ["jpeg", "png", "webp", "avif"] as const) {
      const id = await upload(
        await sharp(withThumbnail(await photo().jpeg().toBuffer(), thumbnail))
          .keepMetadata()
          .toFormat(format)
          .toBuffer(),
        `thumb.${format}`,
      );
      expect((await download(id)).includes(thumbnail.subarray(100, 300))).toBe(true);
      expectStatus(await edit(id, { crop: { x: 0, y: 0, width: 10, height: 10 } }), 200);
      const after = await download(id);
      expect([format, after.includes(thumbnail.subarray(100, 300))]).toEqual([format, false]);
      expect((await sharp(after).stats()).channels.length).toBeGreaterThanOrEqual(3);
    }
  });

  test("removes the thumbnails of Photoshop and of XMP, and leaves the rest of both", async () => {
    const jpeg = await photo().jpeg().toBuffer();
    const thumbnail = "the whole picture, small";
    const resource = (id: number, data: string) => {
      const head = Buffer.from(`8BIM\0\0\0\0\0\0\0\0`, "latin1");
      head.writeUInt16BE(id, 4);
      head.writeUInt32BE(data.length, 8);
      return Buffer.concat([head, Buffer.from(data.length % 2 === 0 ? data : `${data}\0`, "latin1")]);
    };
    const photoshop = Buffer.concat([
      Buffer.from("Photoshop 3.0\0", "latin1"),
      resource(0x0404, "\x1c\x02\x78\0\x07caption"),
      resource(0x040c, thumbnail),
    ]);
    const xmp = Buffer.from(
      `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><xmpGImg:image>${thumbnail}</xmpGImg:image>` +
        "<dc:title>At the lake</dc:title></x:xmpmeta>",
      "latin1",
    );
    const segment = (marker: number, body: Buffer) =>
      Buffer.concat([Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 0xff]), body]);
    const start = Buffer.concat([jpeg.subarray(0, 2), segment(0xed, photoshop), segment(0xe1, xmp)]);
    const id = await upload(Buffer.concat([start, jpeg.subarray(2)]), "photoshop.jpg");
    expectStatus(await edit(id, { crop: { x: 0, y: 0, width: 10, height: 10 } }), 200);
    const after = (await download(id)).toString("latin1");
    expect(after).not.toContain(thumbnail);
    expect([after.includes("caption"), after.includes("At the lake")]).toEqual([true, true]);
  });

  test("rejects what can't be edited with the reason, and changes nothing", async () => {
    const gif = await upload(await Bun.file("test/fixtures/images/animated.gif").bytes(), "moving.gif");
    const text = await upload(Buffer.from("no picture"), "note.txt");
    const fake = await upload(Buffer.concat([(await photo().jpeg().toBuffer()).subarray(0, 200)]), "cut.jpg");
    const heic = await upload(await Bun.file("test/fixtures/images/phone.heic").bytes(), "phone.heic");
    const crop = { x: 0, y: 0, width: 5, height: 5 };
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
    const svg = await upload(Buffer.from(drawing), "drawing.svg");
    const tiff = await upload(await photo().tiff().toBuffer(), "scan.tif");
    for (const [id, body, reason] of [
      [gif, { crop }, "GIF"],
      [gif, { rotate: 90 }, "GIF"],
      [svg, { crop }, "drawing"],
      [svg, { rotate: 90 }, "drawing"],
      [tiff, { crop }, "TIFF can be rotated, but not cropped"],
      [text, { rotate: 90 }, "not an image"],
      [fake, { crop }, ""],
      [heic, { crop }, "HEIC can be rotated, but not cropped"],
    ] as const) {
      const rejected = await edit(id, body);
      expectError(rejected, 415, "unsupported_media_type");
      expect(rejected.string("error.message")).toContain(reason);
      expect((await owner.client.get(`/api/files/${id}`)).number("data.version")).toBe(1);
    }
    const id = await upload(await photo().png().toBuffer(), "small.png");
    expectError(await edit(id, { crop: { x: 50, y: 0, width: 11, height: 5 } }), 400, "invalid_field", "crop");
    for (const body of [
      {},
      { rotate: 45 },
      { crop: { x: -1, y: 0, width: 1, height: 1 } },
      { crop: { x: 0.5, y: 0, width: 1, height: 1 } },
      { crop: { x: 0, y: 0, width: 0, height: 1 } },
    ]) {
      expectError(await edit(id, body), 400, "invalid_field");
    }
  });

  test("is for people who may change the file, and for the content that they saw", async () => {
    const id = await upload(await photo().jpeg().toBuffer(), "mine.jpg");
    expectStatus(await edit(id, { rotate: 90 }, {}, await server().signUp()), 404);
    expectError(await edit(id, { rotate: 90 }, { "if-match": '"other"' }), 412, "precondition_failed");
    const etag = (await owner.client.get(`/api/files/${id}/download`)).header("etag");
    expectStatus(await edit(id, { rotate: 90 }, { "if-match": etag }), 200);
    expectStatus(await edit(id, { rotate: 90 }, { "if-match": etag }), 412);
  });

  test("of two at once, the second does not undo the first", async () => {
    const id = await upload(await photo().jpeg().toBuffer(), "twice.jpg");
    const results = await Promise.all([edit(id, { rotate: 90 }), edit(id, { rotate: 90 }), edit(id, { rotate: 90 })]);
    const done = results.filter(({ status }) => status === 200).length;
    for (const { status } of results) expect([200, 412]).toContain(status);
    const { orientation } = await sharp(await download(id)).metadata();
    expect(orientation).toBe([1, 6, 3, 8][done]);
  });
});

testAllResponses(server);

/** A JPEG whose Exif data has a thumbnail. */
function withThumbnail(jpeg: Buffer, thumbnail: Buffer): Buffer {
  const plainAt = jpeg.indexOf(Buffer.from([0xff, 0xdb]));
  const tiff = Buffer.alloc(8 + 2 + 12 + 4 + 2 + 36 + 4);
  tiff.write("II*\0\b\0\0\0", 0, "latin1");
  const entry = (at: number, tag: number, type: number, value: number) => {
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(1, at + 4);
    tiff.writeUInt32LE(value, at + 8);
  };
  tiff.writeUInt16LE(1, 8);
  entry(10, 0x0112, 3, 1);
  tiff.writeUInt32LE(26, 22);
  tiff.writeUInt16LE(3, 26);
  entry(28, 0x0103, 4, 6);
  entry(40, 0x0201, 4, tiff.length);
  entry(52, 0x0202, 4, thumbnail.length);
  const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff, thumbnail]);
  const size = body.length + 2;
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1, size >> 8, size & 0xff]), body, jpeg.subarray(plainAt)]);
}
