// Reads Content-Disposition as RFC 6266 §4.1 writes it, strictly: what is not of its grammar is no header.

/** What a header says. */
export interface Disposition {
  type: string;
  /** Each parameter once, as sent; `filename*` decoded (RFC 8187). */
  parameters: Map<string, string>;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
/** quoted-string without obs-text: what senders of today write. */
const QUOTED = /"((?:[\t !#-[\]-~]|\\[\t !-~])*)"/y;
/** ext-value: UTF-8, perhaps a language, and attr-chars or pct-encoded octets. */
const EXTENDED = /UTF-8'[A-Za-z0-9-]*'((?:[!#$&+\-.^_`|~0-9A-Za-z]|%[0-9A-Fa-f]{2})*)/iy;
const SEPARATOR = /[ \t]*;[ \t]*/y;

/** @throws Error where the header is not of the grammar, or names a parameter twice */
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
    if (parameters.has(name)) throw new Error(`${name} stands twice in ${JSON.stringify(header)}`);
    parameters.set(name, valueOf(name));
  }
  return { type, parameters };

  function valueOf(name: string): string {
    if (name.endsWith("*")) return decodeURIComponent(take(EXTENDED, "extended value")[1] ?? "");
    if (header[at] !== '"') return take(TOKEN, "token")[0];
    return (take(QUOTED, "quoted string")[1] ?? "").replace(/\\(.)/g, "$1");
  }
}

/** The name under which a client that follows RFC 6266 §4.3 stores the file. */
export function readFileName(header: string): string | undefined {
  const { parameters } = parseDisposition(header);
  return parameters.get("filename*") ?? parameters.get("filename");
}
