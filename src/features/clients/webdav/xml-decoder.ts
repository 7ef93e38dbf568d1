import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { XmlElement } from "./xml.ts";
import { XmlTreeBuilder } from "./xml-tree.ts";

interface Decoding {
  readonly decoder: TextDecoder;
  readonly builder: XmlTreeBuilder;
}

/** Decodes and parses the bytes of a document, which arrive in pieces (XML 1.0 appendix F). */
export class XmlDecoder {
  /** The first bytes, until there are enough of them to recognize the encoding. */
  #first: Uint8Array = new Uint8Array();
  #decoding: Decoding | undefined;

  /** @throws AppError invalid_request */
  write(bytes: Uint8Array): void {
    if (this.#decoding !== undefined) {
      this.#decoding.builder.write(decodeText(this.#decoding.decoder, bytes));
      return;
    }
    this.#first = Buffer.concat([this.#first, bytes]);
    if (this.#first.length >= 2) this.#begin();
  }

  /** The root element of the complete document. @throws AppError invalid_request */
  finish(): XmlElement {
    const { decoder, builder } = this.#decoding ?? this.#begin();
    builder.write(decodeText(decoder, undefined));
    return builder.finish();
  }

  #begin(): Decoding {
    const encoding = encodingOf(this.#first);
    const decoder = new TextDecoder(encoding, { fatal: true });
    const builder = new XmlTreeBuilder(encoding === "utf-8" ? "utf-8" : "utf-16");
    builder.write(decodeText(decoder, this.#first));
    this.#decoding = { decoder, builder };
    return this.#decoding;
  }
}

/** @param bytes undefined at the end */
function decodeText(decoder: TextDecoder, bytes: Uint8Array | undefined): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new AppError("invalid_request", say`The XML in the request is not valid UTF-8 or UTF-16.`, {}, error);
  }
}

/** The encoding of a document by its byte order mark or by how its first "<" is encoded. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return "utf-16be";
  return "utf-8";
}
