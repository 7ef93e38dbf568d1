import { parse, TomlError } from "smol-toml";
import { ConfigError } from "./startup-error.ts";

/** Parses larder.toml. @throws ConfigError with the line of the first error */
export function parseToml(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const cause = error.message.split("\n")[0] ?? "";
    throw new ConfigError(`${path}:${error.line}: not valid TOML. ${cause}`, error);
  }
}

/** The values of a table by their whole key. */
export function* leaves(table: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(table)) {
    if (isTable(value)) yield* leaves(value, `${prefix}${name}.`);
    else yield [prefix + name, value];
  }
}

/** Whether a value is a table. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * The line on which a key is set. The parser does not report lines, so this parses more and more lines of the file
 * until the key appears.
 */
export function lineOf(text: string, key: string): number {
  const lines = text.split("\n");
  let parsedUpTo = 0;
  for (let count = 1; count <= lines.length; count++) {
    const table = tryParse(lines.slice(0, count).join("\n"));
    if (table === undefined) continue;
    if ([...leaves(table, "")].some(([name]) => name === key)) return parsedUpTo + 1;
    parsedUpTo = count;
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
