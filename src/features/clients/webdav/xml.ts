/** The elements of XML (XML 1.0, Namespaces in XML 1.0) for WebDAV (RFC 4918), and how they are written. */
import { escapeXml } from "../../../lib/escape-xml.ts";

/** An attribute, without namespace declarations. */
export interface XmlAttribute {
  /** Empty for none. */
  readonly prefix: string;
  /** URI of its namespace; empty for none. */
  readonly namespace: string;
  readonly name: string;
  readonly value: string;
}

/** An element. Comments and processing instructions are left out. */
export interface XmlElement {
  /** The prefix as sent; empty for none. */
  readonly prefix: string;
  /** URI of its namespace; empty for none. */
  readonly namespace: string;
  readonly name: string;
  readonly attributes: readonly XmlAttribute[];
  /** Elements and text, in order. */
  readonly content: readonly (XmlElement | string)[];
  readonly children: readonly XmlElement[];
  /** The text directly in this element, joined. */
  readonly text: string;
}

/** The namespace of WebDAV. */
export const DAV = "DAV:";

/** Whether an element has this name in the namespace of WebDAV. */
export function isDav({ namespace, name }: XmlElement, localName: string): boolean {
  return namespace === DAV && name === localName;
}

/** The namespace of the prefix `xml`, which is never declared. */
const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/**
 * Writes an element so that it can stand anywhere: it declares every namespace that it uses, and keeps its prefixes.
 * @param language the `xml:lang` that applies to it from outside; undefined for none
 */
export function writeElement(element: XmlElement, language?: string): string {
  const isNamed = element.attributes.some(({ namespace, name }) => namespace === XML_NAMESPACE && name === "lang");
  const outer = language === undefined || isNamed ? "" : ` xml:lang="${escapeXml(language)}"`;
  return writeIn(
    element,
    new Map([
      ["", ""],
      ["xml", XML_NAMESPACE],
    ]),
    outer,
  );
}

/** @param outer namespaces by prefix where the element stands */
function writeIn(element: XmlElement, outer: ReadonlyMap<string, string>, firstAttributes: string): string {
  const scope = new Map(outer);
  let start = firstAttributes;
  const declare = (prefix: string, namespace: string) => {
    if (scope.get(prefix) === namespace) return;
    scope.set(prefix, namespace);
    start += prefix === "" ? ` xmlns="${escapeXml(namespace)}"` : ` xmlns:${prefix}="${escapeXml(namespace)}"`;
  };
  declare(element.prefix, element.namespace);
  for (const { prefix, namespace, name, value } of element.attributes) {
    if (prefix !== "") declare(prefix, namespace);
    start += ` ${qualifiedName(prefix, name)}="${escapeXml(value)}"`;
  }
  const tag = qualifiedName(element.prefix, element.name);
  if (element.content.length === 0) return `<${tag}${start}/>`;
  let content = "";
  for (const part of element.content) content += typeof part === "string" ? escapeXml(part) : writeIn(part, scope, "");
  return `<${tag}${start}>${content}</${tag}>`;
}

function qualifiedName(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}:${name}`;
}

/** The value of `xml:lang` on an element; undefined if it has none. */
export function languageOf(element: XmlElement): string | undefined {
  return element.attributes.find(({ namespace, name }) => namespace === XML_NAMESPACE && name === "lang")?.value;
}
