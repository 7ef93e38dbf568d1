// Runs commands within the process of a test, from the source. The start of a process is nearly all that a command costs: some
// 150 ms of processor time, against 10 to 50 ms here. Meant for wrong uses and settings, of which there are many, and for what a
// test prepares. The tests in test/cli run every command by the executable too.
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
