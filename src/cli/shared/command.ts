/** What every command is made of. */
import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { type AnySetting, type Config, flagName, SETTINGS_BY_KEY } from "../../config/settings.ts";
import { NOT_SET } from "../../config/setting.ts";
import { StartupError } from "../../config/startup-error.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import type { Terminal } from "./output.ts";

/** What a command is given of the world. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start. */
  readonly directory: string;
}

/** The three ways in which a command ends. */
export const EXIT = { fine: 0, wrong: 1, couldNotRun: 2 } as const;

/**
 * How long a command beside a server that writes without a pause waits for its turn, in milliseconds: SQLite looks ten times
 * a second whether it may.
 */
export const BUSY_TIMEOUT_MS = 60_000;

/** What a command's work gives back: one of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The work of a command, given its arguments and where its options are. */
export type Work = (args: readonly string[], command: Command) => Promise<ExitCode>;

/** Puts a command together: arguments, options, help, and its work by {@link runs}. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

/** What the program was started with could not be understood. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const results = new WeakMap<Command, ExitCode>();

/** Makes `work` what the command does. */
export function runs(command: Command, work: Work): void {
  command.action(async (..._ignored: unknown[]) => {
    results.set(command, await work(command.args, command));
  });
}

/** How the command, or the one below it that was asked for, ended; undefined where none ran. */
export function resultOf(command: Command): ExitCode | undefined {
  return results.get(command) ?? command.commands.map(resultOf).find((code) => code !== undefined);
}

/**
 * Ends the help of a command: examples and the exit codes.
 * @param wrong what exit code 1 means; null for a command that never ends with it
 */
export function describeEnd(
  command: Command,
  examples: string,
  wrong: string | null = "completed with problems",
): void {
  const lines = examples.split("\n").map((line) => `  ${line}`);
  command.addHelpText(
    "after",
    `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.join("\n")}\n\nExit codes: 0 success; ${wrong === null ? "" : `1 ${wrong}; `}2 error.`,
  );
}

/**
 * Lets settings be given as flags, `--config FILE` among them. The numbers of the plans are taken and not listed.
 * @param keys which settings; all of them by default
 */
export function addSettings(command: Command, keys: Iterable<string> = SETTINGS_BY_KEY.keys()): void {
  command.addOption(
    new Option("--config <file>", "Configuration file. (LARDER_CONFIG; default: larder.toml in the data directory)"),
  );
  for (const key of keys) {
    const setting = SETTINGS_BY_KEY.get(key);
    if (setting === undefined || setting.isSecret) continue;
    const isToggle = typeof setting.default === "boolean";
    const { placeholder } = setting.kind;
    const value = isToggle ? `[${placeholder}]` : `<${placeholder}>`;
    const option = new Option(`${flagName(key)} ${value}`, `${setting.help}${describeDefault(setting)}`);
    if (key.startsWith("plans.")) option.hideHelp();
    command.addOption(option);
  }
}

/** The default of a setting, for its help; nothing where it has none. */
function describeDefault(setting: AnySetting): string {
  const shown = setting.show(setting.default);
  return shown === "" || shown === NOT_SET ? "" : ` (default: ${shown})`;
}

/** The settings that tell a command beside the server where the data is. */
export const DATA_SETTINGS = ["data"];

/** The configuration that this command runs under. @throws ConfigError */
export function readConfig(command: Command, context: CommandContext): LoadedConfig {
  const given: Record<string, unknown> = command.opts();
  const flags: Record<string, string> = {};
  const options = new Map(command.options.map((option) => [option.long, option]));
  for (const key of SETTINGS_BY_KEY.keys()) {
    const option = options.get(flagName(key));
    const value = option === undefined ? undefined : given[option.attributeName()];
    // A toggle may stand alone: --tls-redirect is --tls-redirect on.
    if (typeof value === "string" || value === true) flags[key] = value === true ? "on" : value;
  }
  const file = typeof given["config"] === "string" ? given["config"] : undefined;
  return loadConfig({ flags, file, environment: context.environment, directory: context.directory });
}

/** For commands that ask about data: they make none where there is none. @throws StartupError */
export function requireDatabase(config: Config): void {
  const { root, database } = dataPaths(config.data);
  if (existsSync(database)) return;
  throw new StartupError(
    `No database found in ${root}. Set the data directory with --data (LARDER_DATA), ` +
      `or create a new one: larder serve --data ${root}`,
  );
}

/** Tells the configuration's warnings where no server is there to log them. */
export function printWarnings(loaded: LoadedConfig, terminal: Terminal): void {
  for (const warning of loaded.warnings) terminal.error(`Warning: ${warning}\n`);
}

/** The text given for an option, by its name in camelCase. */
export function optionText(command: Command, name: string): string | undefined {
  const value: unknown = command.getOptionValue(name);
  return typeof value === "string" ? value : undefined;
}

/** Whether an option without a value was given. */
export function hasOption(command: Command, name: string): boolean {
  return command.getOptionValue(name) === true;
}
