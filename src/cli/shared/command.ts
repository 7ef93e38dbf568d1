/** The definition of a command, and the values of one call. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { NOT_SET } from "../../config/setting.ts";
import { type AnySetting, type Config, flagName, SETTINGS_BY_KEY } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { createLog, type Log, type LogLevel } from "../../lib/log.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import { type Terminal, toJson } from "./output.ts";

/** The surroundings of the process that runs a command. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. */
  readonly directory: string;
}

/** The exit codes: success, completed with problems, error. */
export const EXIT = { success: 0, problems: 1, error: 2 } as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Adds arguments, options, help, and action to an empty command. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

/** The arguments or options of the program are wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The setting that every command needs to find the data directory. */
export const DATA_SETTINGS = ["data"];

/** For commands that depend on the whole configuration. */
export const ALL_SETTINGS = [...SETTINGS_BY_KEY.keys()];

/** One command, as {@link defineCommand} takes it. */
export interface CommandDefinition {
  readonly description?: string;
  /** Flags or arguments with their descriptions, in the order of the help. */
  readonly options?: readonly (Option | readonly [flags: string, description: string])[];
  readonly argument?: readonly [name: string, description: string];
  /** Settings that are flags of this command. The configuration file is an option of each command with settings. */
  readonly settings?: readonly string[];
  /** Shown in the help, one a line. */
  readonly examples: string;
  /** What exit code 1 means; null for a command that never exits with it. */
  readonly problems?: string | null;
  /** Whether the command fails if the data directory has no database. */
  readonly needsDatabase?: boolean;
  /** Whether the warnings of the configuration are left to the command. */
  readonly handlesWarnings?: boolean;
  readonly subcommands?: readonly (readonly [usage: string, summary: string, define: DefineCommand])[];
  /** Does the work. @returns the exit code; success by default */
  readonly run?: (command: RunningCommand, args: readonly string[]) => Promise<ExitCode | void> | ExitCode | void;
}

const exitCodes = new WeakMap<CommandContext, ExitCode>();

/** Creates a command from its definition. */
export function defineCommand(definition: CommandDefinition): DefineCommand {
  const { description, options = [], argument, settings, examples, problems, subcommands = [], run } = definition;
  return (command, context) => {
    if (argument !== undefined) command.argument(...argument);
    if (description !== undefined) command.description(description);
    for (const option of options) command.addOption(option instanceof Option ? option : new Option(...option));
    if (settings !== undefined) for (const option of settingOptions(settings)) command.addOption(option);
    command.addHelpText("after", helpFooter(examples, problems));
    if (run !== undefined) {
      command.action(async () => {
        const running = new RunningCommand(command, context, definition.handlesWarnings === true);
        if (definition.needsDatabase === true) requireDatabase(running.config);
        exitCodes.set(context, (await run(running, command.args)) ?? EXIT.success);
      });
    }
    // Otherwise, --data after the subcommand would be an option of this command, and another directory would be used.
    if (subcommands.length > 0) command.enablePositionalOptions();
    for (const [usage, summary, define] of subcommands) define(command.command(usage).summary(summary), context);
  };
}

/** The exit code of the command that ran in this context; undefined if none ran. */
export function exitCodeOf(context: CommandContext): ExitCode | undefined {
  return exitCodes.get(context);
}

function helpFooter(examples: string, problems: string | null = "completed with problems"): string {
  const lines = examples.split("\n").map((line) => `  ${line}`);
  const codes = `Exit codes: 0 success; ${problems === null ? "" : `1 ${problems}; `}2 error.`;
  return `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.join("\n")}\n\n${codes}`;
}

/** Settings as options, after `--config FILE`. The help does not list the many numbers of the plans. */
export function settingOptions(keys: readonly string[]): Option[] {
  const config = "Configuration file. (LARDER_CONFIG; default: larder.toml in the data directory)";
  const options = [new Option("--config <file>", config)];
  for (const key of keys) {
    const setting = SETTINGS_BY_KEY.get(key);
    if (setting === undefined || setting.isSecret) continue;
    const { placeholder } = setting.kind;
    const value = typeof setting.default === "boolean" ? `[${placeholder}]` : `<${placeholder}>`;
    const option = new Option(`${flagName(key)} ${value}`, `${setting.help}${describeDefault(setting)}`);
    options.push(key.startsWith("plans.") ? option.hideHelp() : option);
  }
  return options;
}

