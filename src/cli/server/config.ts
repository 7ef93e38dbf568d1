import type { Command } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import { rotateSecret } from "../../config/secrets.ts";
import { environmentName, SETTINGS_BY_KEY } from "../../config/settings.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  hasOption,
  DATA_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  printWarnings,
} from "../shared/command.ts";
import { toJson, toTable } from "../shared/output.ts";

/** `larder config`: the effective configuration with the source of each value; secrets are never shown. */
export function define(command: Command, context: CommandContext): void {
  command
    .description("Show the effective configuration and the source of each value. Passwords and keys are not shown.")
    .option("--json", "Print the configuration as JSON.");
  addSettings(command);
  describeEnd(command, "larder config --preset household\nlarder config --json", null);
  runs(command, async () => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    context.terminal.out(hasOption(command, "json") ? toJson(presentConfig(loaded)) : describeConfig(loaded));
    return EXIT.fine;
  });
  // Or --data after "rotate-secrets" would be taken for this command's own, and another directory's keys replaced.
  command.enablePositionalOptions();
  defineRotate(command.command("rotate-secrets").summary("Replace this server's secret keys."), context);
}

function defineRotate(command: Command, context: CommandContext): void {
  command
    .description(
      "Replace the key that signs session tokens. All sessions end and everyone must sign in again. " +
        "Use this if someone may have read the data directory.",
    )
    .option(
      "--links",
      "Also replace the key of public links: each link gets a new address and the old one stops working.",
    )
    .option("--push", "Also replace the browser push key: browsers subscribe again when the app is next opened.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(command, "larder config rotate-secrets --data /srv/larder", null);
  runs(command, async () => {
    const { config } = readConfig(command, context);
    requireDatabase(config);
    const paths = openDataDirectory(config.data);
    const { terminal } = context;
    rotateSecret(paths.secrets, "jwt");
    terminal.out("Replaced the token key. All sessions end.\n");
    if (hasOption(command, "links")) {
      rotateSecret(paths.secrets, "link");
      terminal.out("Replaced the link key. Public links have new addresses; the old ones no longer work.\n");
    }
    if (hasOption(command, "push")) {
      rotateSecret(paths.secrets, "vapid");
      terminal.out("Replaced the browser push key. Browsers get no notifications until they subscribe again.\n");
    }
    const server = findRunningServer(paths.lock);
    if (server !== undefined) {
      const which = server.pid === undefined ? "The running server" : `The running server (process ${server.pid})`;
      terminal.error(`${which} still uses the old keys. Restart it now.\n`);
    }
    return EXIT.fine;
  });
}

function describeConfig({ values, sources, file }: LoadedConfig): string {
  const rows = [...SETTINGS_BY_KEY].map(([key, setting]) => [
    key,
    setting.show(values.get(key)) || '""',
    `# ${sources.get(key) ?? ""}`,
  ]);
  return `# ${file === undefined ? "No configuration file was found." : `Configuration file: ${file}`}\n${toTable(rows)}`;
}

function presentConfig({ values, sources, file }: LoadedConfig) {
  const settings = [...SETTINGS_BY_KEY].map(([key, setting]) => {
    const value = values.get(key);
    const shown = setting.isSecret && value !== null ? setting.show(value) : value;
    return { key, value: shown, source: sources.get(key), environment: environmentName(key) };
  });
  return { file: file ?? null, settings };
}
