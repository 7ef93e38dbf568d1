import { expect, test } from "bun:test";
import { parseBoundedJson } from "../../../src/lib/bounded-json.ts";

test.each(['{"a":[1,"]],,[[\\"",null]}', '"\\\\"', "[]", "1"])("%s is parsed", (text) => {
  expect(parseBoundedJson(text, { values: 10 })).toEqual(JSON.parse(text));
});

test.each([
  ["many values", `[${"{},".repeat(100)}{}]`],
  ["deep lists", "[".repeat(1_000)],
  ["deep objects", '{"a":'.repeat(1_000)],
  ["no end of a text", '{"a":"b'],
  ["a backslash at the end", '"\\'],
])("%s are rejected", (_, text) => {
  // A megabyte of brackets blocked the event loop for a second.
  expect(() => parseBoundedJson(text, { values: 100 })).toThrow(SyntaxError);
});
