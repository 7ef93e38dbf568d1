/** What commands write and read: text for people, JSON for scripts. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline/promises";

/** Where a command's words go and come from; replaced in tests. */
export interface Terminal {
  /** To standard output: what was asked for, and nothing else. */
  out(text: string): void;
  /** To standard error: complaints and progress. */
  error(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Asks a person a question that is answered by yes or no; no answer is no. */
  ask(question: string): Promise<boolean>;
  /** Whether a person sits at standard input. */
  readonly isInteractive: boolean;
}

/** The terminal or pipes that this process was started with. */
export const processTerminal: Terminal = {
  out: (text) => writeAll(1, text),
  error: (text) => writeAll(2, text),
  readInput: () => Bun.stdin.text(),
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^\s*y(es)?\s*$/i.test(await lines.question(`${question} [y/N] `));
    } finally {
      lines.close();
    }
  },
  isInteractive: process.stdin.isTTY,
};

/** A value as a script reads it, ended by a line end. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Rows in columns as wide as they need to be, the first row being their headings. */
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
  return rows.map((row) => `${line(row)}\n`).join("");
}

const RETRY_MS = 2;

/** Writes at once and all of it: the process may end right after, when what is only queued would be lost. */
function writeAll(file: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.byteLength > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if (isCode(error, "EPIPE")) return; // the reader has seen enough, as `head` does
      if (!isCode(error, "EAGAIN")) throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
