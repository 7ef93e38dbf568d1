// Runs commands in the test's own process, from the source. Starting a process costs about 150 ms of processor time; a
// command costs 10 to 50 ms here. Meant for the many cases of wrong arguments and settings, and for preparing tests.
// The tests in test/cli also run every command by the executable.
import { tmpdir } from "node:os";
import { runCli } from "../../src/cli/cli.ts";
import type { CommandResult } from "./server.ts";

/** Runs `larder ARGS` to its end with only this environment. Relative paths start at the temporary directory. */
export async function runInProcess(
  args: readonly string[],
  { env = {}, stdin = "" }: { env?: Record<string, string>; stdin?: string } = {},
): Promise<CommandResult> {
  let [stdout, stderr] = ["", ""];
  const terminal = {
    out: (text: string) => {
      stdout += text;
    },
    error: (text: string) => {
      stderr += text;
    },
    readInput: () => Promise.resolve(stdin),
    confirm: () => Promise.resolve(false),
    isInteractive: false,
  };
  // The executable sets the same mask, so that other users cannot read new files.
  const mask = process.umask(0o077);
  try {
    const code = await runCli(args, { terminal, environment: env, directory: tmpdir() });
    return { code, stdout, stderr };
  } finally {
    process.umask(mask);
  }
}
