// Reads the responses of PROPFIND and PROPPATCH.
import { SaxesParser, type SaxesTagNS } from "saxes";
import type { ApiResponse } from "./client.ts";
import { expectStatus } from "./expect.ts";

/** A property by its name with its namespace, such as `DAV:getetag`: its status, and what the element contains. */
export interface DavProperty {
  readonly status: number;
  readonly text: string;
  /** Names of the elements in it, at any depth. */
  readonly elements: readonly string[];
  /** The attributes of its own element, without namespace declarations. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Properties by href and by name. The order is that of the response. */
export type Multistatus = Map<string, Map<string, DavProperty>>;

/** Path of the elements above a property. */
const PROP_DEPTH = 4;

/** Parses a response with status 207, which must be well-formed. */
export function readMultistatus(response: ApiResponse): Multistatus {
  expectStatus(response, 207);
  return parseMultistatus(response.text);
}

/** Parses the text of a multistatus. */
export function parseMultistatus(xml: string): Multistatus {
  const found: Multistatus = new Map();
  const parser = new SaxesParser({ xmlns: true });
  const open: string[] = [];
  let properties = new Map<string, DavProperty>();
  let pending = new Map<string, Omit<DavProperty, "status">>();
  let current: { text: string; elements: string[]; attributes: Record<string, string> } | undefined;
  let text = "";
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", (tag) => {
    const name = tag.uri + tag.local;
    if (current !== undefined) current.elements.push(name);
    if (open.length === PROP_DEPTH && open.at(-1) === "DAV:prop") {
      current = { text: "", elements: [], attributes: attributesOf(tag) };
    }
    if (name === "DAV:response") properties = new Map();
    if (name === "DAV:propstat") pending = new Map();
    open.push(name);
    text = "";
  });
  const addText = (more: string) => {
    text += more;
    if (current !== undefined) current.text += more;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", (tag) => {
    open.pop();
    const name = tag.uri + tag.local;
    if (open.length === PROP_DEPTH && current !== undefined) {
      pending.set(name, current);
      current = undefined;
    }
    if (name === "DAV:href" && open.length === 2) found.set(text, properties);
    if (name === "DAV:status" && open.length === 3) {
      const status = Number(text.split(" ")[1]);
      for (const [key, property] of pending) properties.set(key, { status, ...property });
    }
  });
  parser.write(xml).close();
  return found;
}

function attributesOf(tag: SaxesTagNS): Record<string, string> {
  const own = Object.values(tag.attributes).filter(({ prefix, name }) => prefix !== "xmlns" && name !== "xmlns");
  return Object.fromEntries(own.map(({ name, value }) => [name, value]));
}
