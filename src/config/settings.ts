/**
 * Every setting, once. The key of a setting is its path in this table. The names of its flag and its environment
 * variable follow from the key: `plans.free.limit.uploads` is `--plans-free-limit-uploads` and
 * `LARDER_PLANS_FREE_LIMIT_UPLOADS`. The one exception is {@link SHORT_KEY}.
 */
import { readPath, Setting, text, type Unit } from "./setting.ts";
import { ACCOUNT_SETTINGS } from "./settings/accounts.ts";
import { NETWORK_SETTINGS } from "./settings/network.ts";
import { OPERATION_SETTINGS } from "./settings/operation.ts";
import { SERVICE_SETTINGS } from "./settings/services.ts";
import { STORAGE_SETTINGS } from "./settings/storage.ts";

/** The table. Help and documentation list the settings in this order. */
export const SETTINGS = {
  data: text("path", (path) => readPath(path, "."), "./data", "Data directory: holds the database, files, and keys."),
  ...NETWORK_SETTINGS,
  ...ACCOUNT_SETTINGS,
  ...STORAGE_SETTINGS,
  ...SERVICE_SETTINGS,
  ...OPERATION_SETTINGS,
};

/** The key of the setting at this path is `replica`, so `replica = "s3://…"` is enough where nothing else is set. */
const SHORT_PATH = "replica.url";
const SHORT_KEY = "replica";

/** The key of the setting at a path of {@link SETTINGS}. larder.toml accepts both, so `replica` can also be a table. */
export function keyOfPath(path: string): string {
  return path === SHORT_PATH ? SHORT_KEY : path;
}

/** The path of a setting in {@link SETTINGS}. */
export function pathOfKey(key: string): string {
  return key === SHORT_KEY ? SHORT_PATH : key;
}

/** Variables that begin with LARDER_ but are not settings: those of the tests, the benchmark, and the build. */
export const FOREIGN_VARIABLES = /^LARDER_(TEST|BENCH|BUILD)_/;

type FieldName<K extends string, S> = S extends Setting<infer _V, infer U extends Unit> ? `${K}${U}` : K;

type ConfigOf<T> = {
  readonly [K in keyof T & string as FieldName<K, T[K]>]: T[K] extends Setting<infer V, infer _U extends Unit>
    ? V
    : ConfigOf<T[K]>;
};

/**
 * The effective configuration. Code never changes it; see `SettingsService` for the settings that change while the server
 * runs. A field has the name of its setting, with the unit last: `gcGrace` is
 * `gcGraceMs`,
 * `plans.free.quota` is `plans.free.quotaBytes`. Null means no limit, or not set. Paths are absolute. The rate limits
 * include the scale and the preset.
 */
export type Config = ConfigOf<typeof SETTINGS>;

/** The limits of the accounts on one plan. */
export type PlanConfig = Config["plans"]["free"];

/** A setting of any type. */
export type AnySetting = Setting<unknown, Unit>;

/** All settings by their whole key, in the order of the table. */
export const SETTINGS_BY_KEY: ReadonlyMap<string, AnySetting> = new Map(flatten(SETTINGS, ""));

/** Name of the environment variable of a setting: `LARDER_BASE_PATH` for `basePath`. */
export function environmentName(key: string): string {
  return `LARDER_${splitKey(key).join("_").toUpperCase()}`;
}

/** Name of the flag of a setting: `--base-path` for `basePath`. */
export function flagName(key: string): string {
  return `--${splitKey(key).join("-")}`;
}

/** The field of {@link Config} under its group: `gcGraceMs` for `gcGrace`. */
export function fieldName(key: string, setting: AnySetting): string {
  const path = pathOfKey(key);
  return `${path.slice(path.lastIndexOf(".") + 1)}${setting.unit}`;
}

/** Defaults of the household preset by key. The limits of requests follow from `rateLimitScale`. */
export function householdDefaults(): Map<string, unknown> {
  const changed = new Map<string, unknown>([
    ["defaultPlan", "enterprise"],
    ["signup", "invite"],
    ["showPeople", "on"],
    ["rateLimitScale", 100],
  ]);
  for (const [key, setting] of SETTINGS_BY_KEY) {
    const isPlanLimit = /^plans\.\w+\.(maxFileSize|devices)$/.test(key);
    if (isPlanLimit && typeof setting.default === "number") changed.set(key, setting.default * 100);
  }
  return changed;
}

/** Whether a setting is a limit of requests, which `rateLimitScale` multiplies. */
export function isRateLimit(key: string): boolean {
  return /^plans\.\w+\.limit\.\w+$/.test(key);
}

function* flatten(group: object, prefix: string): Generator<[string, AnySetting]> {
  for (const [name, entry] of Object.entries(group)) {
    if (entry instanceof Setting) yield [keyOfPath(prefix + name), entry];
    else yield* flatten(entry, `${prefix}${name}.`);
  }
}

function splitKey(key: string): string[] {
  return key.split(".").flatMap((part) => part.split(/(?=[A-Z])/).map((word) => word.toLowerCase()));
}
