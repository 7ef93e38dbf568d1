import { readPasswordFile, withoutLineBreak } from "../../config/secrets.ts";
import { type RunningCommand, UsageError } from "./command.ts";

/**
 * Reads the secret of another system from `--secret-file`, or from the person at the terminal. It is no argument, because
 * other users of the machine can see those.
 * @param what as messages name it: "the app password"
 * @throws UsageError without a secret
 */
export async function readSecret(command: RunningCommand, what: string): Promise<string> {
  const { terminal } = command;
  const file = command.text("secretFile");
  if (file === undefined && !terminal.isInteractive) throw noSecret(what);
  if (file === undefined) {
    terminal.error(`Type ${what}, then press Enter and Ctrl+D. It is visible while you type.\n`);
  }
  const isFile = file !== undefined && file !== "-";
  const text = isFile ? readPasswordFile(command.path(file)) : withoutLineBreak(await terminal.readInput());
  if (text.trim() === "") throw noSecret(what);
  return text.trim();
}

function noSecret(what: string): UsageError {
  return new UsageError(`Specify ${what} with --secret-file FILE, or with --secret-file - on standard input.`);
}
