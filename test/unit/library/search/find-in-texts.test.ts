// The search of the text index: one person's search must not make everybody else wait.
import { expect, test } from "bun:test";
import { toIndexWord } from "../../../../src/features/library/text-index/fold.ts";
import { TextFinder } from "../../../../src/features/library/text-index/find.ts";

const SEGMENTS = 50;

/**
 * An index of one account in which every segment has these words. Reading a segment takes a millisecond.
 * @param wordMs how long reading a word of the vocabulary takes
 */
function createFinder(texts: number, text: string, { vocabulary = [""], wordMs = 1 } = {}) {
  let reads = 0;
  const blobs = Array.from({ length: texts }, (_, at) => at + 1);
  const segmentsOf = (blobId: number) => Array.from({ length: SEGMENTS }, (_, at) => blobId * SEGMENTS + at);
  const tables = {
    blobOf: (segmentId: number) => Math.floor(segmentId / SEGMENTS),
    findByDigest: (digest: Uint8Array) => digest[0],
    lengthOf: () => SEGMENTS,
    match: () => Float64Array.from(blobs.flatMap(segmentsOf)),
    matchIn: segmentsOf,
    segment: () => {
      reads += 1;
      return { page: null, text };
    },
    removals: 0,
    toRead: () => [],
    size: { texts, averageLength: SEGMENTS },
    *vocabulary(from: string) {
      for (const word of vocabulary.filter((other) => other >= from)) {
        reads += wordMs;
        yield { word, segmentId: SEGMENTS };
      }
    },
  };
  const files = {
    blobsIn: () => new Set(blobs),
    filesWith: (blobId: number) => [{ id: blobId }],
    filesWithAny: (ids: readonly number[]) =>
      ids.map((blobId) => ({ id: blobId, blobId, accountId: 1, parentId: 1, modifiedAtMs: 0 })),
    matchElsewhere: () => new Set<number>(),
    reaches: () => true,
  };
  const finder = new TextFinder(tables, files, () => reads);
  const find = (...phrases: string[]) => {
    const words = phrases.map((phrase) => ({ inText: toIndexWord(phrase, true), elsewhere: null }));
    return finder.find({ scopes: [{ accountId: 1, rootId: null }], words, limit: 1_000 }).own.length;
  };
  const snippets = (phrase: string) => {
    const word = toIndexWord(phrase, true);
    const digests = blobs.map((blobId) => Buffer.from([blobId % 256]).toString("hex"));
    return finder.snippets({ digests, patterns: [word?.pattern ?? ""], queries: word?.queries ?? [] }).matches.length;
  };
  const complete = (start: string, limit: number) =>
    finder.complete({ scopes: [{ accountId: 1, rootId: null }], start, limit });
  return { find, snippets, complete, reads: () => reads };
}

test("a phrase is found in every text that has it", () => {
  const { find } = createFinder(90, "first second third");
  expect(find("first second")).toBe(90);
});

test("phrases that no text has are not looked for without end, however many there are", () => {
  const { find, reads } = createFinder(400, "first second third");
  expect(find("first third", "third first", "second first", "third second")).toBe(0);
  expect(reads()).toBeLessThan(400);
});

test("snippets are not looked for without end", () => {
  const { snippets, reads } = createFinder(400, "first second third");
  expect(snippets("first third")).toBe(0);
  expect(reads()).toBeLessThan(400);
  const found = createFinder(90, "first second third");
  expect(found.snippets("first second")).toBe(90);
});

test("the first words are suggested also on a machine that is busy", () => {
  const { complete } = createFinder(2, "", { vocabulary: ["lemon", "marvels", "marzipan", "melon"], wordMs: 1_000 });
  expect(complete("mar", 8)).toEqual(["marvels", "marzipan"]);
});

test("words to suggest are not looked for without end", () => {
  const vocabulary = Array.from(
    { length: 300 },
    (_, at) => `word${"x".repeat(at % 20)}${String.fromCodePoint(97 + at)}`,
  );
  const { complete, reads } = createFinder(2, "", { vocabulary: vocabulary.toSorted(), wordMs: 1 });
  expect(complete("word", 8)).toHaveLength(8);
  expect(reads()).toBeLessThan(vocabulary.length);
});

test("a phrase of thousands of words is compared only in part", () => {
  const words = (count: number) => toIndexWord("a ".repeat(count), true)?.pattern;
  expect(words(2_000)).toBe(words(128));
  expect(words(127)).not.toBe(words(128));
});
