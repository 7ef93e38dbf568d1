import type { Database } from "bun:sqlite";
import { EDITABLE_KEYS, groupOf, isEditable, type SettingGroup } from "../../../config/editable.ts";
import type { LoadedConfig, StoredConfig } from "../../../config/load.ts";
import { STORED } from "../../../config/resolve.ts";
import { BadValue } from "../../../config/setting.ts";
import {
  type AnySetting,
  type Config,
  environmentName,
  fieldName,
  isRateLimit,
  SETTINGS_BY_KEY,
} from "../../../config/settings.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { isTable } from "../../../config/toml.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Log } from "../../../lib/log.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { TransactionCheck } from "../../accounts/auth/proof.ts";
import { selectStored, settingWrites } from "./queries.ts";
import type { SettingChange, SettingState } from "./types.ts";

const SCALE = "rateLimitScale";

/** The values that administrators stored, by key. */
export function readStoredSettings(sqlite: Database): ReadonlyMap<string, string> {
  return new Map(selectStored(sqlite).map(({ key, value }) => [key, value]));
}

/** Dependencies of {@link SettingsService}. */
interface SettingsServiceOptions {
  readonly loaded: LoadedConfig;
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The settings that administrators change while the server runs. Their values are rows, below larder.toml in precedence.
 * A stored value that is not valid never stops the start: it is logged, ignored, and shown.
 */
export class SettingsService {
  /**
   * The effective configuration. The fields of editable settings change in place, so code must read them when it uses
   * them.
   */
  readonly config: Config;
  readonly #options: SettingsServiceOptions;
  readonly #writes: ReturnType<typeof settingWrites>;
  readonly #onChange: (() => void)[] = [];
  readonly #checks: { readonly group: SettingGroup; readonly check: (config: Config) => void }[] = [];
  #stored: ReadonlyMap<string, string>;
  #current: StoredConfig;

  constructor(options: SettingsServiceOptions) {
    this.#options = options;
    this.#writes = settingWrites(options.sqlite);
    this.config = structuredClone(options.loaded.config);
    this.#stored = readStoredSettings(options.sqlite);
    this.#current = options.loaded.withStored(this.#stored);
    this.#apply();
  }

  /** Calls `listener` after each change of the effective configuration. */
  onChange(listener: () => void): void {
    this.#onChange.push(listener);
  }

  /** Adds a check of the settings of a group together. It throws StartupError for what can't be used. */
  addCheck(group: SettingGroup, check: (config: Config) => void): void {
    this.#checks.push({ group, check });
  }

  /** Whether a stored value applies. */
  isStored(key: string): boolean {
    return this.#current.sources.get(key) === STORED;
  }