function describeDefault(setting: AnySetting): string {
  const shown = setting.show(setting.default);
  return shown === "" || shown === NOT_SET ? "" : ` (default: ${shown})`;
}

/** The values that a command was called with. */
export class RunningCommand implements CommandContext {
  readonly terminal: Terminal;
  readonly environment: CommandContext["environment"];
  readonly directory: string;
  readonly #command: Command;
  readonly #handlesWarnings: boolean;
  #loaded: LoadedConfig | undefined;

  constructor(command: Command, { terminal, environment, directory }: CommandContext, handlesWarnings: boolean) {
    this.#command = command;
    this.#handlesWarnings = handlesWarnings;
    this.terminal = terminal;
    this.environment = environment;
    this.directory = directory;
  }

  get config(): Config {
    return this.loaded.config;
  }

  /** The configuration, read once; its warnings are printed then. @throws ConfigError */
  get loaded(): LoadedConfig {
    if (this.#loaded === undefined) {
      this.#loaded = this.readConfig();
      if (!this.#handlesWarnings) this.printWarnings();
    }
    return this.#loaded;
  }

  printWarnings(): void {
    for (const warning of this.loaded.warnings) this.terminal.error(`Warning: ${warning}\n`);
  }

  /** Reads the configuration from flags, environment, and file. @throws ConfigError */
  readConfig(): LoadedConfig {
    const flags: Record<string, string> = {};
    const options = new Map(this.#command.options.map((option) => [option.long, option]));
    for (const key of ALL_SETTINGS) {
      const option = options.get(flagName(key));
      const value = option === undefined ? undefined : this.value(option.attributeName());
      // A toggle needs no value: --tls-redirect is --tls-redirect on.
      if (typeof value === "string" || value === true) flags[key] = value === true ? "on" : value;
    }
    return loadConfig({ flags, file: this.text("config"), environment: this.environment, directory: this.directory });
  }

  /** The value of an option, by its name in camelCase. */
  value(name: string): unknown {
    return this.#command.getOptionValue(name);
  }

  /** The text given for an option. */
  text(name: string): string | undefined {
    const value = this.value(name);
    return typeof value === "string" ? value : undefined;
  }

  /** The text of an option that must be given. @throws UsageError */
  requiredText(name: string, what: string): string {
    const text = this.text(name);
    if (text === undefined) throw new UsageError(`Specify ${what}. See: ${pathOf(this.#command)} --help`);
    return text;
  }

  /** The number given for an option. @throws UsageError if it is not a whole number of at least `min` */
  wholeNumber(name: string, min: number): number {
    const number = Number(this.text(name));
    if (Number.isInteger(number) && number >= min) return number;
    throw new UsageError(`--${name} must be a whole number of at least ${min}, not "${this.text(name) ?? ""}".`);
  }

  /** Whether an option without a value was given. */
  has(name: string): boolean {
    return this.value(name) === true;
  }

  get isJson(): boolean {
    return this.has("json");
  }

  /** An absolute path. */
  path(path: string): string {
    return resolve(this.directory, path);
  }

  /** A log that writes to the terminal. */
  log(level: LogLevel = "warn"): Log {
    return createLog("pretty", level, (line) => this.terminal.error(line));
  }

  /** Prints the result: as JSON with `--json`, otherwise as text. */
  print(value: unknown, text: string): void {
    this.terminal.out(this.isJson ? toJson(value) : text);
  }
}

/** Rejects a data directory without a database, so that the command does not create one. @throws StartupError */
export function requireDatabase(config: Config): void {
  const { root, database } = dataPaths(config.data);
  if (existsSync(database)) return;
  if (config.replica.url !== null) {
    throw new StartupError(
      `No database found in ${root}: only the owner of the store has one. Run the command on the owner. ` +
        "To see which machine that is: larder replica status",
    );
  }
  throw new StartupError(
    `No database found in ${root}. Set the data directory with --data (LARDER_DATA), ` +
      `or create a new one: larder serve --data ${root}`,
  );
}

/** The command as people enter it: "larder user add". */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
