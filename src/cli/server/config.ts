import { rotateSecret } from "../../config/secrets.ts";
import { environmentName, SETTINGS_BY_KEY } from "../../config/settings.ts";
import { findReplicaParts, sealTo } from "../../server/composition/start-replica.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import { type EffectiveConfig, withStoredSettings } from "../../server/data/stored-settings.ts";
import { requireOwnStore } from "../../server/store-lease.ts";
import { ALL_SETTINGS, DATA_SETTINGS, defineCommand } from "../shared/command.ts";
import { toTable } from "../shared/output.ts";

const rotateSecrets = defineCommand({
  description:
    "Replace the key that signs session tokens. All sessions end and everyone must sign in again. " +
    "Use this if someone may have read the data directory.",
  options: [
    ["--links", "Also replace the key of public links: each link gets a new address and the old one stops working."],
    ["--push", "Also replace the browser push key: browsers subscribe again when the app is next opened."],
  ],
  settings: DATA_SETTINGS,
  examples: "larder config rotate-secrets --data /srv/larder",
  problems: null,
  needsDatabase: true,
  async run(command) {
    const { config, terminal } = command;
    const paths = openDataDirectory(config.data);
    const replica = await findReplicaParts(config);
    await requireOwnStore(config);
    rotateSecret(paths.secrets, "jwt");
    terminal.out("Replaced the token key. All sessions end.\n");
    if (command.has("links")) {
      rotateSecret(paths.secrets, "link");
      terminal.out("Replaced the link key. Public links have new addresses; the old ones no longer work.\n");
    }
    if (command.has("push")) {
      rotateSecret(paths.secrets, "vapid");
      terminal.out("Replaced the browser push key. Browsers get no notifications until they subscribe again.\n");
    }
    if (replica !== undefined) {
      await sealTo(replica, paths);
      terminal.out("Sent the sealed keys to the replica.\n");
    }
    const server = findRunningServer(paths.lock);
    if (server !== undefined) {
      const which = server.pid === undefined ? "The running server" : `The running server (process ${server.pid})`;
      terminal.error(`${which} still uses the old keys. Restart it now.\n`);
    }
  },
});

/** `larder config`: the effective configuration with the source of each value, without secrets. */
export const define = defineCommand({
  description: "Show the effective configuration and the source of each value. Passwords and keys are not shown.",
  options: [["--json", "Print the configuration as JSON."]],
  settings: ALL_SETTINGS,
  examples: "larder config --preset household\nlarder config --json",
  problems: null,
  subcommands: [["rotate-secrets", "Replace this server's secret keys.", rotateSecrets]],
  run(command) {
    const effective = withStoredSettings(command.loaded);
    command.print(presentConfig(effective), describeConfig(effective));
  },
});

function describeConfig({ values, sources, file }: EffectiveConfig): string {
  const rows = [...SETTINGS_BY_KEY].map(([key, setting]) => [
    key,
    setting.show(values.get(key)) || '""',
    `# ${sources.get(key) ?? ""}`,
  ]);
  return `# ${file === undefined ? "No configuration file was found." : `Configuration file: ${file}`}\n${toTable(rows)}`;
}

function presentConfig({ values, sources, file }: EffectiveConfig) {
  const settings = [...SETTINGS_BY_KEY].map(([key, setting]) => {
    const value = values.get(key);
    const shown = setting.isSecret && value !== null ? setting.show(value) : value;
    return { key, value: shown, source: sources.get(key), environment: environmentName(key) };
  });
  return { file: file ?? null, settings };
}
