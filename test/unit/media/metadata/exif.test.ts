import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { readExif, readLocation } from "../../../../src/features/media/metadata/exif.ts";

const NOTHING = { capturedAt: undefined, location: undefined };

type Format = "jpeg" | "png" | "webp" | "avif";

/** A small picture with these tags: IFD2 for the camera, IFD3 for GPS. */
async function pictureWith(
  tags: { IFD2?: Record<string, string>; IFD3?: Record<string, string> },
  format: Format = "jpeg",
): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp({ create: { width: 16, height: 16, channels: 3, background: "red" } });
  return new Uint8Array(await picture.withExif(tags).toFormat(format).toBuffer());
}

const VIENNA = {
  GPSLatitudeRef: "N",
  GPSLatitude: "48/1 12/1 2952/100",
  GPSLongitudeRef: "E",
  GPSLongitude: "16/1 22/1 2568/100",
};

describe("readExif", () => {
  test("reads time, offset and place from every format that has them", async () => {
    const IFD2 = { DateTimeOriginal: "2026:07:01 12:30:00", OffsetTimeOriginal: "+02:00" };
    for (const format of ["jpeg", "png", "webp", "avif"] as const) {
      const picture = await pictureWith({ IFD2, IFD3: VIENNA }, format);
      expect(await readExif(picture, `image/${format}`)).toEqual({
        capturedAt: "2026-07-01T12:30:00+02:00",
        location: "48.2082,16.3738",
      });
    }
  });

  test("returns south and west as negative", async () => {
    const IFD3 = { ...VIENNA, GPSLatitudeRef: "S", GPSLongitudeRef: "W" };
    expect((await readExif(await pictureWith({ IFD3 }), "image/jpeg")).location).toBe("-48.2082,-16.3738");
  });

  test("derives a missing offset from the GPS time, and otherwise takes the time as UTC", async () => {
    const IFD2 = { DateTimeOriginal: "2026:07:01 12:30:05" };
    const IFD3 = { GPSDateStamp: "2026:07:01", GPSTimeStamp: "7/1 0/1 3/1" };
    expect((await readExif(await pictureWith({ IFD2, IFD3 }), "image/jpeg")).capturedAt).toBe(
      "2026-07-01T12:30:05+05:30",
    );
    expect((await readExif(await pictureWith({ IFD2 }), "image/jpeg")).capturedAt).toBe("2026-07-01T12:30:05Z");
    const unlikely = { GPSDateStamp: "2026:07:20", GPSTimeStamp: "7/1 0/1 3/1" };
    const picture = await pictureWith({ IFD2, IFD3: unlikely });
    expect((await readExif(picture, "image/jpeg")).capturedAt).toBe("2026-07-01T12:30:05Z");
  });

  test("ignores invalid tags", async () => {
    for (const DateTimeOriginal of ["0000:00:00 00:00:00", "    :  :     :  :  ", "2026:13:40 99:99:99", "today"]) {
      const picture = await pictureWith({ IFD2: { DateTimeOriginal } });
      expect((await readExif(picture, "image/jpeg")).capturedAt).toBeUndefined();
    }
    const zeros = { ...VIENNA, GPSLatitude: "0/1 0/1 0/1", GPSLongitude: "0/1 0/1 0/1" };
    expect((await readExif(await pictureWith({ IFD3: zeros }), "image/jpeg")).location).toBeUndefined();
    const { GPSLongitude: _, ...half } = VIENNA;
    expect((await readExif(await pictureWith({ IFD3: half }), "image/jpeg")).location).toBeUndefined();
  });

  test("never throws", async () => {
    const whole = await pictureWith({ IFD2: { DateTimeOriginal: "2026:07:01 12:30:00" }, IFD3: VIENNA });
    for (let end = 0; end < whole.length; end += 7) await readExif(whole.slice(0, end), "image/jpeg");
    for (let round = 0; round < 200; round++) {
      const broken = whole.slice();
      for (let count = 0; count < 5; count++) broken[(round * 31 + count * 17) % 400] = (round * 7 + count) % 256;
      await readExif(broken, "image/jpeg");
    }
    for (const name of ["broken.png", "truncated.jpg", "bomb.png", "text-as.jpg", "phone.heic", "clip.mp4"]) {
      const bytes = new Uint8Array(await readFile(`test/fixtures/images/${name}`));
      for (const type of ["image/jpeg", "image/heic", "image/png"]) await readExif(bytes, type);
    }
    expect(await readExif(new Uint8Array(), "image/jpeg")).toEqual(NOTHING);
    expect(await readExif(whole, "text/plain")).toEqual(NOTHING);
  });
});

test("readLocation accepts degrees within their ranges", () => {
  expect(readLocation(" 48.2082, -16.3738 ")).toBe("48.2082, -16.3738");
  for (const text of ["90,180", "-90,-180", "0,0", "+1,2"]) expect(readLocation(text)).toBe(text);
  for (const text of ["90.1,0", "0,180.5", "1", "1,2,3", "a,b", "", "1e1,2", "NaN,0"]) {
    expect(readLocation(text)).toBeUndefined();
  }
});
