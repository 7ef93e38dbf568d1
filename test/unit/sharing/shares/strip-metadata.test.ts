import { describe, expect, test } from "bun:test";
import sharp from "sharp";
import { canStrip, stripMetadata } from "../../../../src/features/sharing/shares/strip-metadata.ts";
import { jpegPhoto } from "../../../support/images.ts";

const GPS = {
  IFD0: { Make: "LarderCam", Artist: "Somebody" },
  IFD3: { GPSLatitude: "52/1 31/1 0/1", GPSLatitudeRef: "N" },
};
const XMP =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">LarderXmp</rdf:RDF></x:xmpmeta>';

const picture = () =>
  sharp({ create: { width: 48, height: 32, channels: 3, background: { r: 200, g: 90, b: 10 } } })
    .withExif(GPS)
    .withXmp(XMP)
    .withIccProfile("p3");

function strip(bytes: Uint8Array, mediaType: string): Buffer {
  const parts = stripMetadata(bytes, mediaType);
  if (parts === undefined) throw new Error("it was not stripped");
  return Buffer.concat(parts);
}

const pixels = async (bytes: Uint8Array) => sharp(bytes).raw().toBuffer();

describe.each([
  ["image/jpeg", () => picture().jpeg().toBuffer()],
  ["image/jpeg", () => picture().jpeg({ progressive: true }).toBuffer()],
  ["image/png", () => picture().png().toBuffer()],
  ["image/webp", () => picture().webp().toBuffer()],
  ["image/webp", () => picture().webp({ lossless: true }).toBuffer()],
] as const)("%s", (mediaType, make) => {
  test("removes what the camera wrote, and keeps colors and profile", async () => {
    const before = await make();
    const after = strip(before, mediaType);
    expect(before.includes("LarderCam")).toBe(true);
    for (const withRemark of ["LarderCam", "Somebody", "LarderXmp", "GPS"])
      expect(after.includes(withRemark)).toBe(false);
    const { exif, xmp, icc, width, height } = await sharp(after).metadata();
    expect({ exif, xmp, width, height }).toEqual({ exif: undefined, xmp: undefined, width: 48, height: 32 });
    expect(icc).toBeDefined();
    expect(await pixels(after)).toEqual(await pixels(before));
    // Stripping again changes nothing.
    expect(strip(after, mediaType)).toEqual(after);
  });

  test("truncated or random bytes never throw, and never reveal metadata", async () => {
    const whole = await make();
    for (let length = 0; length < whole.length; length += 7) {
      const parts = stripMetadata(whole.subarray(0, length), mediaType);
      if (parts !== undefined) expect(Buffer.concat(parts).includes("LarderCam")).toBe(false);
    }
    for (let seed = 1; seed < 400; seed++) {
      const damaged = Buffer.from(whole);
      for (let index = 0; index < 5; index++)
        damaged[(seed * 7919 * (index + 1)) % damaged.length] = (seed * 31 + index) & 0xff;
      expect(() => stripMetadata(damaged, mediaType)).not.toThrow();
    }
  });
});

describe("the orientation", () => {
  test.each([1, 3, 6, 8])("is kept: %d", async (orientation) => {
    const after = strip(await jpegPhoto(40, 20, orientation), "image/jpeg");
    expect(after.includes("LarderCam")).toBe(false);
    expect((await sharp(after).metadata()).orientation ?? 1).toBe(orientation);
  });

  test("is kept in PNG and WebP, too", async () => {
    const source = await sharp({ create: { width: 8, height: 4, channels: 3, background: "red" } })
      .withMetadata({ orientation: 6 })
      .png()
      .toBuffer();
    expect((await sharp(strip(source, "image/png")).metadata()).orientation).toBe(6);
    const webp = await sharp(source, { autoOrient: false })
      .keepMetadata()
      .withMetadata({ orientation: 6 })
      .webp()
      .toBuffer();
    expect((await sharp(strip(webp, "image/webp")).metadata()).orientation).toBe(6);
  });
});

