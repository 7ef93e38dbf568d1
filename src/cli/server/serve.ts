import type { Command } from "commander";
import { StartupError } from "../../config/startup-error.ts";
import { createLog, logForm, usesColors } from "../../lib/log.ts";
import { runServer } from "../../server/lifecycle.ts";
import { addSettings, type CommandContext, describeEnd, EXIT, readConfig, runs } from "../shared/command.ts";

/** `larder serve`: runs the server until it is told to stop by SIGTERM or SIGINT. */
export function define(command: Command, context: CommandContext): void {
  command.description(
    "Run the server. SIGTERM and Ctrl+C end it: what has begun is finished, for 30 s at most.\n\n" +
      "Every setting may be given as a flag, as a variable (--base-path is LARDER_BASE_PATH) or in larder.toml.\n" +
      "Those of the plans are flags too: --plans-free-quota, --plans-pro-limit-uploads; see: larder config",
  );
  addSettings(command);
  describeEnd(
    command,
    "larder serve --data /srv/larder --host 0.0.0.0\nLARDER_DATA=/srv/larder larder serve",
    "it failed while it ran",
  );
  runs(command, async () => {
    const loaded = readConfig(command, context);
    const { config } = loaded;
    const log = createLog(logForm(config.log, process.stderr.isTTY), config.logLevel, undefined, {
      isColored: usesColors(context.environment, process.stderr.isTTY),
    });
    for (const warning of loaded.warnings) log.warn(warning);
    try {
      await runServer(loaded, log, () => readConfig(command, context));
    } catch (error) {
      if (config.log !== "json" || !(error instanceof StartupError)) throw error;
      // With --log json, the reason of a failed start must be JSON as well.
      log.error(error.message);
      return EXIT.couldNotRun;
    }
    return EXIT.fine;
  });
}
