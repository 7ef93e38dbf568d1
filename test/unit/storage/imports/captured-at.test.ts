// The capture time of a photo whose source knows only UTC.
import { expect, test } from "bun:test";
import { combine } from "../../../../src/features/storage/imports/captured-at.ts";

const GIVEN = "2019-07-01T10:00:00Z";

test.each([
  ["local time of a camera in Vienna", "2019-07-01T12:00:00Z", "2019-07-01T12:00:00+02:00"],
  ["a second of rounding", "2019-07-01T12:00:01Z", "2019-07-01T12:00:01+02:00"],
  ["India", "2019-07-01T15:30:00Z", "2019-07-01T15:30:00+05:30"],
  ["west of Greenwich, on the day before", "2019-06-30T23:00:00Z", "2019-06-30T23:00:00-11:00"],
  ["a camera in UTC", "2019-07-01T10:00:00Z", "2019-07-01T10:00:00+00:00"],
  ["no difference that an offset explains", "2019-07-01T12:07:00Z", GIVEN],
  ["another day, set by a person", "2015-01-01T00:00:00Z", GIVEN],
  ["another time with an offset, set by a person", "2019-07-01T13:00:00+02:00", GIVEN],
  ["no time", "unknown", GIVEN],
])("%s", (_, own, expected) => {
  expect(combine(GIVEN, own)).toBe(expected);
});

test("the photo itself is enough if it says the same with an offset", () => {
  expect(combine(GIVEN, "2019-07-01T12:00:00+02:00")).toBeUndefined();
});
