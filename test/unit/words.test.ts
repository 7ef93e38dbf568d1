// A newcomer reads the code and the documents without decoding: no private names for standard things, no archaic English.
import { expect, test } from "bun:test";
import { findDeniedWords, findDeniedWordsIn } from "../support/words.ts";

test("no denied word is in the repository", async () => {
  const found = await findDeniedWords();
  expect(found.map(({ path, line, word }) => `${path}:${line}: ${word}`)).toEqual([]);
});

const CODE = [
  "/** Waits for the deed. */",
  "export function keepLetter(heldBytes: number): string {",
  "  return `went on with ${arrivalCount}`;",
  "}",
].join("\n");

test.each([
  ["src/lib/one.ts", CODE, ["deed", "keepLetter", "heldBytes", "went on", "arrivalCount"]],
  ["docs/one.md", "The job goes on by itself.\nIt kept its place.\n", ["goes on", "by itself"]],
  ["src/lib/doors.ts", "", ["doors"]],
  ["CHANGELOG.md", "## 2.0.0\n\nIt is told.\n\n## 1.0.0\n\nA deed.\n", ["told"]],
  ["docs/glossary.md", "deed: a transaction", []],
])("denied words of %s are found", (path, text, words) => {
  expect(findDeniedWordsIn(path, text).map(({ word }) => word)).toEqual(words);
});
