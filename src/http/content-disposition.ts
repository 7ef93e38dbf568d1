import { create, parse } from "content-disposition";

/** The file name as a bare token, which can only be the first parameter: a quoted name may hold the same characters. */
const BARE_NAME = /^([a-z]+; filename=)([^";]+)/;

/**
 * A Content-Disposition header for a response (RFC 6266): the name as it is, with an ASCII stand-in and `filename*`
 * where it holds more than ASCII. The name is always quoted, which more clients read rightly than a bare token.
 */
export function contentDisposition(fileName: string, inline: boolean): string {
  const header = create(fileName.toWellFormed(), { type: inline ? "inline" : "attachment" });
  return header.replace(BARE_NAME, '$1"$2"');
}

/** What the Content-Disposition of a form part says (RFC 7578 §4.2). */
export interface FormDisposition {
  readonly name: string;
  /** As sent; `filename*` wins over `filename`. Undefined where neither is there. */
  readonly fileName: string | undefined;
}

/**
 * Reads the Content-Disposition of a form part; undefined when it is not `form-data` with a name.
 *
 * Quotes in names come in two forms. Browsers and today's curl write `%22` and keep backslashes (HTML,
 * multipart/form-data encoding). Others (Go, older curl) write `\"` and `\\`. A `\"` identifies the second form.
 */
export function parseFormDisposition(value: string): FormDisposition | undefined {
  const { type, parameters } = parse(value, { multipart: !value.includes('\\"') });
  if (type !== "form-data" || parameters["name"] === undefined) return undefined;
  return { name: parameters["name"], fileName: parameters["filename"] };
}
