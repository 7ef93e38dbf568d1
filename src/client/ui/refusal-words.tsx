import { words } from "./text.ts";
import type { Wait } from "./use-wait.ts";

/**
 * What a refusal says. Where one has to wait, the seconds are counted down for the eyes; ears are told once, since a
 * message that changes every second would be read every second.
 */
export function RefusalWords({ message, wait }: { message: string; wait: Wait }) {
  if (wait.asked === 0) return message;
  return (
    <>
      {words.tooManyAttempts} <span aria-hidden>{wait.left === 0 ? words.waitOver : waitWords(wait.left)}</span>
      <span className="sr-only">{waitWords(wait.asked)}</span>
    </>
  );
}

function waitWords(seconds: number): string {
  return seconds < 120 ? words.waitSeconds(seconds) : words.waitMinutes(Math.ceil(seconds / 60));
}
