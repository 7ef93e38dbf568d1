import type { Command } from "commander";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { createLog } from "../lib/log.ts";
import { runServer } from "../server/lifecycle.ts";
import { addSettings, type CommandContext, describeEnd, EXIT, readConfig, runs } from "./command.ts";

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
    const log = createLog(loaded.config.log, loaded.config.logLevel);
    for (const warning of loaded.warnings) log.warn(warning);
    try {
      await runServer(loaded.config, log, () => readConfig(command, context).config);
    } catch (error) {
      throw explainListenError(error, loaded.config);
    }
    return EXIT.fine;
  });
}

/** What keeps the server from listening is the operator's to solve; everything else is passed on. */
function explainListenError(error: unknown, { host, port }: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = `${host} port ${port}`;
  if (code === "EADDRINUSE") {
    return new StartupError(`Another program listens on ${place}. Stop it, or choose another port by --port.`, error);
  }
  if (code === "EACCES") {
    return new StartupError(`This user may not listen on ${place}. Choose a port from 1024 on by --port.`, error);
  }
  // EINVAL is a name that stands for no address.
  if (code === "EADDRNOTAVAIL" || code === "EINVAL") {
    return new StartupError(`${host} is no address of this machine. Give another by --host.`, error);
  }
  return error;
}
