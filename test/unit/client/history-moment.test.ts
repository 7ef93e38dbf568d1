import { describe, expect, test } from "bun:test";
import {
  fromLocalInput,
  HOURS_MAX,
  hoursAgo,
  hoursSince,
  readMoment,
  toLocalInput,
} from "../../../src/client/features/history/moment.ts";

const NOW = Date.parse("2026-06-15T12:34:56.789Z");

describe("moments of the past", () => {
  test("convert to hours ago and back", () => {
    expect(hoursAgo(24, NOW)).toBe("2026-06-14T12:34:00.000Z");
    for (const hours of [0, 1, 24, HOURS_MAX]) expect(hoursSince(hoursAgo(hours, NOW), NOW)).toBe(hours);
    expect(hoursSince("2001-01-01T00:00:00Z", NOW)).toBe(HOURS_MAX);
    expect(hoursSince("2099-01-01T00:00:00Z", NOW)).toBe(0);
  });

  test("keep their seconds in the form field, in every time zone", () => {
    for (const iso of ["2026-01-15T23:59:58.000Z", "2026-07-15T00:00:01.000Z"]) {
      expect(fromLocalInput(toLocalInput(iso))).toBe(iso);
    }
    expect(fromLocalInput("")).toBeUndefined();
    expect(fromLocalInput("soon")).toBeUndefined();
  });

  test("are read from an address only if they are valid", () => {
    expect(readMoment("2026-01-15T23:59:58Z")).toBe("2026-01-15T23:59:58Z");
    for (const none of [undefined, "", "yesterday"]) expect(readMoment(none)).toBeUndefined();
  });
});
