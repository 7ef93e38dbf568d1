import { describe, expect, test } from "bun:test";
import { compareTexts } from "../../../src/client/features/editor/compare.ts";
import { readFileText, writeFileText } from "../../../src/client/features/editor/text-format.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

describe("the text of a file", () => {
  test.each([
    ["UTF-8", "a\xC3\xA4\nb", "aä\nb"],
    ["UTF-8 with a mark, lines of Windows", "\xEF\xBB\xBFa\r\nb\r\n", "a\nb\n"],
    ["UTF-16 little endian", "\xFF\xFEa\0\r\0\n\0", "a\n"],
    ["UTF-16 big endian", "\xFE\xFF\0a\0\n", "a\n"],
    ["lines of old Macs", "a\rb\r", "a\nb\n"],
    ["several kinds of lines", "a\r\nb\nc", "a\r\nb\nc"],
    ["an empty file", "", ""],
    ["a second mark", "\xEF\xBB\xBF\xEF\xBB\xBFa", "\uFEFFa"],
  ])("%s is read, and written back as the same bytes", (_, stored, text) => {
    const read = readFileText(bytes(stored));
    expect(read?.text).toBe(text);
    if (read !== undefined) expect(writeFileText(read.text, read.format)).toEqual(bytes(stored));
  });

  test("new lines get the line ends of the others", () => {
    const read = readFileText(bytes("\xEF\xBB\xBFa\r\nb"));
    if (read === undefined) throw new Error("not read");
    expect(writeFileText(`${read.text}\nc`, read.format)).toEqual(bytes("\xEF\xBB\xBFa\r\nb\r\nc"));
  });

  test.each([
    ["Latin-1", "caf\xE9"],
    ["zero bytes", "a\0b"],
    ["half a character of UTF-16", "\xFF\xFEa"],
    ["a lone surrogate", "\xFF\xFE\x00\xD8"],
    ["a JPEG", "\xFF\xD8\xFF\xE0"],
  ])("%s is refused", (_, stored) => {
    expect(readFileText(bytes(stored))).toBeUndefined();
  });
});

describe("comparing two texts", () => {
  const compare = (theirs: string, mine: string) =>
    compareTexts(theirs.replaceAll(" ", "\n"), mine.replaceAll(" ", "\n")).map(
      ({ kind, text }) => `${{ equal: "=", theirs: "-", mine: "+", skipped: "…" }[kind]}${text}`,
    );

  test.each([
    ["a b c", "a b c", []],
    ["a b c", "a x c", ["=a", "-b", "+x", "=c"]],
    ["a b", "a b c", ["=a", "=b", "+c"]],
    ["a b c", "b c", ["-a", "=b", "=c"]],
    ["1 2 3 4 5 6 7 8", "1 2 3 4 x 6 7 8", ["…", "=3", "=4", "-5", "+x", "=6", "=7", "…"]],
    ["1 2 3", "x 2 y", ["-1", "+x", "=2", "-3", "+y"]],
  ])("%s and %s", (theirs, mine, lines) => {
    expect(compare(theirs, mine)).toEqual(lines);
  });
});
