/** The kinds of settings. The settings are in `settings.ts`. */
import { formatDuration } from "../lib/duration.ts";
import { type Message, say } from "../translations/say.ts";
import { formatSize, parseDuration, parseSize } from "./quantities.ts";

/** An unparsed value: text from a flag or the environment, or a value in larder.toml. */
type RawValue = unknown;

/** Rejects a value. The message completes "KEY …", such as "must be a whole number". */
export class BadValue extends Error {
  override readonly name = "BadValue";

  constructor(readonly text: Message) {
    super(text.english);
  }
}

/** The unit that is added to a setting's name in the program: `gcGrace` is `config.gcGraceMs`. */
export type Unit = "" | "Ms" | "Bytes";

/** What a form needs to know to edit a value. Bounds are included, in bytes for sizes and in milliseconds for durations. */
export interface SettingShape {
  readonly type: "toggle" | "choice" | "integer" | "number" | "size" | "duration" | "text" | "list";
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** The word for "no value", if null is allowed. */
  readonly noneWord?: string;
}

/** How a value is parsed and shown. */
interface SettingKind<T> {
  readonly shape: SettingShape;
  /** The accepted values, for the help: "size", "on or off". */
  readonly accepts: string;
  /** The same in one word, for the argument of a flag: `<number>`, `<spec|household>`. */
  readonly placeholder: string;
  /** @param directory the directory that a relative path is in. @throws BadValue */
  parse(raw: RawValue, directory: string): T;
  /** The value as text that can be parsed again. */
  format(value: T): string;
}

/** One setting. Its key is its path in the table. */
export class Setting<T, U extends Unit = ""> {
  readonly kind: SettingKind<T>;
  readonly unit: U;
  readonly default: T;
  readonly help: string;
  /** Never shown. Not accepted on the command line, which every user of the machine can read. */
  readonly isSecret: boolean;

  constructor(kind: SettingKind<T>, unit: U, preset: T, help: string, isSecret = false) {
    this.kind = kind;
    this.unit = unit;
    this.default = preset;
    this.help = help;
    this.isSecret = isSecret;
  }

  /** The value as `larder config` and docs/configuration.md show it. */
  show(value: T): string {
    return this.isSecret && value !== null ? "(set)" : this.kind.format(value);
  }
}

/** How an optional text without a value is shown. */
export const NOT_SET = "not set";

/** Values that mean "no limit". */
const NONE_WORDS = ["none", "unlimited"];

const TRUE_WORDS = ["on", "true", "1", "yes"];
const FALSE_WORDS = ["off", "false", "0", "no"];

/** On or off. */
export function toggle(preset: boolean, help: string): Setting<boolean> {
  return new Setting(
    {
      shape: { type: "toggle" },
      accepts: "on or off",
      placeholder: "on|off",
      parse(raw) {
        if (typeof raw === "boolean") return raw;
        const word = String(raw).trim().toLowerCase();
        if (TRUE_WORDS.includes(word)) return true;
        if (FALSE_WORDS.includes(word)) return false;
        throw new BadValue(say`must be "on" or "off"`);
      },
      format: (value) => (value ? "on" : "off"),
    },
    "",
    preset,
    help,
  );
}

/** One of a few words. */
export function choice<const W extends string>(choices: readonly W[], preset: NoInfer<W>, help: string): Setting<W> {
  return new Setting(
    {
      shape: { type: "choice", choices },
      accepts: choices.join(", "),
      placeholder: choices.join("|"),
      parse(raw) {
        const found = choices.find((name) => name === String(raw).trim().toLowerCase());
        if (found === undefined) throw new BadValue(say`must be one of: ${choices.join(", ")}`);
        return found;
      },
      format: (value) => value,
    },
    "",
    preset,
    help,
  );
}

/** A whole number between two bounds, both included. */
export function integer(min: number, max: number, preset: number, help: string): Setting<number> {
  return new Setting(integerKind(min, max), "", preset, help);
}

/** A whole number, or null, written as `noneWord`. */
export function integerOrNone(
  preset: number | null,
  help: string,
  max = Number.MAX_SAFE_INTEGER,
  noneWord = "unlimited",
): Setting<number | null> {
  return new Setting(orNone(integerKind(0, max), noneWord), "", preset, help);
}

/** The largest factor: beyond it, a multiplied limit would not be an exact number any more. */
const FACTOR_MAX = 1_000_000;

/** A factor: a number above zero, and at most a million. */
export function factor(preset: number, help: string): Setting<number> {
  return new Setting(
    {
      shape: { type: "number", min: 0, max: FACTOR_MAX },
      accepts: "number above 0",
      placeholder: "number",
      parse(raw) {
        const value = typeof raw === "string" && raw.trim() !== "" ? Number(raw) : raw;
        if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
          throw new BadValue(say`must be a number above 0`);
        }
        if (value > FACTOR_MAX) throw new BadValue(say`must be at most ${FACTOR_MAX}`);
        return value;
      },
      format: String,
    },
    "",
    preset,
    help,
  );
}

