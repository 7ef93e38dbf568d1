/**
 * Reads the configuration from flags, the environment, larder.toml, the preset and the defaults. The first of them that
 * has a value wins. An invalid value stops the start; the error lists all faults at once.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./startup-error.ts";
import { nearest } from "./nearest.ts";
import { Resolution, type GivenValue, type StoredProblem } from "./resolve.ts";
import {
  type Config,
  environmentName,
  fieldName,
  flagName,
  FOREIGN_VARIABLES,
  keyOfPath,
  pathOfKey,
  SETTINGS,
  SETTINGS_BY_KEY,
} from "./settings.ts";
import { isTable, leaves, lineOf, parseToml } from "./toml.ts";
import { messageOf } from "../lib/error.ts";

/** The sources of settings, besides the configuration file. */
export interface ConfigInput {
  /** Values of the command line, by key. */
  readonly flags?: Readonly<Record<string, string>>;
  /** `--config FILE`. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The directory that relative paths on the command line and in the environment are in; by default the working
   * directory.
   */
  readonly directory?: string;
}

/** The source of a value: "default", "preset household", "--port", "LARDER_PORT", "/srv/larder.toml:3". */
export type Source = string;

/** The configuration, with the sources of its values. */
export interface LoadedConfig {
  readonly config: Config;
  /** The source of every setting, by key. */
  readonly sources: ReadonlyMap<string, Source>;
  /** The values in `config`, by key. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The file that was read, if there is one. */
  readonly file: string | undefined;
  /** Problems that do not stop the start. */
  readonly warnings: readonly string[];
  /** Where a setting is fixed, outside of the settings that administrators store; undefined if it is not. */
  readonly fixedBy: (key: string) => Source | undefined;
  /**
   * The same configuration with other stored values, which apply where nothing else gives a value. A stored value that
   * is not valid is ignored and listed in `problems`.
   */
  readonly withStored: (stored: ReadonlyMap<string, unknown>) => StoredConfig;
}

/** The configuration with the settings that administrators store. */
export interface StoredConfig extends Pick<LoadedConfig, "config" | "sources" | "values"> {
  readonly problems: readonly StoredProblem[];
}

/** Name of the configuration file in the data directory. */
export const CONFIG_FILE = "larder.toml";
/** The variable with the meaning of `--config FILE`. */
const CONFIG_VARIABLE = "LARDER_CONFIG";

/** Variables that container orchestrators set for a service called "larder". They are not settings. */
const SERVICE_VARIABLES = /^LARDER_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;
const SERVICE_ADDRESS = /^(tcp|udp):\/\//;

