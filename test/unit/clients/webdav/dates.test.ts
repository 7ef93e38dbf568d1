import { expect, test } from "bun:test";
import { httpDate, isoDate, storableDate } from "../../../../src/features/clients/webdav/properties/dates.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";

test.each(seedsToRun([1]))("dates are those of the platform, before 1970 too (seed %d)", (seed) => {
  const random = seededRandom(seed);
  const some = Array.from({ length: 5_000 }, () => (random.fraction() - 0.5) * 2 * random.pick([1e5, 1e9, 1e12, 8e13]));
  for (const ms of [0, -1, 86_399_999, 86_400_000, ...some.map(Math.round)]) {
    const date = new Date(Math.floor(ms / 1000) * 1000);
    expect([httpDate(ms), isoDate(ms)]).toEqual([date.toUTCString(), date.toISOString().replace(".000Z", "Z")]);
  }
});

test("a date whose year does not have four digits is not stored", () => {
  expect(storableDate(Date.parse("0001-01-01T00:00:00Z"))).toBe("0001-01-01T00:00:00.000Z");
  expect(storableDate(Date.parse("9999-12-31T23:59:59.999Z") + 0.4)).toBe("9999-12-31T23:59:59.999Z");
  for (const ms of [Date.parse("0001-01-01T00:00:00Z") - 1, Date.UTC(10_000, 0, 1), 1e15, -1e15, 1e300, Number.NaN]) {
    expect(storableDate(ms)).toBeUndefined();
  }
});