/** A number of bytes. */
export function size(preset: string, help: string): Setting<number, "Bytes"> {
  return new Setting(sizeKind, "Bytes", sizeKind.parse(preset, ""), help);
}

/** A number of bytes, or null, written as `noneWord`. */
export function sizeOrNone(preset: string, help: string, noneWord = "none"): Setting<number | null, "Bytes"> {
  const kind = orNone(sizeKind, noneWord);
  return new Setting(kind, "Bytes", kind.parse(preset, ""), help);
}

/** A duration between two bounds, both included. */
export function duration(min: string, max: string, preset: string, help: string): Setting<number, "Ms"> {
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max) ?? Number.POSITIVE_INFINITY;
  const kind: SettingKind<number> = {
    shape: { type: "duration", min: minMs, max: maxMs },
    accepts: "duration",
    placeholder: "duration",
    parse(raw) {
      const ms = typeof raw === "string" ? parseDuration(raw) : undefined;
      if (ms === undefined) throw new BadValue(say`must be a duration with a unit, such as "30s", "12h", or "7d"`);
      if (ms < minMs || ms > maxMs) throw new BadValue(say`must be between ${min} and ${max}`);
      return ms;
    },
    format: formatDuration,
  };
  return new Setting(kind, "Ms", kind.parse(preset, ""), help);
}

/** Any text that `read` accepts. It throws BadValue for other text, and returns the normalized text. */
export function text(accepts: string, read: (text: string) => string, preset: string, help: string): Setting<string> {
  const placeholder = firstWord(accepts);
  const kind = {
    shape: { type: "text" as const },
    accepts,
    placeholder,
    parse: (raw: RawValue) => read(asText(raw)),
    format: (value: string) => value,
  };
  return new Setting(kind, "", preset, help);
}

/** Like {@link text}; null if it is not set. */
export function optionalText(
  accepts: string,
  read: (text: string, directory: string) => string,
  help: string,
  isSecret = false,
): Setting<string | null> {
  return new Setting<string | null>(
    {
      shape: { type: "text", noneWord: NOT_SET },
      accepts,
      placeholder: firstWord(accepts),
      parse: (raw, directory) => read(asText(raw), directory),
      format: (value) => value ?? NOT_SET,
    },
    "",
    null,
    help,
    isSecret,
  );
}

/** A list: of strings in larder.toml, separated by commas elsewhere. */
export function list(accepts: string, readEntry: (entry: string) => string, help: string): Setting<readonly string[]> {
  return new Setting<readonly string[]>(
    {
      shape: { type: "list" },
      accepts,
      placeholder: firstWord(accepts),
      parse(raw) {
        const entries = Array.isArray(raw) ? raw.map(asText) : asText(raw).split(",");
        return entries
          .map((entry) => entry.trim())
          .filter((entry) => entry !== "")
          .map(readEntry);
      },
      format: (value) => (value.length === 0 ? "none" : value.join(",")),
    },
    "",
    [],
    help,
  );
}

/** A path on the machine. A relative path is in `directory`. */
export function readPath(path: string, directory: string): string {
  if (path === "") throw new BadValue(say`must not be empty`);
  if (path.includes("\0")) throw new BadValue(say`must not contain a NUL character`);
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

const sizeKind: SettingKind<number> = {
  shape: { type: "size", min: 0, max: Number.MAX_SAFE_INTEGER },
  accepts: "size",
  placeholder: "size",
  parse(raw) {
    const bytes = typeof raw === "string" ? parseSize(raw) : raw;
    if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) {
      throw new BadValue(say`must be a number of bytes, or a size such as "10MB" or "1.5GB"`);
    }
    return bytes;
  },
  format: formatSize,
};

function integerKind(min: number, max: number): SettingKind<number> {
  return {
    shape: { type: "integer", min, max },
    accepts: "whole number",
    placeholder: "number",
    parse(raw) {
      const value = typeof raw === "string" && /^\d+$/.test(raw.trim()) ? Number(raw) : raw;
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
        throw new BadValue(
          max === Number.MAX_SAFE_INTEGER
            ? say`must be a whole number of at least ${min}`
            : say`must be a whole number from ${min} to ${max}`,
        );
      }
      return value;
    },
    format: String,
  };
}

function orNone<T>(kind: SettingKind<T>, noneWord: string): SettingKind<T | null> {
  const noneWords = [...new Set([noneWord, ...NONE_WORDS])];
  return {
    shape: { ...kind.shape, noneWord },
    accepts: `${kind.accepts}, or ${noneWord}`,
    placeholder: `${kind.placeholder}|${noneWord}`,
    parse: (raw, directory) =>
      typeof raw === "string" && noneWords.includes(raw.trim().toLowerCase()) ? null : kind.parse(raw, directory),
    format: (value) => (value === null ? noneWord : kind.format(value)),
  };
}

function firstWord(accepts: string): string {
  return accepts.split(" ", 1)[0] ?? accepts;
}

function asText(raw: RawValue): string {
  if (typeof raw === "string") return raw.trim();
  throw new BadValue(say`must be text in quotes`);
}
