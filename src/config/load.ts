/**
 * Reads the configuration from flags, the environment, larder.toml, the preset and the defaults. The first of them that
 * has a value wins. An invalid value stops the start; the error lists all faults at once.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./startup-error.ts";
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
}

/** A value from one source. */
interface GivenValue {
  readonly raw: unknown;
  readonly source: Source;
  /** The directory that a relative path is in. */
  readonly directory: string;
}

/** Name of the configuration file in the data directory. */
export const CONFIG_FILE = "larder.toml";
/** The variable with the meaning of `--config FILE`. */
const CONFIG_VARIABLE = "LARDER_CONFIG";

/** Paths that become absolute, besides the data directory. */
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
    this.#resolveAll();
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

  #takeFromFile(key: string, raw: unknown, path: string, text: string): void {
    const location = `${path}:${lineOf(text, key)}`;
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

  /** Determines every value. The preset and the scale come first: other defaults depend on them. */
  #resolveAll(): void {
    this.#resolve("preset", SETTINGS_BY_KEY.get("preset"), new Map(), 1);
    const preset = this.#values.get("preset") === "household" ? householdDefaults() : new Map<string, unknown>();
    this.#resolve("rateLimitScale", SETTINGS_BY_KEY.get("rateLimitScale"), preset, 1);
    const scale = Number(this.#values.get("rateLimitScale"));
    for (const [key, setting] of SETTINGS_BY_KEY) {
      if (!this.#values.has(key)) this.#resolve(key, setting, preset, scale);
    }
  }

  #resolve(key: string, setting: AnySetting | undefined, preset: ReadonlyMap<string, unknown>, scale: number): void {
    if (setting === undefined) return;
    const given = this.#given.get(key) ?? [];
    const fallback = preset.has(key) ? preset.get(key) : setting.default;
    this.#values.set(key, fallback);
    this.#sources.set(key, preset.has(key) ? "preset household" : "default");
    if (given.length === 0 && isRateLimit(key) && typeof fallback === "number" && scale !== 1) {
      this.#values.set(key, Math.max(1, Math.round(fallback * scale)));
      this.#sources.set(key, `default, rateLimitScale ${scale}`);
    }
    // In reverse order, so that the first value stays. A bad value is a fault even if another one overrides it.
    for (const value of given.toReversed()) this.#parse(key, setting, value);
  }

  #parse(key: string, setting: AnySetting, { raw, directory, source }: GivenValue): void {
    try {
      this.#values.set(key, setting.kind.parse(raw, directory));
      this.#sources.set(key, source);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const given = setting.isSecret ? "" : `, not ${JSON.stringify(raw)}`;
      const name = source.includes(":") ? `${source}: "${key}"` : source;
      this.#faults.push(`${name} ${error.message}${given}.`);
    }
  }

  /** Checks values that depend on each other, makes paths absolute, and derives the base path. */
  #checkTogether(): void {
    const dataSource = this.#firstGiven("data");
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
      this.#faults.push(...this.#deriveBasePath(path));
    }
  }

  /** Uses the path of publicUrl as the base path. @returns faults */
  #deriveBasePath(path: string): string[] {
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