  /** The effective values with their sources, and the file that was read. */
  configuration(): Pick<LoadedConfig, "values" | "sources" | "file"> {
    return { ...this.#current, file: this.#options.loaded.file };
  }

  /** The editable settings, in the order of the table. */
  list(): SettingState[] {
    const { loaded } = this.#options;
    const scale = this.#stored.get(SCALE);
    // Limits without a value of their own follow the scale.
    const scaled = scale === undefined ? loaded : loaded.withStored(new Map([[SCALE, scale]]));
    return EDITABLE_KEYS.map((key) => this.#stateOf(key, (key === SCALE ? loaded : scaled).values.get(key)));
  }

  /**
   * Stores values, each as in larder.toml or as JSON; null removes the stored value. They apply when this returns.
   * @param by public id of the administrator
   * @returns what changed
   * @throws AppError invalid_field with the key as `details.field`; what `check` throws
   */
  async change(
    given: Readonly<Record<string, unknown>>,
    by: string,
    check: TransactionCheck,
  ): Promise<SettingChange[]> {
    const texts = new Map(Object.entries(given).map(([key, raw]) => [key, raw === null ? null : this.#read(key, raw)]));
    this.#checkTogether(merge(this.#stored, texts), texts);
    const before = new Map(this.list().map(({ key, text }) => [key, text]));
    await this.#options.writer.run((tx) => {
      check(tx);
      // Another administrator may have changed what these values depend on.
      this.#checkTogether(merge(readStoredSettings(this.#options.sqlite), texts), texts);
      const nowMs = this.#options.clock.nowMs();
      for (const [key, text] of texts) {
        if (text === null) this.#writes.remove.run(key);
        else this.#writes.put.run(key, text, nowMs, by);
      }
    });
    this.refresh();
    return this.list().flatMap(({ key, text }) => {
      const from = before.get(key) ?? "";
      return from === text ? [] : [{ key, from, to: text }];
    });
  }

  /** Reads the stored values again, for example after another process changed the database. Cheap if nothing changed. */
  refresh(): void {
    const stored = readStoredSettings(this.#options.sqlite);
    if (isSame(stored, this.#stored)) return;
    this.#stored = stored;
    this.#current = this.#options.loaded.withStored(stored);
    this.#apply();
    for (const listener of this.#onChange) listener();
  }

  #apply(): void {
    const { config, problems } = this.#current;
    for (const key of EDITABLE_KEYS) copyValue(config, this.config, key);
    for (const { key, text } of problems) {
      this.#options.log.warn("A stored setting is not valid; ignored it. Change it in the administration.", {
        key,
        problem: text.english,
      });
    }
  }

  /** @param fallback the value without the stored one */
  #stateOf(key: string, fallback: unknown): SettingState {
    const setting = settingOf(key);
    const value = this.#current.values.get(key);
    const group = groupOf(key);
    invariant(group !== undefined, "an editable setting has a group");
    return {
      key,
      group,
      shape: setting.kind.shape,
      unit: setting.unit,
      help: setting.help,
      text: setting.show(value),
      value,
      fallbackText: setting.show(fallback),
      fallback,
      source: this.#current.sources.get(key) ?? "default",
      fixedBy: this.#options.loaded.fixedBy(key),
      problem: this.#current.problems.find((problem) => problem.key === key)?.text,
    };
  }

  /** Checks one value. @returns it as written in larder.toml */
  #read(key: string, raw: unknown): string {
    const field = { field: key };
    if (!isEditable(key)) {
      throw new AppError("invalid_field", say`${key} can't be changed here. ${howElsewhere(key)}`, field);
    }
    const fixedBy = this.#options.loaded.fixedBy(key);
    if (fixedBy !== undefined) {
      throw new AppError(
        "invalid_field",
        say`${key} can't be changed here: ${fixedBy} sets it. Change it there.`,
        field,
      );
    }
    const { kind } = settingOf(key);
    try {
      const value = kind.parse(raw, "");
      checkNotLocking(key, value);
      return kind.format(value);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      throw new AppError("invalid_field", say`${key} ${error.text}.`, field, error);
    }
  }

  /** Checks values that depend on each other, with the changed ones. */
  #checkTogether(stored: ReadonlyMap<string, string>, changed: ReadonlyMap<string, string | null>): void {
    const { config, problems } = this.#options.loaded.withStored(stored);
    const known = new Set(this.#current.problems.map(({ key }) => key));
    // An earlier problem with another setting is no reason to reject this change.
    const problem = problems.find(({ key }) => changed.has(key) || !known.has(key));
    if (problem !== undefined) throw new AppError("invalid_field", problem.text, { field: problem.key });
    for (const { group, check } of this.#checks) {
      const field = [...changed.keys()].find((key) => groupOf(key) === group);
      if (field === undefined) continue;
      try {
        check(config);
      } catch (error) {
        if (!(error instanceof StartupError)) throw error;
        throw new AppError("invalid_field", error.text, { field }, error);
      }
    }
  }
}

function settingOf(key: string): AnySetting {
  const setting = SETTINGS_BY_KEY.get(key);
  invariant(setting !== undefined, "a key of the table");
  return setting;
}

function howElsewhere(key: string): Message {
  return SETTINGS_BY_KEY.has(key)
    ? say`Set it in larder.toml, or as ${environmentName(key)}.`
    : say`There is no such setting. To list them: GET /api/admin/settings.`;
}

function merge(stored: ReadonlyMap<string, string>, changed: ReadonlyMap<string, string | null>): Map<string, string> {
  const merged = new Map(stored);
  for (const [key, text] of changed) {
    if (text === null) merged.delete(key);
    else merged.set(key, text);
  }
  return merged;
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([key, text]) => other.get(key) === text);
}

/** Copies the value of one setting from one configuration to another, in place. */
function copyValue(from: object, to: object, key: string): void {
  const name = fieldName(key, settingOf(key));
  let [source, target]: [unknown, unknown] = [from, to];
  for (const group of key.split(".").slice(0, -1)) {
    source = isTable(source) ? source[group] : undefined;
    target = isTable(target) ? target[group] : undefined;
  }
  invariant(isTable(source) && isTable(target), "both have the shape of the table");
  target[name] = source[name];
}

/** The smallest scale of rate limits that can be set here. */
const SCALE_MIN = 0.1;

/** Rejects limits that would also stop the requests with which an administrator could change them again. */
function checkNotLocking(key: string, value: unknown): void {
  if (isRateLimit(key) && value === 0) throw new BadValue(say`must be at least 1, or unlimited`);
  if (key === SCALE && Number(value) < SCALE_MIN) throw new BadValue(say`must be at least ${SCALE_MIN}`);
}
