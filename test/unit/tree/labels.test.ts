import { expect, test } from "bun:test";
import { checkMetadata, checkTags, mergeMetadata, parseTagList } from "../../../src/tree/model/labels.ts";
import { reasonOf } from "./support.ts";

test("tags are trimmed and NFC, without repeated and empty ones", () => {
  expect(parseTagList(" one, Two ,,ONE,two,u\u0308")).toEqual(["one", "Two", "ü"]);
});

test.each([
  ["a comma", ["a,b"]],
  ["a control character", ["a\u0007"]],
  ["65 characters", ["x".repeat(65)]],
  ["51 tags", Array.from({ length: 51 }, (_, i) => `t${i}`)],
])("tags with %s are refused", (_why, tags) => expect(reasonOf(() => checkTags(tags))).toBe("invalid_field"));

test("64 emoji are 64 characters", () => expect(checkTags(["🦊".repeat(64)])).toHaveLength(1));

test("metadata merges, null removes, and 64 KiB is the limit of the result", () => {
  expect(mergeMetadata({ a: "1", b: "2" }, { a: null, c: "3", d: null })).toEqual({ b: "2", c: "3" });
  expect(Object.keys(mergeMetadata({}, JSON.parse('{"__proto__":"x"}')))).toEqual(["__proto__"]);
  const full = { k: "x".repeat(64 * 1024 - 1) };
  expect(() => checkMetadata(full)).not.toThrow();
  expect(reasonOf(() => mergeMetadata(full, { l: "" }))).toBe("invalid_field");
  expect(mergeMetadata(full, { k: null })).toEqual({});
  expect(reasonOf(() => checkMetadata({ a: "\ud800" }))).toBe("invalid_field");
});
