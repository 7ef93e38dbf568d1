import { expect, test } from "bun:test";
import { isProbeToken, makeProbeToken } from "../../../src/server/http/public-view.ts";

const secret = new Uint8Array(32).fill(7);
const nowMs = Date.UTC(2026, 10, 21);

test("a probe token is valid for five minutes, with the same secret", () => {
  const token = makeProbeToken(secret, nowMs);
  expect(isProbeToken(secret, token, nowMs)).toBe(true);
  expect(isProbeToken(secret, token, nowMs + 299_000)).toBe(true);
  expect(isProbeToken(secret, token, nowMs + 301_000)).toBe(false);
  expect(isProbeToken(secret, token, nowMs - 301_000)).toBe(false);
  expect(isProbeToken(new Uint8Array(32).fill(8), token, nowMs)).toBe(false);
});

test.each(["", ".", "1", `${nowMs}.`, `${nowMs}.${"A".repeat(43)}`, `${nowMs}.${"é".repeat(43)}`])(
  "%p is not a probe token",
  (token) => {
    expect(isProbeToken(secret, token, nowMs)).toBe(false);
  },
);
