import { AppError, type ErrorDetails } from "../errors.ts";
import { type Message, say } from "../translations/say.ts";

/** Limits of a form, in bytes except `partsMax`. The sink limits the file. */
export interface FormLimits {
  /** Maximum number of parts, including the file. */
  readonly partsMax: number;
  /** Maximum size of the headers of one part. */
  readonly partHeadersBytes: number;
  /** Maximum size of a text field. */
  readonly fieldBytes: number;
  /** All text fields together. */
  readonly fieldsTotalBytes: number;
}

/** Bytes before the first and after the last delimiter have no meaning; more than this is rejected. */
const PADDING_MAX_BYTES = 64 * 1024;

/** Maximum length of a line after a delimiter: `--` or blanks (RFC 2046 §5.1.1, transport-padding). */
const DELIMITER_LINE_MAX_BYTES = 256;

/** A part of a form, in the order of the body. */
export type ScanEvent =
  | { readonly kind: "headers"; readonly headers: Uint8Array }
  | { readonly kind: "data"; readonly buffer: Uint8Array }
  | { readonly kind: "end" };

const PART_END: ScanEvent = { kind: "end" };
const NOTHING: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/**
 * Finds the parts of a multipart body that arrives in buffers cut anywhere. Data is passed on as views of the input,
 * valid until the next step. Only delimiter lines and part headers are copied.
 *
 * A delimiter is CRLF, two dashes and the boundary. CR can occur in it only as the first byte. So the beginning of a
 * delimiter at the end of a buffer is stored as a count, and no byte is read twice: the time is linear for any content.
 */
export class FormScanner {
  readonly #limits: FormLimits;
  readonly #delimiter: Buffer;
  #state: "preamble" | "delimiter" | "headers" | "data" | "epilogue" = "preamble";
  /** How many bytes of a delimiter the last buffer ended with. The first delimiter needs no CRLF before it. */
  #matched = 2;
  /** The unfinished delimiter line or header block. */
  #unfinished: Buffer = NOTHING;
  #paddingBytes = 0;
  #parts = 0;

  constructor(boundary: string, limits: FormLimits) {
    this.#limits = limits;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  /** Scans the next buffer of the body. @throws AppError invalid_multipart */
  *scan(buffer: Uint8Array): Generator<ScanEvent, undefined, undefined> {
    let rest: Buffer = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    if (this.#unfinished.length > 0) {
      rest = Buffer.concat([this.#unfinished, rest]);
      this.#unfinished = NOTHING;
    }
    while (rest.length > 0) {
      const next: number | undefined = yield* this.#step(rest);
      if (next === undefined) return;
      rest = rest.subarray(next);
    }
  }

  /** Continues in the current state. @returns the start of the next state; undefined if that needs more bytes */
  *#step(rest: Buffer): Generator<ScanEvent, number | undefined, undefined> {
    switch (this.#state) {
      case "preamble":
        return this.#skipPreamble(rest);
      case "data":
        return yield* this.#readData(rest);
      case "delimiter":
        return this.#endDelimiter(rest);
      case "headers":
        return yield* this.#readHeaders(rest);
      case "epilogue":
        this.#countPadding(rest.length);
        return undefined;
    }
  }

  #skipPreamble(rest: Buffer): number | undefined {
    const { dataLength, next } = this.#findDelimiter(rest);
    this.#countPadding(dataLength);
    if (next !== undefined) this.#state = "delimiter";
    return next;
  }

  *#readData(rest: Buffer): Generator<ScanEvent, number | undefined, undefined> {
    const { revivedLength, dataLength, next } = this.#findDelimiter(rest);
    if (revivedLength > 0) yield { kind: "data", buffer: this.#delimiter.slice(0, revivedLength) };
    if (dataLength > 0) yield { kind: "data", buffer: rest.subarray(0, dataLength) };
    if (next === undefined) return undefined;
    yield PART_END;
    this.#state = "delimiter";
    return next;
  }

  /** Reads what follows a delimiter: two dashes after the last one, otherwise a line break. */
  #endDelimiter(rest: Buffer): number | undefined {
    if (rest[0] === DASH && rest[1] === DASH) {
      this.#state = "epilogue";
      return 2;
    }
    const lineLength = rest.indexOf("\r\n");
    if (lineLength > DELIMITER_LINE_MAX_BYTES || (lineLength < 0 && rest.length > DELIMITER_LINE_MAX_BYTES)) {
      throw malformed(say`A boundary is not followed by a line break.`);
    }
    if (lineLength < 0) {
      this.#unfinished = Buffer.from(rest);
      return undefined;
    }
    if (!isBlank(rest.subarray(0, lineLength))) throw malformed(say`A boundary is not followed by a line break.`);
    this.#parts += 1;
    const { partsMax } = this.#limits;
    if (this.#parts > partsMax) throw malformed(say`It has more than ${partsMax} parts.`, { limit: partsMax });
    this.#state = "headers";
    return lineLength + 2;
  }

  *#readHeaders(rest: Buffer): Generator<ScanEvent, number | undefined, undefined> {
    if (rest[0] === CR && rest[1] === LF) throw malformed(say`A part has no headers.`);
    const length = rest.indexOf("\r\n\r\n");
    const { partHeadersBytes: limit } = this.#limits;
    if ((length < 0 ? rest.length : length) > limit) {
      throw malformed(say`The headers of a part are longer than ${limit} bytes.`, { limit });
    }
    if (length < 0) {
      this.#unfinished = Buffer.from(rest);
      return undefined;
    }
    yield { kind: "headers", headers: rest.subarray(0, length) };
    this.#state = "data";
    return length + 4;
  }

