/**
 * Reads the configuration from flags, the environment, larder.toml, the preset and the defaults. The first of them that
 * has a value wins. An invalid value stops the start; the error lists all faults at once.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import { nearest } from "./nearest.ts";
import { BadValue } from "./setting.ts";
import {
  type AnySetting,
  type Config,
  environmentName,
  fieldName,
  flagName,
  FOREIGN_VARIABLES,
  householdDefaults,
  isRateLimit,
  RENAMED,
  SETTINGS,
  SETTINGS_BY_KEY,
} from "./settings.ts";
import { StartupError } from "./startup-error.ts";

/** Where settings may come from; nothing else is read but the configuration file. */
export interface ConfigInput {
  /** Values of the command line, by key. */
  readonly flags?: Readonly<Record<string, string>>;
  /** `--config FILE`. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What relative paths on the command line and in the environment start from; the working directory by default. */
  readonly directory?: string;
}

/** Where a value came from, in words: "default", "preset household", "--port", "LARDER_PORT", "/srv/larder.toml:3". */
export type Source = string;

/** The configuration, and how it came about. */
export interface LoadedConfig {
  readonly config: Config;
  /** By key, every setting. */
  readonly sources: ReadonlyMap<string, Source>;
  /** By key, the same values as in `config`. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The file that was read, if there is one. */
  readonly file: string | undefined;
  /** What the operator should know though it stops nothing. */
  readonly warnings: readonly string[];
}

/** The configuration can't be used; the message lists every fault. */
export class ConfigError extends StartupError {
  override readonly name = "ConfigError";
}

interface Found {
  readonly raw: unknown;
  readonly source: Source;
  readonly directory: string;
}

/** Name of the configuration file in the data directory. */
export const CONFIG_FILE = "larder.toml";
/** The variable that stands for `--config FILE`. */
const CONFIG_VARIABLE = "LARDER_CONFIG";

/** Settings, besides the data directory, that are made absolute. */
const PATHS = [
  "socket",
  "tls.certFile",
  "tls.keyFile",
  "nativeDir",
  "libvips",
  "adminPasswordFile",
  "push.fcm.serviceAccountFile",
  "push.apns.keyFile",
];

/** Container orchestrators put such names in place for a service called "larder"; they are none of ours. */
const SERVICE_VARIABLES = /^LARDER_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;
const SERVICE_ADDRESS = /^(tcp|udp):\/\//;

