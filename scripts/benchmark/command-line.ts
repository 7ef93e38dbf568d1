/**
 * The commands of `scripts/bench` and their options.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BenchOptions, Row } from "./bench.ts";
import { TOLERANCE } from "./comparison.ts";
import { LONG_ROWS, MAIN_ROWS } from "./rows.ts";

export const PROJECT = resolve(import.meta.dir, "..", "..");

/** After these many minutes, a row is ended. */
const ROW_MINUTES_MAX = { main: 10, long: 90 };
const PERCENT = Math.round(100 * TOLERANCE);

const list = (rows: readonly Row[]) => rows.map((row) => `  ${row.id.padEnd(16)}  ${row.title}`).join("\n");

export const HELP = `Usage: scripts/bench [long | compare COMMIT] [options]

Starts dist/larder and measures it over HTTP. Compares it with baselines in the same run: the "floor", a bare Bun server
that does only the physical work (hash, write, fsync, rename, one row); sharp alone; and, if they are installed, nginx
with its DAV module, the WebDAV servers of Apache and rclone, and @tus/server (installed by npm for the run). They are
measured in turns, round by round. The table shows medians, and Larder's as a multiple of theirs. Load generator and
servers share the machine's cores, so the table also shows the servers' CPU time. Don't use the machine during a run.
Larder runs with all checks on; its limits are set high.

  scripts/bench                  the rows below in less than ten minutes
  scripts/bench long             a million files, millions of requests, an import: takes one to two hours
  scripts/bench compare COMMIT   builds COMMIT in a temporary directory, and measures both executables in turns

  --only ROW,ROW      measure only these rows
  --rounds N          measure each N times (default 3)
  --quick             smaller sizes, for a first look (targets refer to the full sizes)
  --files N           files of the largest account of the row "growth" (default 1,000,000)
  --larder FILE       measure this executable instead of dist/larder
  --before FILE       compare with this executable instead of with baselines
  --help              print this text

Rows:
${list(MAIN_ROWS)}

Rows of scripts/bench long:
${list(LONG_ROWS)}

Progress goes to standard error, the table to standard output, and all samples to bench-results/<time>.json. Everything
else is written below $TMPDIR (default /var/tmp) and removed at the end. Use the disk that the server will use.

Columns: "larder" and "baselines" are medians in the same unit. "ratio" is Larder's figure as a multiple of theirs: the
median of the ratios of each round, so that a busy moment of the machine has little effect. "server CPU" is the median
for one operation, with the first letter of each. "reach" lists required targets, "aim" further ones. The last column
says which are reached: "aim" all, "ok" the required ones, "SHORT" not all required ones.

A comparison has the columns "now", "before" and "ratio". The outcome is "WORSE" or "better" if the median ratio differs
by more than ${PERCENT} % and all rounds, at least three, agree; otherwise it is "same".

Exit codes: 0 all required targets reached, or nothing is worse than before; 1 some not reached or not measured, or
worse; 2 the benchmark could not run.
Example: scripts/bench --quick --only small-upload,small-read
`;

export interface CommandLine extends Omit<BenchOptions, "workDirectory"> {
  rows: readonly Row[];
  minutesMax: number;
}

/** A whole number from the command line. */
function wholeNumber(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) {
    throw new Error(`--${name} must be a whole number of at least 1, not ${value}`);
  }
  return number;
}

/** @returns undefined if the help is requested */
export function parseCommandLine(words: string[]): CommandLine | undefined {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: "3" },
      quick: { type: "boolean", default: false },
      files: { type: "string", default: "1000000" },
      larder: { type: "string", default: join(PROJECT, "dist", "larder") },
      before: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const [command] = positionals;
  if (positionals.length > 1 || (command !== undefined && command !== "long")) {
    throw new Error(`unknown command ${positionals.join(" ")}; see scripts/bench --help`);
  }
  const all = command === "long" ? LONG_ROWS : MAIN_ROWS;
  const selected = values.only?.split(",");
  for (const id of selected ?? []) {
    if (!all.some((row) => row.id === id)) throw new Error(`unknown row ${id}; see scripts/bench --help`);
  }
  return {
    rows: all.filter((row) => selected?.includes(row.id) ?? true),
    minutesMax: ROW_MINUTES_MAX[command ?? "main"],
    rounds: wholeNumber("rounds", values.rounds),
    quick: values.quick,
    files: wholeNumber("files", values.files),
    executable: resolve(values.larder),
    before: values.before === undefined ? undefined : resolve(values.before),
  };
}
