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
  PLACE_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  tellWarnings,
} from "../shared/command.ts";
import { toJson, toTable } from "../shared/output.ts";

/** `larder config`: the effective configuration with the source of each value; secrets are never shown. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Show the effective configuration and where each value comes from. Passwords and keys are never shown.",
    )
    .option("--json", "print it as JSON");
  addSettings(command);
  describeEnd(command, "larder config --preset household\nlarder config --json", "not used");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    tellWarnings(loaded, context.terminal);
    context.terminal.out(hasOption(command, "json") ? toJson(presentConfig(loaded)) : describeConfig(loaded));
    return EXIT.fine;
  });
  // Or --data after "rotate-secrets" would be taken for this command's own, and another directory's keys replaced.
  command.enablePositionalOptions();
  defineRotate(command.command("rotate-secrets").summary("Replace the keys of this server."), context);
}

function defineRotate(command: Command, context: CommandContext): void {
  command
    .description(
      "Replace the key that signs tokens: every session ends, and everybody signs in again. " +
        "For when somebody may have read the data directory.",
    )
    .option("--links", "replace the key of links too: they get new addresses, and the old ones end")
    .option("--push", "replace the key of push to browsers too: they subscribe again when the app is next opened");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(command, "larder config rotate-secrets --data /srv/larder", "not used");
  runs(command, async () => {
    const { config } = readConfig(command, context);
    requireDatabase(config);
    const paths = openDataDirectory(config.data);
    const { terminal } = context;
    rotateSecret(paths.secrets, "jwt");
    terminal.out("The key of tokens was replaced: every session ends.\n");
    if (hasOption(command, "links")) {
      rotateSecret(paths.secrets, "link");
      terminal.out("The key of links was replaced: they get new addresses, and the old ones end.\n");
    }
    if (hasOption(command, "push")) {
      rotateSecret(paths.secrets, "vapid");
      terminal.out("The key of push to browsers was replaced: browsers get no messages until they subscribe again.\n");
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
