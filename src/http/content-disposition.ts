import { create, parse } from "content-disposition";

/** An unquoted file name. Matches only the first parameter, because a quoted name may contain the same characters. */
const BARE_NAME = /^([a-z]+; filename=)([^";]+)/;

/** Names that need no escaping, and no replacement. */
const PLAIN_NAME = /^[\w .,()&+-]+$/;

/**
 * A Content-Disposition header for a response (RFC 6266). A name with non-ASCII characters gets an ASCII replacement
 * and
 * `filename*`. The name is always quoted, because more clients read that correctly.
 */
export function contentDisposition(fileName: string, inline: boolean): string {
  const type = inline ? "inline" : "attachment";
  // The library takes as long as the rest of the headers.
  if (PLAIN_NAME.test(fileName)) return `${type}; filename="${fileName}"`;
  const header = create(fileName.toWellFormed(), { type });
  return header.replace(BARE_NAME, '$1"$2"');
}

/** The Content-Disposition of a form part (RFC 7578 §4.2). */
interface FormDisposition {
  readonly name: string;
  /** The name as sent; `filename*` takes precedence over `filename`. Undefined without both. */
  readonly fileName: string | undefined;
}

/**
 * Reads the Content-Disposition of a form part; undefined if it is not `form-data` with a name.
 *
 * Quotes in names come in two forms. Browsers and today's curl write `%22` and keep backslashes (HTML,
 * multipart/form-data encoding). Others (Go, older curl) write `\"` and `\\`. A `\"` identifies the second form.
 */
export function parseFormDisposition(value: string): FormDisposition | undefined {
  const { type, parameters } = parse(value, { multipart: !value.includes('\\"') });
  if (type !== "form-data" || parameters["name"] === undefined) return undefined;
  return { name: parameters["name"], fileName: parameters["filename"] };
}
