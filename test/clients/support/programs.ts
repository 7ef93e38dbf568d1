// Runs WebDAV, sync, and photo programs. scripts/ensure-clients.sh installs them; the tests of a missing program are skipped.
import { describe } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { temporaryDirectory } from "../../support/server.ts";

/** Users other than root do not have these folders on their path. */
const path = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;

/** Longest duration of a program in milliseconds. A program that runs longer hangs. */
const programMsMax = 90_000;

/** Whether scripts/rounds/clients runs the tests, with more and larger files. */
export const isLong = process.env["LARDER_TEST_LONG"] !== undefined;

/** A finished program. */
export interface Ran {
  /** The exit code; 128 plus the signal's number after a signal. */
  code: number;
  /** Both streams, standard output first. */
  output: string;
}

/** Options of {@link runProgram}. */
export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
}

/** The environment of a program: a home of its own, so that no settings of the user's apply. */
function environmentOf(home: string, extra: Record<string, string> = {}): Record<string, string> {
  // Not LC_ALL=C: the sync clients cannot read names that are not ASCII then.
  return { PATH: path, HOME: home, LANG: "C.UTF-8", LC_ALL: "C.UTF-8", QT_QPA_PLATFORM: "offscreen", ...extra };
}

/** What {@link startProgram} and {@link runProgram} have in common, except the output. */
function spawnOptions(home: string, options: RunOptions) {
  return {
    cwd: options.cwd ?? home,
    env: environmentOf(home, options.env),
    stdin: options.stdin === undefined ? ("ignore" as const) : new Blob([options.stdin]),
    timeout: programMsMax,
    killSignal: "SIGKILL" as const,
  };
}

/** Starts a program without reading its output. The caller waits for its end, or kills it. */
export function startProgram(words: string[], home: string, env: Record<string, string> = {}) {
  // A pipe that nobody reads would stop the program when it is full.
  return Bun.spawn(words, { ...spawnOptions(home, { env }), stdout: "ignore", stderr: "ignore" });
}

/**
 * Runs a program to its end with an empty home.
 *
 * @throws Error with its output if it hangs; it is killed then
 */
export async function runProgram(words: string[], options: RunOptions & { home?: string } = {}): Promise<Ran> {
  const home = options.home ?? (await temporaryDirectory());
  try {
    const startedMs = performance.now();
    const child = Bun.spawn(words, { ...spawnOptions(home, options), stdout: "pipe", stderr: "pipe" });
    const [out, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    const output = out + errors;
    if (performance.now() - startedMs >= programMsMax) throw new Error(`${words.join(" ")} did not end:\n${output}`);
    return { code, output };
  } finally {
    if (options.home === undefined) await rm(home, { recursive: true, force: true });
  }
}

/** Runs a program to its end. @returns its output @throws Error with its output if it fails */
export async function mustRun(words: string[], options: RunOptions & { home?: string } = {}): Promise<string> {
  const { code, output } = await runProgram(words, options);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${output}`);
  return output;
}

/** The programs of a list that this machine lacks: names, or absolute paths. */
function missingOf(programs: string[]): string[] {
  return programs.filter((program) =>
    program.startsWith("/") ? !existsSync(program) : Bun.which(program, { PATH: path }) === null,
  );
}

/**
 * Describes the tests of a program. They are skipped if the machine lacks it, and a line that starts with "SKIPPED:"
 * says so.
 *
 * @param reason why they cannot run although the programs are there; undefined if they can
 */
export function describeWith(title: string, programs: string[], body: () => void, reason?: string): void {
  const missing = missingOf(programs);
  if (missing.length === 0 && reason === undefined) {
    describe(title, body);
    return;
  }
  const cause = missing.length > 0 ? `${missing.join(", ")} was not found; run scripts/ensure-clients.sh` : reason;
  console.warn(`SKIPPED: ${title}: ${cause}`);
  describe.skip(title, body);
}
