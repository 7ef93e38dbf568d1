/** What an import did not import, as a table for office programs. */
import type { ImportProblem } from "./api.ts";
import { text } from "./text.ts";

/** The table as comma-separated values (RFC 4180). */
export function toCsv(problems: readonly ImportProblem[]): string {
  const head = [text.columnName, text.columnReason, text.columnMessage];
  const rows = problems.map(({ name, reason, message }) => [name, text.reasons(reason), message]);
  return [head, ...rows].map((row) => `${row.map(toField).join(",")}\r\n`).join("");
}

/** A name can begin like a formula, which office programs would compute. An apostrophe makes it a text. */
function toField(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}
