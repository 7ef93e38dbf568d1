/** Builds the elements of an XML document from its text. */
import { type SaxesAttributeNSIncomplete, SaxesParser, type SaxesTagNS } from "saxes";
import { AppError } from "../../../errors.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { XmlElement } from "./xml.ts";

/** Levels of elements in a document. */
const DEPTH_MAX = 32;
/** Elements in a document: the longest requests of known clients have about 60. */
const ELEMENTS_MAX = 4_000;
/** Attributes in a document, including namespace declarations. */
const ATTRIBUTES_MAX = 4_000;
/** Characters of a name, prefix and colon included. */
const NAME_LENGTH_MAX = 1_024;
/** Characters of a namespace. Responses and stored properties repeat it at each element that uses it. */
const NAMESPACE_LENGTH_MAX = 1_024;
const XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/";

interface OpenElement extends XmlElement {
  readonly content: (XmlElement | string)[];
  readonly children: XmlElement[];
  text: string;
}

/**
 * Builds the tree of a document whose text arrives in pieces. Rejects what is not well-formed, undeclared prefixes, and
 * document type declarations: without these there are no entities but the five of XML, and nothing external is loaded.
 */
export class XmlTreeBuilder {
  readonly #parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: "1.0", forceXMLVersion: true });
  readonly #open: OpenElement[] = [];
  #root: XmlElement | undefined;
  #elements = 0;
  #attributes = 0;

  /** @param encoding of the text: a document that declares another one is rejected */
  constructor(encoding: "utf-8" | "utf-16") {
    const parser = this.#parser;
    parser.on("error", (error) => {
      throw invalidXml(say`The XML in the request is not well-formed. Send valid XML.`, error);
    });
    parser.on("doctype", () => {
      throw invalidXml(say`The XML in the request has a document type declaration. Send it without one.`);
    });
    parser.on("xmldecl", (declaration) => {
      if (declaration.encoding !== undefined && !isEncoding(encoding, declaration.encoding)) {
        throw invalidXml(say`The XML in the request must be UTF-8 or UTF-16, and declare it correctly.`);
      }
    });
    parser.on("opentagstart", () => {
      if (this.#open.length >= DEPTH_MAX) throw tooMuch(say`The XML in the request has more than ${DEPTH_MAX} levels.`);
      if (++this.#elements > ELEMENTS_MAX)
        throw tooMuch(say`The XML in the request has more than ${ELEMENTS_MAX} elements.`);
    });
    parser.on("attribute", (attribute: SaxesAttributeNSIncomplete) => {
      if (++this.#attributes > ATTRIBUTES_MAX)
        throw tooMuch(say`The XML in the request has more than ${ATTRIBUTES_MAX} attributes.`);
      if (attribute.name.length > NAME_LENGTH_MAX)
        throw tooMuch(say`The XML in the request has a name of more than ${NAME_LENGTH_MAX} characters.`);
      if (isDeclaration(attribute) && attribute.value.length > NAMESPACE_LENGTH_MAX) {
        throw tooMuch(say`The XML in the request has a namespace of more than ${NAMESPACE_LENGTH_MAX} characters.`);
      }
    });
    parser.on("opentag", (tag) => this.#begin(tag));
    parser.on("closetag", () => this.#end());
    parser.on("text", (text) => this.#addText(text));
    parser.on("cdata", (text) => this.#addText(text));
  }

  /** Adds the next piece of the text. @throws AppError invalid_request */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** The root element of the complete document. @throws AppError invalid_request */
  finish(): XmlElement {
    this.#parser.close();
    if (this.#root === undefined) throw invalidXml(say`The XML in the request has no element. Send valid XML.`);
    return this.#root;
  }

  #begin(tag: SaxesTagNS): void {
    if (tag.name.length > NAME_LENGTH_MAX)
      throw tooMuch(say`The XML in the request has a name of more than ${NAME_LENGTH_MAX} characters.`);
    const attributes = Object.values(tag.attributes)
      .filter(({ uri }) => uri !== XMLNS_NAMESPACE)
      .map(({ prefix, uri, local, value }) => ({ prefix, namespace: uri, name: local, value }));
    const { prefix, uri: namespace, local: name } = tag;
    const element: OpenElement = { prefix, namespace, name, attributes, content: [], children: [], text: "" };
    const parent = this.#open.at(-1);
    parent?.content.push(element);
    parent?.children.push(element);
    this.#root ??= element;
    this.#open.push(element);
  }

  #end(): void {
    this.#open.pop();
  }

  /** White space around the root element belongs to no element. */
  #addText(text: string): void {
    const element = this.#open.at(-1);
    if (element === undefined) return;
    element.text += text;
    const last = element.content.length - 1;
    if (typeof element.content[last] === "string") element.content[last] += text;
    else element.content.push(text);
  }
}

/** Whether an attribute declares a namespace. */
function isDeclaration({ name, prefix }: SaxesAttributeNSIncomplete): boolean {
  return prefix === "xmlns" || name === "xmlns";
}

/** Whether a declared encoding fits the one that was found; ASCII is a part of UTF-8. */
function isEncoding(found: "utf-8" | "utf-16", declared: string): boolean {
  const name = declared.toLowerCase();
  if (found === "utf-8") return name === "utf-8" || name === "us-ascii";
  return name === "utf-16" || name === "utf-16le" || name === "utf-16be";
}

function invalidXml(text: Message, cause?: unknown): AppError {
  return new AppError("invalid_request", text, {}, cause);
}

function tooMuch(what: Message): AppError {
  return invalidXml(say`${what} Send less.`);
}
