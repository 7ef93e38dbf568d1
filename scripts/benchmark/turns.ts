/**
 * The longest turn of a server's event loop, which is how long all other requests wait.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The environment of a server that notes its long turns in a file. */
export function turnsEnvironment(file: string): Record<string, string> {
  return { BUN_OPTIONS: `--preload ${join(import.meta.dir, "turn-watch.ts")}`, TURNS_FILE: file };
}

/** The longest turn that ended in a period, in milliseconds; 0 if none was long enough to be noted. */
export function longestTurnMs(file: string, fromMs: number, toMs: number): number {
  const turns = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.split(" ").map(Number))
    .filter(([endedMs = 0]) => endedMs >= fromMs && endedMs <= toMs);
  return Math.max(0, ...turns.map(([, turnMs = 0]) => turnMs));
}