test("bytes after the end of a JPEG are removed, as a second picture has its own metadata", async () => {
  const jpeg = await picture().jpeg().toBuffer();
  const bare = strip(jpeg, "image/jpeg");
  expect(strip(Buffer.concat([jpeg, jpeg, Buffer.from("LarderCam")]), "image/jpeg")).toEqual(bare);
});

test("comments and unknown segments are removed, and what decoding needs is kept", () => {
  const segment = (marker: number, body: string) =>
    Buffer.concat([Buffer.from([0xff, marker, 0, body.length + 2]), Buffer.from(body, "latin1")]);
  const scan = Buffer.concat([segment(0xda, "\x01\x01\x00\x00\x3f\x00"), Buffer.from([1, 0xff, 0, 2, 0xff, 0xd0, 3])]);
  const jpeg = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xfe, "remark"),
    segment(0xed, "Photoshop 3.0"),
    segment(0xeb, "JUMBF"),
    segment(0xe2, "MPF\0"),
    // A segment with an unassigned number is removed, with any content.
    segment(0xf3, "extension"),
    segment(0x50, "reserved"),
    segment(0xdb, "tables"),
    segment(0xee, "Adobe\0"),
    scan,
    segment(0xc4, "more"),
    scan,
    Buffer.from([0xff, 0xd9]),
  ]);
  const bare = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, "tables"),
    segment(0xee, "Adobe\0"),
    scan,
    segment(0xc4, "more"),
    scan,
    Buffer.from([0xff, 0xd9]),
  ]);
  expect(strip(jpeg, "image/jpeg")).toEqual(bare);
});

test("an animated WebP is stripped only if its frames contain nothing but image data", async () => {
  const pages = [0, 90, 180].map((red) =>
    sharp({ create: { width: 8, height: 8, channels: 3, background: { r: red, g: 0, b: 0 } } })
      .png()
      .toBuffer(),
  );
  const animation = await sharp(await Promise.all(pages), { join: { animated: true } })
    .webp()
    .toBuffer();
  expect(strip(animation, "image/webp")).toEqual(animation);
  const frame = animation.indexOf("ANMF");
  const length = animation.readUInt32LE(frame + 4);
  const remark = Buffer.from("NOTE\x06\0\0\0remark", "latin1");
  const withRemark = Buffer.concat([
    animation.subarray(0, frame + 8 + length),
    remark,
    animation.subarray(frame + 8 + length),
  ]);
  withRemark.writeUInt32LE(length + remark.length, frame + 4);
  withRemark.writeUInt32LE(withRemark.length - 8, 4);
  expect(stripMetadata(withRemark, "image/webp")).toBeUndefined();
});

test("a file with too many segments is rejected early, as reading it to its end took seconds", () => {
  const isStripped = (mediaType: string, count: number, head: string, part: string, end: string) => {
    const parts = Array.from({ length: count }, () => Buffer.from(part, "hex"));
    const bytes = Buffer.concat([Buffer.from(head, "hex"), ...parts, Buffer.from(end, "hex")]);
    return stripMetadata(bytes, mediaType) !== undefined;
  };
  const idat = "000000004944415400000000";
  const isOfMany = (count: number) => [
    isStripped("image/jpeg", count, "ffd8", "ffdd0002", "ffda0002ffd9"),
    isStripped("image/png", count, "89504e470d0a1a0a000000004948445200000000", idat, "0000000049454e4400000000"),
    isStripped("image/webp", count, "52494646ffffff0057454250", "5650382000000000", ""),
  ];
  expect(isOfMany(100)).toEqual([true, true, true]);
  expect(isOfMany(20_000)).toEqual([false, false, false]);
});

test("other types are not supported", () => {
  expect(canStrip("image/heic")).toBe(false);
  expect(stripMetadata(new Uint8Array(100), "image/tiff")).toBeUndefined();
  expect(canStrip("toString")).toBe(false);
});
