import { uiText } from "./text.ts";
import type { RetryWait } from "./use-retry-wait.ts";

/**
 * The message of a rejected request. If the person must wait, the remaining seconds are counted down visually; screen
 * readers announce the wait only once, not every second.
 */
export function RejectionMessage({ message, wait }: { message: string; wait: RetryWait }) {
  if (wait.totalSeconds === 0) return message;
  return (
    <>
      {uiText.tooManyAttempts}{" "}
      <span aria-hidden>{wait.secondsLeft === 0 ? uiText.waitOver : waitText(wait.secondsLeft)}</span>
      <span className="sr-only">{waitText(wait.totalSeconds)}</span>
    </>
  );
}

function waitText(seconds: number): string {
  return seconds < 120 ? uiText.waitSeconds(seconds) : uiText.waitMinutes(Math.ceil(seconds / 60));
}
