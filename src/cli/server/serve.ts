import { runServer } from "../../server/lifecycle.ts";
import { ALL_SETTINGS, defineCommand } from "../shared/command.ts";
import { runWithLog } from "../shared/run-with-log.ts";

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
  run: (command) => runWithLog(command, (log) => runServer(command.loaded, log, () => command.readConfig())),
});
