/**
 * Reads multipart/form-data as a stream (RFC 7578, RFC 2046 §5.1.1). Text fields are collected within bounds; the bytes
 * of the one file go to a sink as they arrive. This is our own code because of what a file server receives: delimiters
 * cut anywhere by the network, names in all scripts, and boundaries chosen to make the search slow.
 */
import { AppError, invalidField } from "../errors.ts";
import { say } from "../translations/say.ts";
import { parseFormDisposition } from "./content-disposition.ts";
import type { BodyPace } from "./body-pace.ts";
import { type FormLimits, FormScanner, malformed, type ScanEvent } from "./form-scanner.ts";
import { forEachBodyBuffer, type BufferSink } from "./request-body.ts";

/** Enough for every field of the API: `metadata` may have 64 KiB of values, and more as JSON with escapes. */
export const DEFAULT_FORM_LIMITS: FormLimits = {
  partsMax: 100,
  partHeadersBytes: 16 * 1024,
  fieldBytes: 128 * 1024,
  fieldsTotalBytes: 256 * 1024,
};

/** What the form says about its file, before the file's first byte. */
interface FormFile {
  /** The name as sent, unchecked and never empty; undefined if the part has none. */
  readonly fileName: string | undefined;
  /** The part's Content-Type, unchecked; undefined if it has none. */
  readonly declaredType: string | undefined;
}

/** The text fields of a form, each with its values in the order sent. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** Handles the file of a form. */
interface FormHandlers {
  /** Called once, for the part named `file`. Returns the sink of its bytes. @param fieldsSoFar the fields before it */
  beginFile(file: FormFile, fieldsSoFar: FormFields): BufferSink | Promise<BufferSink>;
  /** The pace of the form, which begins as a small body. */
  readonly pace: BodyPace;
  /** The kind of body while the file is received. */
  readonly fileKind: "file" | "guestFile";
}

/** A form that was read to its end. */
export interface Form {
  readonly fields: FormFields;
  readonly file: FormFile;
}

/**
 * Reads a form with exactly one part named `file` and any text fields, in any order, and passes the bytes of the file
 * to the sink as they arrive. It holds at most one buffer of the body and the text fields in memory. When it returns,
 * the closing delimiter was read, so the file is complete. On any error the caller discards what the sink received.
 * @throws AppError unsupported_media_type when `contentType` isn't multipart/form-data; invalid_multipart when the form
 *   is malformed or cut off; invalid_field for a missing, second or nameless file and for a text field that is too long
 *   or not UTF-8. ClientGoneError when the client goes away. Errors of `beginFile` and the sink, unchanged.
 */
export async function readMultipart(
  contentType: string | null,
  body: ReadableStream<Uint8Array> | null,
  limits: FormLimits,
  handlers: FormHandlers,
): Promise<Form> {
  const scanner = new FormScanner(parseBoundary(contentType), limits);
  const reader = new FormReader(limits, handlers);
  await forEachBodyBuffer(body, (buffer) => takeAll(scanner.scan(buffer), reader), handlers.pace);
  scanner.end();
  return reader.form();
}

/** Handles the events in order. Most buffers of a large file are one event without waiting, and need no promise. */
function takeAll(events: Iterator<ScanEvent>, reader: FormReader): void | Promise<void> {
  for (let next = events.next(); !next.done; next = events.next()) {
    const waiting = reader.take(next.value);
    if (waiting !== undefined) return waiting.then(() => takeAll(events, reader));
  }
  return undefined;
}

/** Collects the text fields of a form, and passes its file to the sink. */
class FormReader {
  readonly #limits: FormLimits;
  readonly #handlers: FormHandlers;
  readonly #fields = new Map<string, string[]>();
  #fieldsBytes = 0;
  #file: FormFile | undefined;
  /** Where the bytes of the current part go: the sink for the file, the text for a field. */
  #sink: BufferSink | undefined;
  #text: TextField | undefined;

  constructor(limits: FormLimits, handlers: FormHandlers) {
    this.#limits = limits;
    this.#handlers = handlers;
  }

  take(event: ScanEvent): void | Promise<void> {
    if (event.kind === "data") return this.#takeData(event.buffer);
    if (event.kind === "headers") return this.#beginPart(parsePartHeaders(event.headers));
    return this.#endPart();
  }

  /** The form after its last part. @throws AppError invalid_field if it has no file */
  form(): Form {
    if (this.#file === undefined) {
      throw invalidField("file", say`The form has no field "file". Send the file in a field with that name.`);
    }
    return { fields: this.#fields, file: this.#file };
  }

  #beginPart({ name, fileName, contentType }: PartHeaders): void | Promise<void> {
    if (name === "file") return this.#beginFile({ fileName, declaredType: contentType });
    if (fileName !== undefined) {
      throw invalidField(name, say`The file must be in the field "file", not ${quote(name)}. Rename the field.`);
    }
    this.#text = { name, buffers: [], sizeBytes: 0 };
    return undefined;
  }

