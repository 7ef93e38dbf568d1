import { describe, expect, test } from "bun:test";
import { isUnchangedSidecar, type PhotoFacts, toSidecar } from "../../../../src/features/storage/import-export/xmp.ts";

const nothing: PhotoFacts = {
  description: undefined,
  tags: [],
  capturedAt: undefined,
  location: undefined,
  isFavorite: false,
  albums: [],
};

describe("a sidecar", () => {
  test("is recognized by its digest, until it is changed", () => {
    const text = toSidecar({ ...nothing, tags: ["red"] });
    expect(toSidecar({ ...nothing, tags: ["red"] })).toBe(text);
    expect(isUnchangedSidecar(text)).toBe(true);
    for (const changed of [
      text.replace("red", "blue"),
      `${text}\n`,
      text.replace("Larder", "Other"),
      text.slice(1),
      "",
    ]) {
      expect(isUnchangedSidecar(changed)).toBe(false);
    }
  });

  test.each([
    [48.2082, "48,12.492000N"],
    [-0.5, "0,30.000000S"],
    [0, "0,0.000000N"],
    [-89.99999999, "89,59.999999S"],
    [89.999999999, "90,0.000000N"],
  ])("states the latitude %d in degrees and minutes", (latitude, expected) => {
    const text = toSidecar({ ...nothing, location: { latitude, longitude: 0 } });
    expect(/<exif:GPSLatitude>(.*)<\/exif:GPSLatitude>/.exec(text)?.[1]).toBe(expected);
  });
});
