import { describe, expect, test } from "bun:test";
import { contentDisposition } from "../../../src/http/content-disposition.ts";
import { readFileName, parseDisposition } from "../../support/disposition.ts";
import { seededRandom } from "../../support/random.ts";

const HOSTILE = [
  "plain.txt",
  "two words.txt",
  'a"; filename="evil.exe',
  'a"; filename=evil.exe; x="',
  "a; filename=evil.exe",
  "a\"; filename*=UTF-8''evil.exe",
  "; filename=evil.exe",
  '"',
  '""',
  "\\",
  '\\"',
  'ends with \\"; filename="x',
  "100%25.exe",
  "%22; filename=%22evil.exe",
  "filename=evil.exe",
  "  spaces around  ",
  "=",
  "a\r\nSet-Cookie: a=b",
  "a\u0000b",
  "tab\there",
  "€ 日本 \u{1f4f7}.jpg",
  'é"; filename="evil.exe',
  "\u202etxt.exe",
  "it's; 'quoted'.txt",
  "~`!@#$%^&()_+{}|:<>?[],.txt",
];

describe("a Content-Disposition header", () => {
  test.each(HOSTILE)("names %j as it is, and nothing else", (name) => {
    for (const inline of [true, false]) {
      const header = contentDisposition(name, inline);
      const { type, parameters } = parseDisposition(header);
      expect(type).toBe(inline ? "inline" : "attachment");
      expect([...parameters.keys()].filter((key) => key !== "filename" && key !== "filename*")).toEqual([]);
      expect(readFileName(header)).toBe(name);
      expect(header).toContain('filename="');
    }
  });

  test("of a plain name quotes it as it is", () => {
    expect(contentDisposition("IMG_0042 (1).jpg", false)).toBe('attachment; filename="IMG_0042 (1).jpg"');
    expect(contentDisposition("report-1.2,3+4&5.pdf", true)).toBe('inline; filename="report-1.2,3+4&5.pdf"');
  });

  test("holds for names made at random of what headers are made of", () => {
    const random = seededRandom(6266);
    const fragments = [
      '"',
      "\\",
      ";",
      "=",
      " ",
      "filename",
      "filename*",
      "UTF-8''",
      "%22",
      "%",
      "evil.exe",
      "é",
      "'",
      ",",
    ];
    for (let n = 0; n < 5_000; n++) {
      const name = Array.from({ length: 1 + random.below(9) }, () => random.pick(fragments)).join("");
      expect(readFileName(contentDisposition(name, false))).toBe(name);
    }
  });

  test("writes half a character as the sign for what is none", () => {
    expect(readFileName(contentDisposition("a\ud800b", false))).toBe("a\ufffdb");
  });
});
