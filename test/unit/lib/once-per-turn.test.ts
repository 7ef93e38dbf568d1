import { expect, test } from "bun:test";
import { oncePerTurn } from "../../../src/lib/once-per-turn.ts";

test("calls of one turn share a result, and the next turn reads again", async () => {
  let reads = 0;
  const read = oncePerTurn(() => ++reads);
  expect([read(), read()]).toEqual([1, 1]);
  await Promise.resolve();
  expect(read()).toBe(1);
  await new Promise(setImmediate);
  expect(read()).toBe(2);
});

test("an error is not remembered", () => {
  let isBroken = true;
  const read = oncePerTurn(() => {
    if (isBroken) throw new Error("unmounted");
    return "mounted";
  });
  expect(read).toThrow("unmounted");
  isBroken = false;
  expect(read()).toBe("mounted");
});
