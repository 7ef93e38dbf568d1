import { describeSize } from "../../config/quantities.ts";
import type { Progress } from "../../features/storage/backup/types.ts";
import type { Terminal } from "./output.ts";

const EVERY_MS = 1_000;

/**
 * Tells how far contents have come: a line a second at most, and only where somebody sits at a terminal.
 * @param isShown whether standard error is a terminal
 */
export function progressLine(terminal: Terminal, isShown: boolean): (progress: Progress) => void {
  const startedMs = performance.now();
  let nextMs = startedMs + EVERY_MS;
  return ({ contents, ofContents, bytes, ofBytes, newBytes }) => {
    const nowMs = performance.now();
    if (!isShown || nowMs < nextMs) return;
    nextMs = nowMs + EVERY_MS;
    const seconds = (nowMs - startedMs) / 1000;
    const leftSeconds = bytes > 0 ? ((ofBytes - bytes) / bytes) * seconds : undefined;
    const left = leftSeconds === undefined ? "" : `, about ${describeSeconds(leftSeconds)} left`;
    terminal.error(
      `${contents} of ${ofContents} blobs, ${describeSize(bytes)} of ${describeSize(ofBytes)}, ` +
        `${describeSize(Math.round(newBytes / seconds))}/s${left}\n`,
    );
  };
}

/** A length of time for the eye: "0.4 s", "12 s", "3 min", "2.5 h". */
export function describeSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 360) / 10} h`;
}
