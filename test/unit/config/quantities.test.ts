import { describe, expect, test } from "bun:test";
import { describeSize, formatSize, parseDuration, parseSize } from "../../../src/config/quantities.ts";

describe("a size", () => {
  test.each([
    ["0", 0],
    ["4096", 4096],
    ["10MB", 10_485_760],
    ["10 MB", 10_485_760],
    ["10mib", 10_485_760],
    ["10M", 10_485_760],
    ["1.5GB", 1_610_612_736],
    ["512k", 524_288],
    ["7B", 7],
    [" 1TB ", 1_099_511_627_776],
  ])("%p is %p bytes", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  test.each(["", "-1", "1e3", "10XB", "MB", "10 M B", "0x10", "NaN", "Infinity", "9999999PB", "1,5GB"])(
    "%p is none",
    (text) => expect(parseSize(text)).toBeUndefined(),
  );

  test.each([0, 1, 1023, 1024, 1025, 10_485_760, 1_610_612_736, 2 ** 53 - 1])(
    "of %p bytes reads back the same",
    (bytes) => expect(parseSize(formatSize(bytes))).toBe(bytes),
  );

  test("is rounded for the eye", () => {
    expect([0, 1023, 1536, 1_500_000_000].map(describeSize)).toEqual(["0 B", "1023 B", "1.5 KB", "1.4 GB"]);
  });
});

describe("a duration", () => {
  test.each([
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["7d", 604_800_000],
    ["2W", 1_209_600_000],
    ["0s", 0],
  ])("%p is %p ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(["", "30", "-1s", "1.5h", "1y", "s", "1h 30m", "99999999999999999d"])("%p is none", (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );
});
