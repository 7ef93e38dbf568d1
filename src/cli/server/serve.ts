import type { Command } from "commander";
import { StartupError } from "../../config/startup-error.ts";
import { createLog, logForm, usesColors } from "../../lib/log.ts";
import { runServer } from "../../server/lifecycle.ts";
import { addSettings, type CommandContext, describeEnd, EXIT, readConfig, runs } from "../shared/command.ts";

/** `larder serve`: runs the server until it is told to stop by SIGTERM or SIGINT. */
export function define(command: Command, context: CommandContext): void {
  command.description(
    "Run the server. To stop it, press Ctrl+C or send SIGTERM; running requests get up to 30 seconds to finish.\n\n" +
      "Set any setting with a flag (--base-path), an environment variable (LARDER_BASE_PATH), or in larder.toml.\n" +
      "Plan settings are flags too, such as --plans-free-quota. To list them: larder config",
  );
  addSettings(command);
  describeEnd(
    command,
    "larder serve --data /srv/larder --host 0.0.0.0\nLARDER_DATA=/srv/larder larder serve",
    "the server failed while running",
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