/**
 * The effective configuration.
 * @throws ConfigError naming each bad value and unknown key with its place and the nearest key
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  return new Loading(input).load();
}

class Loading {
  readonly #input: ConfigInput;
  readonly #directory: string;
  readonly #faults: string[] = [];
  readonly #warnings: string[] = [];
  /** By key, all that was given for it: the one that wins first. */
  readonly #given = new Map<string, Found[]>();
  readonly #values = new Map<string, unknown>();
  readonly #sources = new Map<string, Source>();

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
    this.#decide();
    if (this.#faults.length === 0) this.#checkTogether();
    if (this.#faults.length > 0) {
      const faults = this.#faults.map((fault) => `  ${fault}`).join("\n");
      throw new ConfigError(`The configuration is not valid. Correct the following, then start again:\n${faults}`);
    }
    return {
      config: assemble(this.#values),
      sources: this.#sources,
      values: this.#values,
      file,
      warnings: this.#warnings,
    };
  }

  #readEnvironment(): void {
    const { environment } = this.#input;
    const keys = new Map([...SETTINGS_BY_KEY.keys()].map((key) => [environmentName(key), key]));
    const renamed = new Map(Object.keys(RENAMED).map((key) => [environmentName(key), key]));
    for (const [name, value] of Object.entries(environment)) {
      // An empty variable is what `docker compose` makes of one that isn't set.
      if (!name.startsWith("LARDER_") || value === undefined || value === "" || name === CONFIG_VARIABLE) continue;
      if (FOREIGN_VARIABLES.test(name) || SERVICE_VARIABLES.test(name)) continue;
      if (name === "LARDER_PORT" && SERVICE_ADDRESS.test(value)) continue;
      const old = renamed.get(name);
      const key = old === undefined ? keys.get(name) : this.#newKey(old, name, environmentName);
      if (key === undefined) {
        this.#faults.push(`${name} (environment) is not a setting. Did you mean ${nearest(name, keys.keys())}?`);
      } else if (key !== null) {
        this.#give(key, { raw: value, source: name, directory: this.#directory });
      }
    }
  }

  /** Reads larder.toml, if there is one. @returns its path */
  #readFile(): string | undefined {
    const named = this.#input.file ?? (this.#input.environment[CONFIG_VARIABLE] || undefined);
    const dataDirectory = resolve(this.#directory, this.#earlyData());
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

  #takeFromFile(key: string, raw: unknown, path: string, text: string): void {
    const location = `${path}:${lineOf(text, key)}`;
    const known = key in RENAMED ? this.#newKey(key, location, (name) => name) : key;
    if (known === null) return;
    if (known === undefined || !SETTINGS_BY_KEY.has(known)) {
      this.#faults.push(`${location}: "${key}" is not a setting. Did you mean "${nearestKey(key)}"?`);
      return;
    }
    this.#give(known, { raw, source: location, directory: dirname(path) });
  }

  #give(key: string, found: Found): void {
    const given = this.#given.get(key);
    if (given === undefined) this.#given.set(key, [found]);
    else given.push(found);
  }

  #winner(key: string): Found | undefined {
    return this.#given.get(key)?.[0];
  }

  /** The data directory as far as it is known before the file that lies in it is read. */
  #earlyData(): string {
    const raw = this.#winner("data")?.raw;
    return typeof raw === "string" && raw.trim() !== "" ? raw.trim() : SETTINGS.data.default;
  }

  /** The file in the data directory can't move the data directory: everybody would look in two places. */
  #checkFileData(named: string | undefined, path: string, dataDirectory: string): void {
    const data = this.#winner("data");
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

  /** The key that took the place of `old`, with a warning. Null: there is none, and the value is ignored. */
  #newKey(old: string, location: string, spell: (key: string) => string): string | null | undefined {
    const key = RENAMED[old];
    if (key === null)
      this.#warnings.push(`${location}: the setting ${spell(old)} no longer exists and has no effect. Remove it.`);
    else if (key !== undefined)
      this.#warnings.push(`${location}: the setting ${spell(old)} is now called ${spell(key)}. Rename it.`);
    return key;
  }

  #decide(): void {
    this.#settle("preset", SETTINGS_BY_KEY.get("preset"), new Map(), 1);
    const preset = this.#values.get("preset") === "household" ? householdDefaults() : new Map<string, unknown>();
    this.#settle("rateLimitScale", SETTINGS_BY_KEY.get("rateLimitScale"), preset, 1);
    const scale = Number(this.#values.get("rateLimitScale"));
    for (const [key, setting] of SETTINGS_BY_KEY) {
      if (!this.#values.has(key)) this.#settle(key, setting, preset, scale);
    }
  }

  #settle(key: string, setting: AnySetting | undefined, preset: ReadonlyMap<string, unknown>, scale: number): void {
    if (setting === undefined) return;
    const given = this.#given.get(key) ?? [];
    const fallback = preset.has(key) ? preset.get(key) : setting.default;
    this.#values.set(key, fallback);
    this.#sources.set(key, preset.has(key) ? "preset household" : "default");
    if (given.length === 0 && isRateLimit(key) && typeof fallback === "number" && scale !== 1) {
      this.#values.set(key, Math.max(1, Math.round(fallback * scale)));
      this.#sources.set(key, `default, rateLimitScale ${scale}`);
    }
    // From the last to the first, so that the winner stays; a bad value is a fault also where another wins over it.
    for (const found of given.toReversed()) this.#take(key, setting, found);
  }

  #take(key: string, setting: AnySetting, found: Found): void {
    try {
      this.#values.set(key, setting.kind.parse(found.raw, found.directory));
      this.#sources.set(key, found.source);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const given = setting.isSecret ? "" : `, not ${JSON.stringify(found.raw)}`;
      const name = found.source.includes(":") ? `${found.source}: "${key}"` : found.source;
      this.#faults.push(`${name} ${error.message}${given}.`);
    }
  }

  /** What only shows when all values are known; makes paths absolute and fills in what follows from others. */
  #checkTogether(): void {
    const dataSource = this.#winner("data");
    this.#values.set("data", resolve(dataSource?.directory ?? this.#directory, String(this.#values.get("data"))));
    for (const key of PATHS) {
      const path = this.#values.get(key);
      if (typeof path === "string") this.#values.set(key, resolve(path));
    }
    this.#checkAdmin();
    this.#checkMail();
    this.#checkListening();
    const publicUrl = this.#values.get("publicUrl");
    if (typeof publicUrl !== "string") return;
    const path = new URL(publicUrl).pathname.replace(/\/$/, "");
    if (this.#given.has("basePath") && path !== this.#values.get("basePath")) {
      this.#warnings.push(
        `publicUrl ends in "${path || "/"}" and basePath is "${String(this.#values.get("basePath")) || "/"}". ` +
          "Links start with publicUrl. Make sure that the proxy forwards that path to basePath.",
      );
    }
    if (!this.#given.has("basePath") && path !== "") {
      this.#faults.push(...this.#takeBasePath(path));
    }
  }

  /** The path of publicUrl is the base path where none is set. @returns faults */
  #takeBasePath(path: string): string[] {
    try {
      this.#values.set("basePath", SETTINGS.basePath.kind.parse(path, ""));
      this.#sources.set("basePath", "publicUrl");
      return [];
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      return [`${this.#sources.get("publicUrl")}: the path of publicUrl ${error.message}.`];
    }
  }

  #checkListening(): void {
    const has = (key: string) => this.#values.get(key) !== null;
    if (has("tls.certFile") !== has("tls.keyFile")) {
      this.#faults.push("tls.certFile and tls.keyFile must be set together. Set both or neither.");
    }
    if (has("tls.certFile") && has("socket")) {
      this.#faults.push("socket and tls.certFile cannot be combined: with a Unix socket, the proxy handles TLS.");
    }
    if (has("tls.redirectPort") && !has("tls.certFile")) {
      this.#faults.push("tls.redirectPort requires HTTPS. Set tls.certFile and tls.keyFile too.");
    }
  }

  #checkMail(): void {
    if (this.#values.get("mail.verify") !== true || this.#values.get("mail.host") !== null) return;
    this.#faults.push(
      "mail.verify requires an SMTP server to send confirmations. Set mail.host, or turn off mail.verify.",
    );
  }

  #checkAdmin(): void {
    const has = (key: string) => this.#values.get(key) !== null;
    if (has("adminPassword") && has("adminPasswordFile")) {
      this.#faults.push("adminPassword and adminPasswordFile are both set. Remove one of them.");
    }
    if (has("adminEmail") !== (has("adminPassword") || has("adminPasswordFile"))) {
      this.#faults.push(
        "adminEmail requires a password (adminPassword or adminPasswordFile), and the other way round. Set both or neither.",
      );
    }
  }
}

/** The setting that was most likely meant; also one that merely stands below the wrong heading. */
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
    for (const name of key.split(".").slice(0, -1)) {
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

function parseToml(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const cause = error.message.split("\n")[0] ?? "";
    throw new ConfigError(`${path}:${error.line}: not valid TOML. ${cause}`, error);
  }
}

function* leaves(table: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(table)) {
    if (isTable(value)) yield* leaves(value, `${prefix}${name}.`);
    else yield [prefix + name, value];
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * The line on which a key is set. The parser does not report lines. So longer and longer beginnings of the file are
 * parsed until the key appears; its line follows the last complete beginning without it.
 */
function lineOf(text: string, key: string): number {
  const lines = text.split("\n");
  let wholeUpTo = 0;
  for (let count = 1; count <= lines.length; count++) {
    const table = tryParse(lines.slice(0, count).join("\n"));
    if (table === undefined) continue;
    if ([...leaves(table, "")].some(([name]) => name === key)) return wholeUpTo + 1;
    wholeUpTo = count;
  }
  return 1;
}

function tryParse(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TomlError) return undefined;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
