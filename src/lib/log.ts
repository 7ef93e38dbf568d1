import { currentRequestId } from "./async-context.ts";

/** The severity of a line; lines below the configured level are not written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The format of the lines. */
type LogForm = "pretty" | "json";

/** Fields of a line besides its message. Never a token, a password, a secret or content of a file. */
type LogFields = Readonly<Record<string, unknown>>;

/** The program's log. One line per event; control characters are escaped. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** SGR parameters (ECMA-48 §8.3.117) of each level: blue, green, yellow, red. */
const COLORS: Record<LogLevel, number> = { debug: 34, info: 32, warn: 33, error: 31 };
const FAINT = 2;

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Warnings or errors of one kind written per minute; more are only counted. */
const REPEATS_MAX = 20;
const REPEATS_MS = 60_000;
/** Kinds that are counted at a time. */
const KINDS_MAX = 500;
/** How much of an error's message distinguishes kinds. */
const KIND_LENGTH = 80;

/** Whether `pretty` lines are colored: at a terminal that supports it, unless NO_COLOR is set (no-color.org). */
export function usesColors(environment: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  return isTerminal && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

/** The format for a setting: `auto` is `pretty` at a terminal and `json` elsewhere. */
export function logForm(setting: "auto" | LogForm, isTerminal: boolean): LogForm {
  if (setting !== "auto") return setting;
  return isTerminal ? "pretty" : "json";
}

/**
 * A log of lines on standard error (standard output belongs to commands and to {@link announcer}).
 * `json` writes one object a line, `pretty` is for a person at a terminal; both escape control characters.
 *
 * A line written for a request carries its id (`server/observability/observe.ts`). Of repeated warnings and errors the
 * first twenty per minute are written, then how many more there were: a fault that affects every request must not fill
 * the disk.
 */
export function createLog(
  format: LogForm,
  level: LogLevel,
  write = writeToStandardError,
  { isColored = false }: { readonly isColored?: boolean } = {},
): Log {
  const paint = isColored ? colored : (text: string) => text;
  const writeLine = (at: LogLevel, message: string, fields: LogFields) => {
    const time = new Date().toISOString();
    const requestId = fields["requestId"] ?? currentRequestId();
    const plain = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, describe(value)]));
    const all = requestId === undefined ? plain : { requestId, ...plain };
    if (format === "json") write(jsonLine({ time, level: at, message, ...all }));
    else {
      const rest = Object.entries(all).map(([key, value]) => ` ${key}=${JSON.stringify(value) ?? "undefined"}`);
      const level = paint(at.padEnd(5), COLORS[at]);
      write(`${paint(time, FAINT)} ${level} ${escapeControls(message)}${paint(escapeC1(rest.join("")), FAINT)}\n`);
    }
  };
  const repeats = new Repeats((at, message, count) =>
    writeLine(at, "Lines were left out because they repeat themselves.", { repeated: message, lines: count }),
  );
  const line = (at: LogLevel, message: string, fields: LogFields = {}) => {
    if (ORDER[at] < ORDER[level]) return;
    if (ORDER[at] >= ORDER.warn && repeats.isTooMany(at, message, fields["error"])) return;
    writeLine(at, message, fields);
  };
  return {
    debug: (message, fields) => line("debug", message, fields),
    info: (message, fields) => line("info", message, fields),
    warn: (message, fields) => line("warn", message, fields),
    error: (message, fields) => line("error", message, fields),
  };
}

/**
 * Prints a line that a server's operator waits for, such as the address it listens on. `plain` is the form for people.
 */
export type Announce = (message: string, plain?: string) => void;

/** The {@link Announce} for a `log` setting. With JSON, standard output has only JSON too. */
export function announcer(setting: "auto" | LogForm, write = writeToStandardOutput): Announce {
  return (message, plain = `${message}\n`) => {
    write(setting === "json" ? jsonLine({ time: new Date().toISOString(), level: "info", message }) : plain);
  };
}

/** A log that writes nothing, for tests and for commands with their own output. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface LineKind {
  readonly level: LogLevel;
  readonly message: string;
  readonly sinceMs: number;
  written: number;
  leftOut: number;
}

/** Counts lines by kind, and reports after a minute how many were omitted. */
class Repeats {
  readonly #kinds = new Map<string, LineKind>();
  readonly #report: (level: LogLevel, message: string, count: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(report: (level: LogLevel, message: string, count: number) => void) {
    this.#report = report;
  }

  isTooMany(level: LogLevel, message: string, error: unknown): boolean {
    const nowMs = performance.now();
    const cause = error instanceof Error ? error.message.slice(0, KIND_LENGTH) : "";
    const key = `${level} ${message} ${cause}`;
    let kind = this.#kinds.get(key);
    if (kind === undefined || nowMs - kind.sinceMs >= REPEATS_MS) {
      if (kind !== undefined) this.#close(key, kind);
      this.#makeRoom();
      kind = { level, message, sinceMs: nowMs, written: 0, leftOut: 0 };
      this.#kinds.set(key, kind);
    }
    if (kind.written < REPEATS_MAX) {
      kind.written++;
      return false;
    }
    kind.leftOut++;
    this.#closeLater();
    return true;
  }

  #makeRoom(): void {
    if (this.#kinds.size < KINDS_MAX) return;
    for (const [key, kind] of this.#kinds) {
      this.#close(key, kind);
      return;
    }
  }

  #close(key: string, { level, message, leftOut }: LineKind): void {
    this.#kinds.delete(key);
    if (leftOut > 0) this.#report(level, message, leftOut);
  }

  #closeLater(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const nowMs = performance.now();
      for (const [key, kind] of this.#kinds) if (nowMs - kind.sinceMs >= REPEATS_MS) this.#close(key, kind);
      if ([...this.#kinds.values()].some(({ leftOut }) => leftOut > 0)) this.#closeLater();
    }, REPEATS_MS);
    this.#timer.unref();
  }
}

function jsonLine(fields: Readonly<Record<string, unknown>>): string {
  return `${escapeC1(JSON.stringify(fields))}\n`;
}

function colored(text: string, parameter: number): string {
  return text === "" ? "" : `\u001b[${parameter}m${text}\u001b[0m`;
}

function describe(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const cause = value.cause === undefined ? "" : `; caused by ${String(describe(value.cause))}`;
  return `${value.stack ?? `${value.name}: ${value.message}`}${cause}`;
}

function escapeControls(text: string): string {
  return escapeC1(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));
}

/** Characters that JSON does not escape but terminals interpret: DEL, and the controls from 0x80 on. */
function escapeC1(text: string): string {
  return text.replace(/[\u007f-\u009f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function writeToStandardError(line: string): void {
  process.stderr.write(line);
}

function writeToStandardOutput(line: string): void {
  process.stdout.write(line);
}