/**
 * Reads the effective configuration.
 * @throws ConfigError with each invalid value and unknown key, where it is, and the most similar key
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  return new Loading(input).load();
}

class Loading {
  readonly #input: ConfigInput;
  readonly #directory: string;
  readonly #faults: string[] = [];
  readonly #warnings: string[] = [];
  /** The given values of each key, by precedence: the first one applies. */
  readonly #given = new Map<string, GivenValue[]>();

  constructor(input: ConfigInput) {
    this.#input = input;
    this.#directory = resolve(input.directory ?? ".");
  }

  load(): LoadedConfig {
    for (const [key, raw] of Object.entries(this.#input.flags ?? {})) {
      this.#give(key, { raw, source: flagName(key), directory: this.#directory });
    }
    this.#readEnvironment();
    const file = this.#readFile();
    const resolution = new Resolution(this.#given, this.#directory, new Map(), this.#faults);
    const { values, sources, faults } = resolution;
    if (faults.length > 0) {
      const lines = faults.map((fault) => `  ${fault}`).join("\n");
      throw new ConfigError(`The configuration is not valid. Correct the following, then start again:\n${lines}`);
    }
    return {
      config: assemble(values),
      sources,
      values,
      file,
      warnings: [...this.#warnings, ...resolution.warnings],
      fixedBy: resolution.fixedBy,
      withStored: (stored) => {
        const { problems, ...resolved } = new Resolution(this.#given, this.#directory, stored);
        return { config: assemble(resolved.values), values: resolved.values, sources: resolved.sources, problems };
      },
    };
  }

  #readEnvironment(): void {
    const { environment } = this.#input;
    const keys = new Map([...SETTINGS_BY_KEY.keys()].map((key) => [environmentName(key), key]));
    for (const [name, value] of Object.entries(environment)) {
      // `docker compose` passes a variable that is not set as an empty one.
      if (!name.startsWith("LARDER_") || value === undefined || value === "" || name === CONFIG_VARIABLE) continue;
      if (FOREIGN_VARIABLES.test(name) || SERVICE_VARIABLES.test(name)) continue;
      if (name === "LARDER_PORT" && SERVICE_ADDRESS.test(value)) continue;
      const key = keys.get(name);
      if (key === undefined) {
        this.#faults.push(`${name} (environment) is not a setting. Did you mean ${nearest(name, keys.keys())}?`);
      } else {
        this.#give(key, { raw: value, source: name, directory: this.#directory });
      }
    }
  }

  /** Reads larder.toml, if there is one. @returns its path */
  #readFile(): string | undefined {
    const named = this.#input.file ?? (this.#input.environment[CONFIG_VARIABLE] || undefined);
    const dataDirectory = resolve(this.#directory, this.#dataBeforeFile());
    const path = named === undefined ? join(dataDirectory, CONFIG_FILE) : resolve(this.#directory, named);
    if (named === undefined && !existsSync(path)) return undefined;
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (error) {
      throw new ConfigError(`Cannot read the configuration file ${path}: ${messageOf(error)}.`, error);
    }
    const table = parseToml(text, path);
    for (const [key, raw] of leaves(table, "")) this.#takeFromFile(key, raw, path, text);
    this.#checkFileData(named, path, dataDirectory);
    this.#warnOfReadableSecrets(path);
    return path;
  }

  #takeFromFile(written: string, raw: unknown, path: string, text: string): void {
    const location = `${path}:${lineOf(text, written)}`;
    const key = keyOfPath(written);
    if (SETTINGS_BY_KEY.has(key)) this.#give(key, { raw, source: location, directory: dirname(path) });
    else this.#faults.push(`${location}: "${key}" is not a setting. Did you mean "${nearestKey(key)}"?`);
  }

  #give(key: string, value: GivenValue): void {
    const values = this.#given.get(key);
    if (values === undefined) this.#given.set(key, [value]);
    else values.push(value);
  }

  /** The given value that applies; undefined if no source gives one. */
  #firstGiven(key: string): GivenValue | undefined {
    return this.#given.get(key)?.[0];
  }

  /** The data directory in which larder.toml is looked for. */
  #dataBeforeFile(): string {
    const raw = this.#firstGiven("data")?.raw;
    return typeof raw === "string" && raw.trim() !== "" ? raw.trim() : SETTINGS.data.default;
  }

  /** Rejects a larder.toml in the data directory that names another data directory. */
  #checkFileData(named: string | undefined, path: string, dataDirectory: string): void {
    const data = this.#firstGiven("data");
    if (named !== undefined || data === undefined || !data.source.startsWith(`${path}:`)) return;
    if (typeof data.raw !== "string" || resolve(dirname(path), data.raw) === dataDirectory) return;
    this.#faults.push(
      `${data.source}: "data" must not name another directory than the one of this file. ` +
        `Remove the line, or specify the file with --config.`,
    );
  }

  #warnOfReadableSecrets(path: string): void {
    const hasSecret = [...SETTINGS_BY_KEY].some(
      ([key, setting]) => setting.isSecret && this.#given.get(key)?.some(({ source }) => source.startsWith(`${path}:`)),
    );
    if (hasSecret && (statSync(path).mode & 0o077) !== 0) {
      this.#warnings.push(
        `${path} contains a password, and other users of this machine can read it. Run: chmod 600 ${path}`,
      );
    }
  }
}

/** The setting that was most likely meant. A known name under a wrong heading is taken as it is. */
function nearestKey(key: string): string | undefined {
  const last = key.slice(key.lastIndexOf(".") + 1);
  return SETTINGS_BY_KEY.has(last) ? last : nearest(key, SETTINGS_BY_KEY.keys());
}

/** The nested, frozen form of the values. */
function assemble(values: ReadonlyMap<string, unknown>): Config {
  const config: Record<string, unknown> = {};
  const groups: Record<string, unknown>[] = [config];
  for (const [key, setting] of SETTINGS_BY_KEY) {
    let group = config;
    for (const name of pathOfKey(key).split(".").slice(0, -1)) {
      const inner = group[name];
      if (isTable(inner)) group = inner;
      else {
        const made: Record<string, unknown> = {};
        group[name] = made;
        groups.push(made);
        group = made;
      }
    }
    const value = values.get(key);
    group[fieldName(key, setting)] = Array.isArray(value) ? Object.freeze([...value]) : value;
  }
  for (const group of groups) Object.freeze(group);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Config is the same walk, done by the type checker
  return config as Config;
}
