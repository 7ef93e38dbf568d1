// Commands run within the process of a test, from the source. Nearly all of what a command costs is the start of a process,
// some 150 ms of processor time: here it costs some 20 ms. For mistakes and settings, of which there are many; that the
// executable takes its words and gives its exit code, tests in test/cli show.
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
  const code = await runCli(args, { terminal, environment: env, directory: tmpdir() });
  return { code, stdout, stderr };
}
