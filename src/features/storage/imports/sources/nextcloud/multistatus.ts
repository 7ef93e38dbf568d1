/** Reads the response of PROPFIND (RFC 4918, section 13) while it arrives. */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { SourceError } from "../../source.ts";
import { say } from "../../../../../translations/say.ts";

/** A file or folder in a multistatus. */
export interface DavResponse {
  /** As sent: a percent-encoded path, or an address. */
  readonly href: string;
  /** The values of the properties that it has, by namespace and name: `DAV: getetag`. */
  readonly properties: ReadonlyMap<string, DavValue>;
}

/** The value of a property. */
export interface DavValue {
  /** The text directly in its element. */
  readonly text: string;
  /** The elements in it, with their names and texts. */
  readonly elements: readonly { readonly name: string; readonly text: string }[];
}

interface OpenProperty {
  readonly key: string;
  text: string;
  readonly elements: { name: string; text: string }[];
}

const DAV = "DAV:";
const DEPTH_MAX = 32;
/** Characters of one file's properties. */
const TEXT_LENGTH_MAX = 64 * 1024;
/** Bytes in which no file ends: empty elements and long attributes need memory too. */
const INCOMPLETE_BYTES_MAX = 1024 * 1024;

/** Parses a multistatus. Each call of {@link write} returns the responses that became complete. */
export class MultistatusParser {
  readonly #parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: "1.0", forceXMLVersion: true });
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #complete: DavResponse[] = [];
  #incompleteBytes = 0;
  #depth = 0;
  #textLength = 0;
  #isMultistatus = false;
  #href = "";
  /** The status of the current propstat. */
  #status = "";
  #properties = new Map<string, DavValue>();
  #inPropstat: OpenProperty[] = [];
  #property: OpenProperty | undefined;
  /** Where text goes. */
  #target: "href" | "status" | "property" | "element" | undefined;

  constructor() {
    const parser = this.#parser;
    parser.on("error", (error) => {
      throw notMultistatus(error);
    });
    parser.on("doctype", () => {
      throw notMultistatus();
    });
    parser.on("opentag", (tag) => this.#open(tag));
    parser.on("closetag", (tag) => this.#close(tag));
    parser.on("text", (text) => this.#addText(text));
    parser.on("cdata", (text) => this.#addText(text));
  }

  /** Adds the next bytes. @throws SourceError if they are no multistatus */
  write(bytes: Uint8Array): DavResponse[] {
    const responses = this.#parse(() => this.#decoder.decode(bytes, { stream: true }));
    this.#incompleteBytes = responses.length > 0 ? 0 : this.#incompleteBytes + bytes.byteLength;
    if (this.#incompleteBytes > INCOMPLETE_BYTES_MAX) throw notMultistatus();
    return responses;
  }

  /** Ends the document. @throws SourceError if it is incomplete */
  finish(): DavResponse[] {
    const rest = this.#parse(() => this.#decoder.decode());
    this.#parser.close();
    if (!this.#isMultistatus) throw notMultistatus();
    return rest;
  }

  #parse(decode: () => string): DavResponse[] {
    let text: string;
    try {
      text = decode();
    } catch (error) {
      throw notMultistatus(error);
    }
    this.#parser.write(text);
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  #open(tag: SaxesTagNS): void {
    if (++this.#depth > DEPTH_MAX) throw notMultistatus();
    const name = tag.uri === DAV ? tag.local : undefined;
    if (this.#depth === 1) this.#isMultistatus = name === "multistatus";
    if (this.#depth === 2 && name === "response") this.#beginResponse();
    if (this.#depth === 3 && name === "href") this.#target = "href";
    if (this.#depth === 3 && name === "propstat") [this.#status, this.#inPropstat] = ["", []];
    if (this.#depth === 4 && name === "status") this.#target = "status";
    if (this.#depth === 5) {
      this.#property = { key: `${tag.uri} ${tag.local}`, text: "", elements: [] };
      this.#target = "property";
    }
    if (this.#depth === 6 && this.#property !== undefined) {
      this.#property.elements.push({ name: tag.local, text: "" });
      this.#target = "element";
    }
  }

  #close(tag: SaxesTagNS): void {
    const name = tag.uri === DAV ? tag.local : undefined;
    const depth = this.#depth--;
    if (depth === 6) {
      this.#target = "property";
      return;
    }
    if (depth > 6) return;
    this.#target = undefined;
    if (depth === 5 && this.#property !== undefined) {
      this.#inPropstat.push(this.#property);
      this.#property = undefined;
    }
    // The status follows the properties. Those with another status than 200 are missing.
    if (depth === 3 && name === "propstat" && /^HTTP\/[\d.]+ 2/.test(this.#status)) {
      for (const property of this.#inPropstat) this.#properties.set(property.key, property);
    }
    if (depth === 2 && name === "response") {
      this.#complete.push({ href: this.#href.trim(), properties: this.#properties });
    }
  }

  #beginResponse(): void {
    this.#href = "";
    this.#properties = new Map();
    this.#textLength = 0;
  }

  #addText(text: string): void {
    if (this.#target === undefined) return;
    this.#textLength += text.length;
    if (this.#textLength > TEXT_LENGTH_MAX) throw notMultistatus();
    if (this.#target === "href") this.#href += text;
    else if (this.#target === "status") this.#status += text;
    else if (this.#target === "property" && this.#property !== undefined) this.#property.text += text;
    else {
      const element = this.#property?.elements.at(-1);
      if (element !== undefined) element.text += text;
    }
  }
}

function notMultistatus(cause?: unknown): SourceError {
  const message = say`The response of the server to PROPFIND is not the list of a WebDAV folder. Check the address.`;
  return new SourceError(message, false, { cause });
}
