/**
 * Reads multipart/form-data as a stream (RFC 7578, RFC 2046 §5.1.1). Text fields are collected within bounds; the bytes
 * of the one file go to a sink as they arrive. This is our own code because of what a file server receives: delimiters
 * cut anywhere by the network, names in all scripts, and boundaries chosen to make the search slow.
 */
import { AppError, invalidField } from "../errors.ts";
import { parseFormDisposition } from "./content-disposition.ts";
import type { BodyPace } from "./body-pace.ts";
import { type FormLimits, FormScanner, malformed, type ScanEvent } from "./form-scanner.ts";
import { forEachBodyBuffer, type BufferSink } from "./request-body.ts";

/**
 * Room for every field the API knows: `metadata` alone may hold 64 KiB of values, and as JSON with
 * escapes takes more.
 */
export const DEFAULT_FORM_LIMITS: FormLimits = {
  partsMax: 100,
  partHeadersBytes: 16 * 1024,
  fieldBytes: 128 * 1024,
  fieldsTotalBytes: 256 * 1024,
};

/** The form's facts about its file, before its first byte. */
export interface FormFile {
  /** The name as sent, unchecked and never empty; undefined where the part carries none. */
  readonly fileName: string | undefined;
  /** The part's own Content-Type, unchecked; undefined where it has none. */
  readonly declaredType: string | undefined;
}

/** The text fields of a form, each with its values in the order sent. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** What to do with the file of a form. */
export interface FormHandlers {
  /** Called once, at the part named `file`; `fieldsSoFar` are those sent before it. Gives where its bytes go. */
  beginFile(file: FormFile, fieldsSoFar: FormFields): BufferSink | Promise<BufferSink>;
  /** The pace of the form, which begins as a small body. */
  readonly pace: BodyPace;
  /** What the file is, from its first byte to its last. */
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
  const fields = new Map<string, string[]>();
  let fieldsBytes = 0;
  let file: FormFile | undefined;
  let sink: BufferSink | undefined;
  let text: TextField | undefined;

  const beginPart = (headers: Uint8Array): void | Promise<void> => {
    const part = parsePartHeaders(headers);
    if (part.name !== "file") {
      if (part.fileName !== undefined) {
        throw invalidField(
          part.name,
          `The file must be in the field "file", not ${quote(part.name)}. Rename the field.`,
        );
      }
      text = { name: part.name, buffers: [], sizeBytes: 0 };
      return undefined;
    }
    if (file !== undefined) {
      throw invalidField("file", 'The form contains more than one "file". Send one file in each request.');
    }
    if (part.fileName === "")
      throw invalidField("file", "The file has no name. Choose a file, then send it with its name.");
    file = { fileName: part.fileName, declaredType: part.contentType };
    handlers.pace.become(handlers.fileKind);
    const given = handlers.beginFile(file, fields);
    if (!(given instanceof Promise)) {
      sink = given;
      return undefined;
    }
    return given.then((resolved) => {
      sink = resolved;
      return undefined;
    });
  };

  const takeData = (buffer: Uint8Array): void | Promise<void> => {
    if (text === undefined) return sink?.write(buffer);
    text.sizeBytes += buffer.length;
    fieldsBytes += buffer.length;
    if (text.sizeBytes > limits.fieldBytes) {
      throw invalidField(
        text.name,
        `The field ${quote(text.name)} is longer than ${limits.fieldBytes} bytes. Send a shorter value.`,
        {
          limit: limits.fieldBytes,
        },
      );
    }
    if (fieldsBytes > limits.fieldsTotalBytes) {
      throw invalidField(
        text.name,
        `The text fields have more than ${limits.fieldsTotalBytes} bytes in total. Send shorter values.`,
        {
          limit: limits.fieldsTotalBytes,
        },
      );
    }
    text.buffers.push(Buffer.from(buffer));
    return undefined;
  };

  const endPart = (): void => {
    if (text !== undefined) {
      const values = fields.get(text.name);
      if (values === undefined) fields.set(text.name, [decodeField(text)]);
      else values.push(decodeField(text));
    }
    // A guest's form is one: a file that arrived in time is not lost because of a field after it.
    if (sink !== undefined && handlers.fileKind === "file") handlers.pace.become("small");
    text = undefined;
    sink = undefined;
  };

  const take = (event: ScanEvent): void | Promise<void> => {
    if (event.kind === "data") return takeData(event.buffer);
    if (event.kind === "headers") return beginPart(event.headers);
    return endPart();
  };

  await forEachBodyBuffer(
    body,
    (buffer) => {
      const events = scanner.scan(buffer);
      // Most buffers of a large file are one event whose sink needs no waiting: no promise is made for those.
      const run = (): void | Promise<void> => {
        for (let next = events.next(); !next.done; next = events.next()) {
          const waiting = take(next.value);
          if (waiting !== undefined) return waiting.then(run);
        }
        return undefined;
      };
      return run();
    },
    handlers.pace,
  );

  scanner.end();
  if (file === undefined) {
    throw invalidField("file", 'The form has no field "file". Send the file in a field with that name.');
  }
  return { fields, file };
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
      `The field ${quote(field.name)} is not valid UTF-8. Encode it as UTF-8.`,
      { field: field.name },
      error,
    );
  }
}

const FORM_DATA = /^multipart\/form-data[ \t]*(?:;|$)/i;
const BOUNDARY_PARAMETER = /;[ \t]*boundary[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))[ \t]*(?:;|$)/i;
/** RFC 2046 §5.1.1: 1 to 70 characters, not ending with a blank. Any visible ASCII is taken, as clients do use it. */
const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;

function parseBoundary(contentType: string | null): string {
  if (contentType === null || !FORM_DATA.test(contentType)) {
    throw new AppError(
      "unsupported_media_type",
      `${contentType === null ? "The request has no Content-Type" : `The Content-Type is ${quote(contentType)}`}. ` +
        "Send the file as multipart/form-data.",
    );
  }
  const match = BOUNDARY_PARAMETER.exec(contentType);
  const boundary = match?.[2] ?? match?.[1]?.replaceAll(/\\(.)/g, "$1");
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw malformed("Its Content-Type has no valid boundary. Let your HTTP library set that header.");
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
    if (colon <= 0) throw malformed("A part contains a header line that is not valid.");
    const key = line.slice(0, colon).trim().toLowerCase();
    if (!headers.has(key)) headers.set(key, line.slice(colon + 1).trim());
  }
  const disposition = parseFormDisposition(headers.get("content-disposition") ?? "");
  if (disposition === undefined) {
    throw malformed('A part has no "Content-Disposition: form-data" with a name.');
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (encoding !== undefined && !["binary", "8bit", "7bit"].includes(encoding)) {
    // RFC 7578 §4.7: not to be sent. Stored as it is, the file would not be what the person had.
    throw malformed(`A part is encoded as ${quote(encoding)}. Send it without an encoding.`);
  }
  return { ...disposition, contentType: headers.get("content-type") };
}

const LATIN1 = new TextDecoder("latin1");

function decodeHeaders(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (error) {
    // Older clients send names in their own 8-bit code; Latin-1 keeps every byte of them.
    if (error instanceof TypeError) return LATIN1.decode(bytes);
    throw error;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
