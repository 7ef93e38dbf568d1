import { StartupError } from "../../config/startup-error.ts";
import { createLog, logForm, usesColors } from "../../lib/log.ts";
import { runServer } from "../../server/lifecycle.ts";
import { ALL_SETTINGS, defineCommand, EXIT } from "../shared/command.ts";

/** `larder serve`: runs the server until SIGTERM or SIGINT. */
export const define = defineCommand({
  description:
    "Run the server. To stop it, press Ctrl+C or send SIGTERM; running requests get up to 30 seconds to finish.\n\n" +
    "Set any setting with a flag (--base-path), an environment variable (LARDER_BASE_PATH), or in larder.toml.\n" +
    "Plan settings are flags too, such as --plans-free-quota. To list them: larder config",
  settings: ALL_SETTINGS,
  examples: "larder serve --data /srv/larder --host 0.0.0.0\nLARDER_DATA=/srv/larder larder serve",
  problems: "the server failed while running",
  handlesWarnings: true,
  async run(command) {
    const { loaded, config, environment } = command;
    const log = createLog(logForm(config.log, process.stderr.isTTY), config.logLevel, undefined, {
      isColored: usesColors(environment, process.stderr.isTTY),
    });
    for (const warning of loaded.warnings) log.warn(warning);
    try {
      await runServer(loaded, log, () => command.readConfig());
      return EXIT.success;
    } catch (error) {
      if (config.log !== "json" || !(error instanceof StartupError)) throw error;
      // With --log json, the reason of a failed start must be JSON as well.
      log.error(error.message);
      return EXIT.error;
    }
  },
});
