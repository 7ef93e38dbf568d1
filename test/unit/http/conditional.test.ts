import { describe, expect, test } from "bun:test";
import { evaluateConditions, matchesIfMatch, parseHttpDate } from "../../../src/http/conditional.ts";

const CURRENT = { etag: '"now"', lastModifiedMs: Date.UTC(2026, 6, 1, 12, 0, 0, 789) };
const BEFORE = "Wed, 01 Jul 2026 11:59:59 GMT";
const SAME = "Wed, 01 Jul 2026 12:00:00 GMT";
const AFTER = "Wed, 01 Jul 2026 12:00:01 GMT";

function measure(headers: Record<string, string>, method = "GET"): string {
  return evaluateConditions(new Headers(headers), method, CURRENT);
}

describe("conditional headers (RFC 9110 §13)", () => {
  test.each<[string, Record<string, string>, string]>([
    ["none", {}, "proceed"],
    ["If-Match with the tag", { "if-match": '"old", "now"' }, "proceed"],
    ["If-Match with any", { "if-match": "*" }, "proceed"],
    ["If-Match with another", { "if-match": '"old"' }, "preconditionFailed"],
    ["If-Match with the tag made weak", { "if-match": 'W/"now"' }, "preconditionFailed"],
    ["If-Match without quotes", { "if-match": "now" }, "preconditionFailed"],
    ["If-Unmodified-Since the time", { "if-unmodified-since": SAME }, "proceed"],
    ["If-Unmodified-Since before", { "if-unmodified-since": BEFORE }, "preconditionFailed"],
    ["If-Unmodified-Since that can't be read", { "if-unmodified-since": "yesterday" }, "proceed"],
    ["If-Match before If-Unmodified-Since", { "if-match": '"now"', "if-unmodified-since": BEFORE }, "proceed"],
    ["If-None-Match with the tag", { "if-none-match": '"now"' }, "notModified"],
    ["If-None-Match with the tag made weak", { "if-none-match": 'W/"now"' }, "notModified"],
    ["If-None-Match with any", { "if-none-match": "*" }, "notModified"],
    ["If-None-Match with another", { "if-none-match": '"old", "older"' }, "proceed"],
    ["If-None-Match with a comma inside a tag", { "if-none-match": '"a,b",, "now"' }, "notModified"],
    ["If-None-Match before If-Modified-Since", { "if-none-match": '"old"', "if-modified-since": AFTER }, "proceed"],
    ["If-Modified-Since the time", { "if-modified-since": SAME }, "notModified"],
    ["If-Modified-Since before", { "if-modified-since": BEFORE }, "proceed"],
    [
      "a failed If-Match before a true If-None-Match",
      { "if-match": '"old"', "if-none-match": '"now"' },
      "preconditionFailed",
    ],
    ["If-Range without Range", { "if-range": '"old"' }, "proceed"],
    ["If-Range with the tag", { "if-range": '"now"', range: "bytes=0-1" }, "proceed"],
    ["If-Range with another", { "if-range": '"old"', range: "bytes=0-1" }, "ignoreRange"],
    ["If-Range with the tag made weak", { "if-range": 'W/"now"', range: "bytes=0-1" }, "ignoreRange"],
    ["If-Range with the time", { "if-range": SAME, range: "bytes=0-1" }, "proceed"],
    ["If-Range with a later time", { "if-range": AFTER, range: "bytes=0-1" }, "ignoreRange"],
    ["If-Range that can't be read", { "if-range": "now", range: "bytes=0-1" }, "ignoreRange"],
    [
      "a true If-None-Match before If-Range",
      { "if-none-match": '"now"', "if-range": '"old"', range: "bytes=0-1" },
      "notModified",
    ],
  ])("%s", (_name, headers, expected) => {
    expect(measure(headers)).toBe(expected);
  });

  test("a write with If-None-Match that matches is rejected, and dates of reading don't count", () => {
    expect(measure({ "if-none-match": "*" }, "PUT")).toBe("preconditionFailed");
    expect(measure({ "if-modified-since": AFTER }, "PUT")).toBe("proceed");
    expect(measure({ "if-none-match": '"now"' }, "HEAD")).toBe("notModified");
  });

  test("If-Match of a write: any and the very tag hold, all else does not", () => {
    expect(matchesIfMatch(' "x" , "now"', '"now"')).toBe(true);
    expect(matchesIfMatch(" * ", '"now"')).toBe(true);
    for (const header of ["", '"', '""', 'W/"now"', '"now', "now", '"NOW"', '* , "x"']) {
      expect([header, matchesIfMatch(header, '"now"')]).toEqual([header, false]);
    }
  });

  test("all three forms of a date are read, and nothing else", () => {
    const seconds = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000;
    expect(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT")).toBe(seconds);
    expect(parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT")).toBe(seconds);
    expect(parseHttpDate("Sun Nov  6 08:49:37 1994")).toBe(seconds);
    for (const text of ["", "0", "1994-11-06", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT"]) {
      expect([text, parseHttpDate(text)]).toEqual([text, undefined]);
    }
  });
});
