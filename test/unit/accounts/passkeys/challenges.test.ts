import { expect, test } from "bun:test";
import { Challenges } from "../../../../src/features/accounts/passkeys/challenges.ts";

const MINUTE_MS = 60_000;

test("a challenge is valid once, for its purpose, for five minutes", () => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  const challenges = new Challenges(clock);
  const [first, second, third, last] = [
    challenges.issue("sign-in"),
    challenges.issue("add:ses_7"),
    challenges.issue("sign-in"),
    challenges.issue("sign-in"),
  ];
  expect(challenges.take(first, "sign-in")).toBe(true);
  expect(challenges.take(first, "sign-in")).toBe(false);
  expect(challenges.take(second, "add:ses_8")).toBe(false);
  expect(challenges.take(second, "add:ses_7")).toBe(false);
  expect(challenges.take("made up", "sign-in")).toBe(false);
  clock.ms = 5 * MINUTE_MS - 1;
  expect(challenges.take(third, "sign-in")).toBe(true);
  clock.ms += 1;
  expect(challenges.take(last, "sign-in")).toBe(false);
});
