import { expect, test } from "bun:test";
import { Turns } from "../../../src/lib/turns.ts";

/** A task that records its start and ends when the test says so. */
function workOf(began: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const work = () => {
    began.push(name);
    return promise;
  };
  return { work, end: () => resolve(name) };
}

const settled = () => new Promise(setImmediate);

test("one task at a time runs for each key, in order", async () => {
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

test("a task with two keys waits for both, in any order of the keys", async () => {
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

test("a failed task lets the next one run, and too many waiting tasks are rejected", async () => {
  const turns = new Turns(1);
  const failing = turns.take([1], () => Promise.reject(new Error("failed")));
  const next = turns.take([1], () => Promise.resolve("next"));
  const refused = turns.take([1], () => Promise.resolve("refused"));
  expect(await refused.catch((error: unknown) => error)).toMatchObject({ reason: "overloaded" });
  expect(await failing.catch((error: unknown) => error)).toMatchObject({ message: "failed" });
  expect(await next).toBe("next");
  expect(await turns.take([1], () => Promise.resolve("later"))).toBe("later");
});
