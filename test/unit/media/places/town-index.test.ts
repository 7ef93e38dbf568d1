import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { READING_VERSION } from "../../../../src/features/media/metadata/types.ts";
import { TownIndex } from "../../../../src/features/media/places/town-index.ts";

const content = readFileSync(join(import.meta.dir, "../../../../src/features/media/places/towns.bin"));
const towns = new TownIndex(content);
const nameAt = (latitude: number, longitude: number) => towns.find(latitude, longitude)?.name;

test("the towns of the world take less than a megabyte, and each version of them has a number", () => {
  expect(content.length).toBeLessThan(1_000_000);
  expect(towns.count).toBeGreaterThan(80_000);
  // Other towns: raise READING_VERSION, so that photos get their new places.
  expect([READING_VERSION, createHash("sha256").update(content).digest("hex").slice(0, 16)]).toEqual(VERSION);
});

const VERSION = [1, "cef3479fdb0cb546"];

describe("find", () => {
  test("returns the town with its region, its country and its position", () => {
    expect(towns.find(38.7167, -9.1333)).toEqual({
      id: 2_267_057,
      name: "Lisbon",
      region: "Lisbon",
      country: "PT",
      latitude: 38.72,
      longitude: -9.13,
    });
  });

  test("a city covers its suburbs, but a town next to it keeps its name", () => {
    // Spandau is nearer to the center of Falkensee than to that of Berlin.
    expect(nameAt(52.5351, 13.2)).toBe("Berlin");
    expect(nameAt(52.56, 13.0927)).toBe("Falkensee");
    expect(nameAt(48.8474, 2.4393)).toBe("Vincennes");
  });

  test("names a town nearby where there is none, and nothing far from all towns", () => {
    expect(nameAt(71.17, 25.78)).toBe("Honningsvåg");
    expect(nameAt(0, -150)).toBeUndefined();
    expect(nameAt(-77.85, 166.67)).toBeUndefined();
    expect(nameAt(90, 0)).toBeUndefined();
    expect(nameAt(Number.NaN, 0)).toBeUndefined();
    expect(nameAt(100, 0)).toBeUndefined();
  });

  test("searches across the date line", () => {
    expect(towns.find(-17.8, -179.99)?.country).toBe("FJ");
    expect(towns.find(-17.8, 179.99)?.country).toBe("FJ");
  });
});
