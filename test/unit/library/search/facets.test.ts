import { describe, expect, test } from "bun:test";
import {
  dateFacets,
  dateRangeFacets,
  extensionOf,
  facet,
  toFamilies,
  sizeFacet,
  sizeFacets,
} from "../../../../src/features/library/search/facets.ts";
import { seededRandom } from "../../../support/random.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const random = seededRandom(1);

function randomDay(): string {
  return new Date(Date.UTC(1995, 0, 1) + random.below(9_000) * DAY_MS).toISOString().slice(0, 10);
}

describe("dateRangeFacets", () => {
  test("a day has one of a range's words exactly if it is in the range", () => {
    for (let round = 0; round < 3_000; round++) {
      const [from = "", to = ""] = [randomDay(), randomDay()].sort();
      const range = new Set(dateRangeFacets("m", round % 7 === 0 ? null : from, round % 11 === 0 ? null : to));
      for (const day of [randomDay(), from, to]) {
        const isIn = (round % 7 === 0 || day >= from) && (round % 11 === 0 || day <= to);
        expect(dateFacets("m", day).some((word) => range.has(word))).toBe(isIn);
      }
    }
  });

  test("stays small", () => {
    expect(dateRangeFacets("m", null, null)).toHaveLength(200);
    expect(dateRangeFacets("m", "1900-01-02", "2099-12-30").length).toBeLessThan(300);
    expect(dateRangeFacets("p", "2026-01-01", "2026-01-31")).toEqual(["pm202601"]);
  });

  test("years far away are the first or the last one", () => {
    expect(dateFacets("p", "1850-05-05")).toEqual(dateFacets("p", "1900-01-01"));
    expect(dateRangeFacets("p", null, "1850-01-01")).toContain("pd19000101");
  });
});

describe("sizeFacets", () => {
  test("every size within a range has one of its words", () => {
    for (let round = 0; round < 3_000; round++) {
      const anySize = () => Math.floor(2 ** (random.fraction() * 45)) - 1;
      const [min = 0, size = 0, max = 0] = [anySize(), anySize(), anySize()].sort((a, b) => a - b);
      expect(sizeFacets(min, max) ?? [sizeFacet(size)]).toContain(sizeFacet(size));
    }
    expect(sizeFacets(0, null)).toBeUndefined();
  });
});

test("families", () => {
  expect(toFamilies("application/pdf")).toEqual(["document", "pdf"]);
  expect(toFamilies("IMAGE/JPEG; a=b")).toEqual(["image"]);
  expect(toFamilies("application/zip")).toEqual(["archive"]);
  expect(toFamilies("application/vnd.openxmlformats-officedocument.wordprocessingml.document")).toEqual(["document"]);
  expect(toFamilies("text/csv")).toEqual(["text"]);
  expect(toFamilies("")).toEqual(["other"]);
});

test("words of facets are letters and digits for any value", () => {
  for (const text of ["jpg", "JPG", "ö", '"', "a b", "x".repeat(100), ""]) {
    expect(facet("ex", text)).toMatch(/^ex[a-z0-9]{0,30}$/);
  }
  expect(facet("ta", "ä")).not.toBe(facet("ta", "ö"));
  expect(extensionOf(".profile")).toBeUndefined();
  expect(extensionOf("a.tar.GZ")).toBe("gz");
});
