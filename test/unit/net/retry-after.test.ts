import { expect, test } from "bun:test";
import { parseRetryAfter } from "../../../src/net/retry-after.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");

test.each([
  ["7", 7000],
  [" 0 ", 0],
  ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
  ["Sunday, 01-Mar-26 12:00:30 GMT", 30_000],
  ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
  ["999999999999", 86_400_000],
  ["-5", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
])("Retry-After: %s is %p ms", (value, ms) => {
  expect(parseRetryAfter(value, NOW_MS)).toBe(ms);
});
