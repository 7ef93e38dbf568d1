// Parses Content-Disposition strictly by the grammar of RFC 6266 §4.1.

/** A parsed Content-Disposition header. */
export interface Disposition {
  type: string;
  /** Each parameter once, as sent; `filename*` decoded (RFC 8187). */
  parameters: Map<string, string>;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
/** quoted-string without obs-text, which current senders no longer write. */
const QUOTED = /"((?:[\t !#-[\]-~]|\\[\t !-~])*)"/y;
/** ext-value: UTF-8, an optional language, and attr-chars or percent-encoded octets. */
const EXTENDED = /UTF-8'[A-Za-z0-9-]*'((?:[!#$&+\-.^_`|~0-9A-Za-z]|%[0-9A-Fa-f]{2})*)/iy;
const SEPARATOR = /[ \t]*;[ \t]*/y;

/** @throws Error if the header violates the grammar or repeats a parameter */
export function parseDisposition(header: string): Disposition {
  let at = 0;
  const take = (pattern: RegExp, what: string): RegExpExecArray => {
    pattern.lastIndex = at;
    const found = pattern.exec(header);
    if (found === null) throw new Error(`no ${what} at ${at} of ${JSON.stringify(header)}`);
    at = pattern.lastIndex;
    return found;
  };
  const type = take(TOKEN, "type")[0].toLowerCase();
  const parameters = new Map<string, string>();
  while (at < header.length) {
    take(SEPARATOR, "semicolon");
    const name = take(TOKEN, "parameter name")[0].toLowerCase();
    take(/=/y, "equals sign");
    if (parameters.has(name)) throw new Error(`${name} appears twice in ${JSON.stringify(header)}`);
    parameters.set(name, takeValue(name));
  }
  return { type, parameters };

  function takeValue(name: string): string {
    if (name.endsWith("*")) return decodeURIComponent(take(EXTENDED, "extended value")[1] ?? "");
    if (header[at] !== '"') return take(TOKEN, "token")[0];
    return (take(QUOTED, "quoted string")[1] ?? "").replace(/\\(.)/g, "$1");
  }
}

/** The name under which a client stores the file (RFC 6266 §4.3). */
export function readFileName(header: string): string | undefined {
  const { parameters } = parseDisposition(header);
  return parameters.get("filename*") ?? parameters.get("filename");
}
