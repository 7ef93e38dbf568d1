import { expect, test } from "bun:test";
import { AppError, REASONS } from "../../../src/errors.ts";
import { errorResponseOf, ERROR_RESPONSES, errorItem } from "../../../src/http/error-response.ts";
import { say } from "../../../src/translations/say.ts";

test.each(REASONS.map((reason) => [reason, ERROR_RESPONSES[reason][0]] as const))(
  "%s (%i) says when to try again exactly where that is 503",
  (reason, status) => {
    const error = new AppError(reason, say`What happened.`);
    const { details } = errorResponseOf(error, "req_1").body.error;
    if (status === 503) expect(details["retryAfter"]).toBeGreaterThanOrEqual(1);
    else expect(details).not.toHaveProperty("retryAfter");
    expect(errorItem(error, new Request("http://localhost")).details["retryAfter"]).toBe(details["retryAfter"]);
    if (status !== 429) expect(errorResponseOf(error, "req_1").headers).not.toHaveProperty("Retry-After");
  },
);

test("what an error says itself of the time is kept", () => {
  const error = new AppError("overloaded", say`What happened.`, { retryAfter: 60 });
  expect(errorResponseOf(error, "req_1").body.error.details["retryAfter"]).toBe(60);
});
