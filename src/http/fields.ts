/** Schemas that many routes share, and functions that read query strings. */
import { t } from "elysia";
import { AppError, invalidField } from "../errors.ts";
import { isInstant } from "../lib/instant.ts";
import { say } from "../translations/say.ts";
import { requestContextOf } from "./request-context.ts";

/** An instant: ISO 8601 UTC with milliseconds. */
export const Timestamp = t.String({ format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });

/** A digest in the API. */
export const Checksum = t.String({ pattern: "^sha256:[0-9a-f]{64}$", examples: [`sha256:${"0".repeat(64)}`] });

/** A folder path; `lib/path.ts` checks it. */
export const FolderPath = t.String({ description: "Absolute folder path", examples: ["/photos/2026"] });

/** The path parameter of an endpoint for one object. */
export const IdParams = t.Object({ id: t.String({ description: "Opaque id" }) });

/** The text of each query parameter; the last one if it is repeated. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Reads a whole number. @throws AppError invalid_field */
export function readInteger(
  query: Query,
  field: string,
  bounds: { min: number; max: number; default: number },
): number {
  const text = query[field];
  if (text === undefined) return bounds.default;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= bounds.min && value <= bounds.max)) {
    const message =
      bounds.max === Number.MAX_SAFE_INTEGER
        ? say`${field} must be a whole number of at least ${bounds.min}.`
        : say`${field} must be a whole number from ${bounds.min} to ${bounds.max}.`;
    throw invalidField(field, message);
  }
  return value;
}

/** Reads a boolean of a query or form: true, false, 1, 0; empty means true. @throws AppError invalid_field */
export function readBoolean(text: string | undefined, field: string): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === "" || text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw invalidField(field, say`${field} must be true, false, 1 or 0.`);
}

/** Reads one of several words. @throws AppError invalid_field */
export function readChoice<T extends string>(
  text: string | undefined,
  field: string,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found === undefined)
    throw invalidField(field, say`${field} must be one of ${choices.join(", ")}.`, { allowed: choices });
  return found;
}

/** Reads an instant and returns it unchanged, because its offset is information. @throws AppError invalid_field */
export function readInstant(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (!isInstant(text)) {
    throw invalidField(
      field,
      say`${field} must be an ISO 8601 time with an offset, such as 2026-01-02T03:04:05+01:00.`,
    );
  }
  return text;
}

const NO_QUERY: Query = Object.freeze({});

/**
 * Decodes a query string.
 * @throws AppError invalid_field for an invalid percent encoding
 */
export function readQuery(queryString: string): Query {
  if (queryString === "") return NO_QUERY;
  const query = new Map<string, string>();
  for (const pair of queryString.split("&")) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    const name = decode(cut < 0 ? pair : pair.slice(0, cut));
    query.set(name, cut < 0 ? "" : decode(pair.slice(cut + 1)));
  }
  return Object.fromEntries(query);
}

/** The query of a request, decoded: see {@link readQuery}. */
export function queryOf(request: Request): Query {
  return readQuery(requestContextOf(request).query);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (error) {
    throw new AppError(
      "invalid_field",
      say`The query contains a % that is not valid percent-encoding. Encode it as %25.`,
      {},
      error,
    );
  }
}

/** How a Live Photo has its video. */
export const Motion = t.Union([t.Literal("pair"), t.Literal("embedded"), t.Null()], {
  description:
    "Where the video of a Live Photo is: in a file of its own or in this one. Null if there is none, or you can't open it",
});
