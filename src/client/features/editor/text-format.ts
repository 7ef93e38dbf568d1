/** Reads the bytes of a text file so that saving writes unchanged text as the same bytes. */

/** The largest text that can be edited. */
export const EDITED_BYTES_MAX = 2 * 1024 * 1024;

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** How the text of a file is stored. */
export interface TextFormat {
  readonly encoding: Encoding;
  readonly hasMark: boolean;
  /** What ends each line; `mixed` if the lines differ: the text then contains them as they are. */
  readonly lineEnd: "\n" | "\r\n" | "\r" | "mixed";
}

/** A text and how it is stored. Its lines end with `\n`, unless the file mixes line ends. */
export interface FileText {
  readonly text: string;
  readonly format: TextFormat;
}

/** The format of new files. */
export const NEW_FILE: TextFormat = { encoding: "utf-8", hasMark: false, lineEnd: "\n" };

const MARK = "\uFEFF";

/** @returns undefined if the bytes are no text, or text that could not be written back as it was */
export function readFileText(bytes: Uint8Array): FileText | undefined {
  const { encoding, hasMark } = findEncoding(bytes);
  const whole = decode(bytes, encoding);
  if (whole === undefined || whole.includes("\0")) return undefined;
  const stored = hasMark ? whole.slice(1) : whole;
  const lineEnd = findLineEnd(stored);
  const text = lineEnd === "mixed" ? stored : stored.replaceAll(lineEnd, "\n");
  const format = { encoding, hasMark, lineEnd };
  return isEqual(writeFileText(text, format), bytes) ? { text, format } : undefined;
}

/** The bytes of a text in a format. */
export function writeFileText(text: string, { encoding, hasMark, lineEnd }: TextFormat): Uint8Array<ArrayBuffer> {
  const lines = lineEnd === "mixed" || lineEnd === "\n" ? text : text.replaceAll("\n", lineEnd);
  const whole = hasMark ? `${MARK}${lines}` : lines;
  if (encoding === "utf-8") return new TextEncoder().encode(whole);
  const view = new DataView(new ArrayBuffer(whole.length * 2));
  for (let at = 0; at < whole.length; at++) view.setUint16(at * 2, whole.charCodeAt(at), encoding === "utf-16le");
  return new Uint8Array(view.buffer);
}

function findEncoding([first, second, third]: Uint8Array): Pick<TextFormat, "encoding" | "hasMark"> {
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", hasMark: true };
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", hasMark: true };
  return { encoding: "utf-8", hasMark: first === 0xef && second === 0xbb && third === 0xbf };
}

function decode(bytes: Uint8Array, encoding: Encoding): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function findLineEnd(text: string): TextFormat["lineEnd"] {
  const found = new Set<string>();
  for (const [end] of text.matchAll(/\r\n|\r|\n/g)) found.add(end);
  if (found.size > 1) return "mixed";
  return found.has("\r\n") ? "\r\n" : found.has("\r") ? "\r" : "\n";
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
