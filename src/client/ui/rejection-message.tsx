import { uiText } from "./text.ts";
import type { RetryWait } from "./use-retry-wait.ts";

/**
 * What a refusal says. Where one has to wait, the seconds are counted down for the eyes; ears are told once, since a
 * message that changes every second would be read every second.
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
