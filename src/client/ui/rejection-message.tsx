import type { Rejection } from "../api/rejection.ts";
import { Notice } from "./notice.tsx";
import { uiText, waitText } from "./text.ts";
import type { RetryWait } from "./use-retry-wait.ts";

const NO_WAIT: RetryWait = { totalSeconds: 0, secondsLeft: 0 };

/**
 * The message of a rejected form, unless it belongs to a field. If the person must wait, the remaining seconds are
 * counted down visually; screen readers announce the wait only once, not every second.
 */
export function FormRejection({
  rejection,
  wait = NO_WAIT,
}: {
  readonly rejection: Rejection<string> | undefined;
  readonly wait?: RetryWait;
}) {
  if (rejection === undefined || rejection.field !== undefined) return null;
  if (wait.totalSeconds === 0) return <Notice tone="danger">{rejection.message}</Notice>;
  return (
    <Notice tone="danger">
      {uiText.tooManyAttempts}{" "}
      <span aria-hidden>{wait.secondsLeft === 0 ? uiText.waitOver : waitText(wait.secondsLeft)}</span>
      <span className="sr-only">{waitText(wait.totalSeconds)}</span>
    </Notice>
  );
}
