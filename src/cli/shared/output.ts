/** The terminal, and the forms of output: text for people, JSON for scripts. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { errorCode } from "../../lib/error.ts";

/** The input and output of a command; replaced in tests. */
export interface Terminal {
  /** Writes to standard output: the result, and nothing else. */
  out(text: string): void;
  /** Writes to standard error: problems and progress. */
  error(text: string): void;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Asks a person to confirm something; anything but yes is no. */
  confirm(prompt: string): Promise<boolean>;
  /** Whether standard input is a terminal. */
  readonly isInteractive: boolean;
}

/** The terminal or the pipes of this process. */
export const processTerminal: Terminal = {
  out: (text) => writeAll(1, text),
  error: (text) => writeAll(2, text),
  readInput: () => Bun.stdin.text(),
  async confirm(prompt) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^\s*y(es)?\s*$/i.test(await lines.question(`${prompt} [y/N] `));
    } finally {
      lines.close();
    }
  },
  isInteractive: process.stdin.isTTY,
};

/** A value as JSON, for scripts. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Rows in aligned columns; the first row has the headings. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell)))
      .join("  ")
      .trimEnd();
  return toLines(rows.map(line));
}

/** Lines as one text. */
export function toLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const RETRY_MS = 2;

/** Writes all of it before it returns: the process may exit right after, and would lose queued output. */
function writeAll(file: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.byteLength > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if (errorCode(error) === "EPIPE") return; // the reader has closed the pipe, as `head` does
      if (errorCode(error) !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
}
