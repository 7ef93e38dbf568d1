/** How loud a line is; lines below the configured level are not written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a line tells besides its message. Never a token, a password, a secret or content of a file. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where the program says what it does. One line an event, control characters escaped (D66). */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * A log of lines on standard error (standard output belongs to commands and to the "listening on" line).
 * `json` writes one object a line, `pretty` is for a person at a terminal; both escape control characters.
 */
export function createLog(format: "pretty" | "json", level: LogLevel, write = writeToStandardError): Log {
  const line = (at: LogLevel, message: string, fields: LogFields = {}) => {
    if (ORDER[at] < ORDER[level]) return;
    const time = new Date().toISOString();
    const plain = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, describe(value)]));
    if (format === "json") write(`${JSON.stringify({ time, level: at, message, ...plain })}\n`);
    else {
      const rest = Object.entries(plain).map(([key, value]) => ` ${key}=${JSON.stringify(value) ?? "undefined"}`);
      write(`${time} ${at.padEnd(5)} ${escapeControls(message)}${rest.join("")}\n`);
    }
  };
  return {
    debug: (message, fields) => line("debug", message, fields),
    info: (message, fields) => line("info", message, fields),
    warn: (message, fields) => line("warn", message, fields),
    error: (message, fields) => line("error", message, fields),
  };
}

/** A log that says nothing, for tests and for commands whose output is their own. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function describe(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const cause = value.cause === undefined ? "" : `; caused by ${String(describe(value.cause))}`;
  return `${value.stack ?? `${value.name}: ${value.message}`}${cause}`;
}

function escapeControls(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}

function writeToStandardError(line: string): void {
  process.stderr.write(line);
}
