// Commands run within the process of a test, from the source. Nearly all of what a command costs is the start of a process,
// some 150 ms of processor time: here it costs 10 to 50 ms. For mistakes and settings, of which there are many, and for what
// a test needs before that which it tries. Of every command, tests in test/cli ask the executable.
import { tmpdir } from "node:os";
import { runCli } from "../../src/cli/cli.ts";
import type { CommandResult } from "./server.ts";

/** Runs `larder ARGS` to its end, with this environment alone, and relative paths in the directory of temporary files. */
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
    ask: () => Promise.resolve(false),
    isInteractive: false,
  };
  // As the executable sets it: what is made is for this user alone.
  const mask = process.umask(0o077);
  try {
    const code = await runCli(args, { terminal, environment: env, directory: tmpdir() });
    return { code, stdout, stderr };
  } finally {
    process.umask(mask);
  }
}