  #beginFile(file: FormFile): void | Promise<void> {
    if (this.#file !== undefined) {
      throw invalidField("file", say`The form contains more than one "file". Send one file in each request.`);
    }
    if (file.fileName === "")
      throw invalidField("file", say`The file has no name. Choose a file, then send it with its name.`);
    this.#file = file;
    this.#handlers.pace.become(this.#handlers.fileKind);
    const setSink = (sink: BufferSink) => {
      this.#sink = sink;
    };
    const sink = this.#handlers.beginFile(file, this.#fields);
    return sink instanceof Promise ? sink.then(setSink) : setSink(sink);
  }

  #takeData(buffer: Uint8Array): void | Promise<void> {
    const text = this.#text;
    if (text === undefined) return this.#sink?.write(buffer);
    const { fieldBytes, fieldsTotalBytes } = this.#limits;
    text.sizeBytes += buffer.length;
    this.#fieldsBytes += buffer.length;
    if (text.sizeBytes > fieldBytes) {
      const message = say`The field ${quote(text.name)} is longer than ${fieldBytes} bytes. Send a shorter value.`;
      throw invalidField(text.name, message, { limit: fieldBytes });
    }
    if (this.#fieldsBytes > fieldsTotalBytes) {
      const message = say`The text fields have more than ${fieldsTotalBytes} bytes in total. Send shorter values.`;
      throw invalidField(text.name, message, { limit: fieldsTotalBytes });
    }
    text.buffers.push(Buffer.from(buffer));
    return undefined;
  }

  #endPart(): void {
    const text = this.#text;
    if (text !== undefined) {
      const values = this.#fields.get(text.name);
      if (values === undefined) this.#fields.set(text.name, [decodeField(text)]);
      else values.push(decodeField(text));
    }
    // The whole form of a guest has the pace of its file: a field after the file must not lose a file that arrived.
    const { fileKind, pace } = this.#handlers;
    if (this.#sink !== undefined && fileKind === "file") pace.become("small");
    this.#text = undefined;
    this.#sink = undefined;
  }
}

interface TextField {
  readonly name: string;
  readonly buffers: Buffer[];
  sizeBytes: number;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeField(field: TextField): string {
  const [first] = field.buffers;
  try {
    return UTF8.decode(field.buffers.length === 1 && first !== undefined ? first : Buffer.concat(field.buffers));
  } catch (error) {
    throw new AppError(
      "invalid_field",
      say`The field ${quote(field.name)} is not valid UTF-8. Encode it as UTF-8.`,
      { field: field.name },
      error,
    );
  }
}

const FORM_DATA = /^multipart\/form-data[ \t]*(?:;|$)/i;
const BOUNDARY_PARAMETER = /;[ \t]*boundary[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))[ \t]*(?:;|$)/i;
/**
 * RFC 2046 §5.1.1: 1 to 70 characters, not ending with a blank. Any visible ASCII is accepted, because clients send it.
 */
const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;

function parseBoundary(contentType: string | null): string {
  if (contentType === null || !FORM_DATA.test(contentType)) {
    throw new AppError(
      "unsupported_media_type",
      contentType === null
        ? say`The request has no Content-Type. Send the file as multipart/form-data.`
        : say`The Content-Type is ${quote(contentType)}. Send the file as multipart/form-data.`,
    );
  }
  const match = BOUNDARY_PARAMETER.exec(contentType);
  const boundary = match?.[2] ?? match?.[1]?.replaceAll(/\\(.)/g, "$1");
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw malformed(say`Its Content-Type has no valid boundary. Let your HTTP library set that header.`);
  }
  return boundary;
}

interface PartHeaders {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly contentType: string | undefined;
}

function parsePartHeaders(bytes: Uint8Array): PartHeaders {
  const headers = new Map<string, string>();
  for (const line of decodeHeaders(bytes).split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) throw malformed(say`A part contains a header line that is not valid.`);
    const key = line.slice(0, colon).trim().toLowerCase();
    if (!headers.has(key)) headers.set(key, line.slice(colon + 1).trim());
  }
  const disposition = parseFormDisposition(headers.get("content-disposition") ?? "");
  if (disposition === undefined) {
    throw malformed(say`A part has no "Content-Disposition: form-data" with a name.`);
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (encoding !== undefined && !["binary", "8bit", "7bit"].includes(encoding)) {
    // RFC 7578 §4.7 forbids encodings. Stored without decoding, the file would not be the one that the user sent.
    throw malformed(say`A part is encoded as ${quote(encoding)}. Send it without an encoding.`);
  }
  return { ...disposition, contentType: headers.get("content-type") };
}

const LATIN1 = new TextDecoder("latin1");

function decodeHeaders(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    // Older clients send names in an 8-bit encoding; Latin-1 preserves every byte.
    if (error instanceof TypeError) return LATIN1.decode(bytes);
    throw error;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
