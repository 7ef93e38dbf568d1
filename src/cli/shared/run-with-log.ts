import { StartupError } from "../../config/startup-error.ts";
import { createLog, type Log, logForm, usesColors } from "../../lib/log.ts";
import { EXIT, type ExitCode, type RunningCommand } from "./command.ts";

/** Runs a server until its end, with a log as configured, which begins with the warnings of the configuration. */
export async function runWithLog(
  { loaded, config, environment }: RunningCommand,
  run: (log: Log) => Promise<void>,
): Promise<ExitCode> {
  const log = createLog(logForm(config.log, process.stderr.isTTY), config.logLevel, undefined, {
    isColored: usesColors(environment, process.stderr.isTTY),
  });
  for (const warning of loaded.warnings) log.warn(warning);
  try {
    await run(log);
    return EXIT.success;
  } catch (error) {
    if (config.log !== "json" || !(error instanceof StartupError)) throw error;
    // With --log json, the reason of a failed start must be JSON as well.
    log.error(error.message);
    return EXIT.error;
  }
}
