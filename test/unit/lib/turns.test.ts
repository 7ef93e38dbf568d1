import { expect, test } from "bun:test";
import { Turns } from "../../../src/lib/turns.ts";

/** Work that ends when it is told to, and notes when it begins. */
function workOf(began: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const work = () => {
    began.push(name);
    return promise;
  };
  return { work, end: () => resolve(name) };
}

const settled = () => new Promise(setImmediate);

test("one works at a time for each key, in order", async () => {
  const turns = new Turns(8);
  const began: string[] = [];
  const [a, b, other] = [workOf(began, "a"), workOf(began, "b"), workOf(began, "other")];
  const results = [turns.take([1], a.work), turns.take([1], b.work), turns.take([2], other.work)];
  await settled();
  expect(began).toEqual(["a", "other"]);
  a.end();
  await settled();
  expect(began).toEqual(["a", "other", "b"]);
  b.end();
  other.end();
  expect(await Promise.all(results)).toEqual(["a", "b", "other"]);
});

test("work for two keys waits for both, in whatever order they are named", async () => {
  const turns = new Turns(8);
  const began: string[] = [];
  const [a, b, c] = [workOf(began, "a"), workOf(began, "b"), workOf(began, "c")];
  const results = [turns.take([2, 1], a.work), turns.take([1, 2], b.work)];
  await settled();
  results.push(turns.take([2], c.work));
  await settled();
  expect(began).toEqual(["a"]);
  for (const { end } of [a, b, c]) end();
  expect(await Promise.all(results)).toEqual(["a", "b", "c"]);
});

test("what fails lets the next one work, and too many that wait are refused", async () => {
  const turns = new Turns(1);
  const failing = turns.take([1], () => Promise.reject(new Error("failed")));
  const next = turns.take([1], () => Promise.resolve("next"));
  const refused = turns.take([1], () => Promise.resolve("refused"));
  expect(await refused.catch((error: unknown) => error)).toMatchObject({ reason: "overloaded" });
  expect(await failing.catch((error: unknown) => error)).toMatchObject({ message: "failed" });
  expect(await next).toBe("next");
  expect(await turns.take([1], () => Promise.resolve("later"))).toBe("later");
});
