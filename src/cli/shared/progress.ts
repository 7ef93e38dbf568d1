/** Progress of long work on a terminal; nothing is printed to a file or a pipe. */
import { describeSize } from "../../config/quantities.ts";
import type { CopyProgress } from "../../features/storage/backup/types.ts";
import type { Terminal } from "./output.ts";

const EVERY_MS = 1_000;

/** Returns a function that prints a line, at most once a second. */
export function everySecond<Counts extends unknown[]>(
  terminal: Terminal,
  describe: (...counts: Counts) => string,
): (...counts: Counts) => void {
  let nextMs = performance.now() + EVERY_MS;
  return (...counts) => {
    if (!process.stderr.isTTY || performance.now() < nextMs) return;
    nextMs = performance.now() + EVERY_MS;
    terminal.error(`${describe(...counts)}\n`);
  };
}

/** Returns a function that prints how many blobs are done, how fast, and the time left. */
export function blobProgress(terminal: Terminal): (progress: CopyProgress) => void {
  const startedMs = performance.now();
  return everySecond(terminal, ({ contents, ofContents, bytes, ofBytes, newBytes }: CopyProgress) => {
    const seconds = (performance.now() - startedMs) / 1000;
    const left = bytes > 0 ? `, about ${describeSeconds(((ofBytes - bytes) / bytes) * seconds)} left` : "";
    return (
      `${contents} of ${ofContents} blobs, ${describeSize(bytes)} of ${describeSize(ofBytes)}, ` +
      `${describeSize(Math.round(newBytes / seconds))}/s${left}`
    );
  });
}

/** A duration: "0.4 s", "12 s", "3 min", "2.5 h". */
export function describeSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 360) / 10} h`;
}

/** A line that is replaced at most once a second. */
export class ProgressLine<Counts> {
  readonly #terminal: Terminal;
  readonly #describe: (counts: Counts) => string;
  #nextMs = performance.now() + EVERY_MS;
  #isShown = false;

  constructor(terminal: Terminal, describe: (counts: Counts) => string) {
    this.#terminal = terminal;
    this.#describe = describe;
  }

  show(counts: Counts): void {
    if (!process.stderr.isTTY || performance.now() < this.#nextMs) return;
    this.#nextMs = performance.now() + EVERY_MS;
    this.#isShown = true;
    this.#terminal.error(`\r\u001b[K${this.#describe(counts)}`);
  }

  /** Removes the line. */
  end(): void {
    if (this.#isShown) this.#terminal.error("\r\u001b[K");
  }
}