  /** @throws AppError invalid_multipart when the closing delimiter has not been seen. */
  end(): void {
    if (this.#state === "epilogue") return;
    if (this.#state === "preamble") throw malformed(say`The boundary from Content-Type does not occur in the body.`);
    throw malformed(say`It ends before the closing boundary. Send the complete form again.`);
  }

  #countPadding(sizeBytes: number): void {
    this.#paddingBytes += sizeBytes;
    if (this.#paddingBytes > PADDING_MAX_BYTES) throw malformed(say`It contains too much data outside its boundaries.`);
  }

  /**
   * Finds the next delimiter. `revivedLength` bytes that looked like its beginning in the last buffer are data after
   * all, then `dataLength` bytes of `rest` are data. What follows the delimiter starts at `next` (undefined if there is
   * none yet).
   */
  #findDelimiter(rest: Buffer): { revivedLength: number; dataLength: number; next: number | undefined } {
    const delimiter = this.#delimiter;
    let revivedLength = 0;
    if (this.#matched > 0) {
      const expected = delimiter.subarray(this.#matched, this.#matched + rest.length);
      if (rest.subarray(0, expected.length).equals(expected)) {
        this.#matched += expected.length;
        if (this.#matched < delimiter.length) return { revivedLength: 0, dataLength: 0, next: undefined };
        this.#matched = 0;
        return { revivedLength: 0, dataLength: 0, next: expected.length };
      }
      revivedLength = this.#matched;
      this.#matched = 0;
    }
    const at = rest.indexOf(delimiter);
    if (at >= 0) return { revivedLength, dataLength: at, next: at + delimiter.length };
    const tail = rest.subarray(Math.max(0, rest.length - delimiter.length + 1));
    const cr = tail.lastIndexOf(CR);
    const begun = cr < 0 ? NOTHING : tail.subarray(cr);
    if (begun.length > 0 && delimiter.subarray(0, begun.length).equals(begun)) this.#matched = begun.length;
    return { revivedLength, dataLength: rest.length - this.#matched, next: undefined };
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}

/** The error for a form that breaks the format. */
export function malformed(what: Message, details: ErrorDetails = {}): AppError {
  return new AppError("invalid_multipart", say`The form could not be read. ${what}`, details);
}
