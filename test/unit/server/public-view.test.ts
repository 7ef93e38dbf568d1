import { expect, test } from "bun:test";
import { isPass, makePass } from "../../../src/server/http/public-view.ts";

const secret = new Uint8Array(32).fill(7);
const nowMs = Date.UTC(2026, 10, 21);

test("a pass holds for five minutes, for the server whose secret it was made from", () => {
  const pass = makePass(secret, nowMs);
  expect(isPass(secret, pass, nowMs)).toBe(true);
  expect(isPass(secret, pass, nowMs + 299_000)).toBe(true);
  expect(isPass(secret, pass, nowMs + 301_000)).toBe(false);
  expect(isPass(secret, pass, nowMs - 301_000)).toBe(false);
  expect(isPass(new Uint8Array(32).fill(8), pass, nowMs)).toBe(false);
});

test.each(["", ".", "1", `${nowMs}.`, `${nowMs}.${"A".repeat(43)}`, `${nowMs}.${"é".repeat(43)}`])(
  "%p is no pass",
  (pass) => {
    expect(isPass(secret, pass, nowMs)).toBe(false);
  },
);
