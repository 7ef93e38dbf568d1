// Reads a multistatus response (RFC 4918, section 13), without a parser of XML: the tests know what the server writes.
import type { ApiResponse } from "../../support/client.ts";

/** The properties of one resource: local name → text, of the propstats with status 200. */
export interface DavResource {
  /** The path of the resource, decoded. */
  path: string;
  found: Record<string, string>;
  /** Local names of the properties with another status. */
  missing: string[];
}

/** Reads the resources of a multistatus response in order. @throws Error if it is none */
export function resourcesOf(response: ApiResponse): DavResource[] {
  if (response.status !== 207) throw new Error(`not a multistatus: ${response.status} ${response.text.slice(0, 1000)}`);
  return elements(response.text, "response").map((one) => {
    const resource: DavResource = {
      path: decodeURIComponent(textOf(elements(one, "href")[0] ?? "")),
      found: {},
      missing: [],
    };
    for (const propstat of elements(one, "propstat")) {
      const isFound = / 200 /.test(elements(propstat, "status")[0] ?? "");
      for (const prop of elements(propstat, "prop")) {
        for (const { name, content } of children(prop)) {
          if (isFound) resource.found[name] = textOf(content);
          else resource.missing.push(name);
        }
      }
    }
    return resource;
  });
}

/** The contents of all elements with a local name that are not inside another one of them. */
function elements(xml: string, name: string): string[] {
  const pattern = new RegExp(`<(?:[\\w-]+:)?${name}(?:\\s[^>]*)?>(.*?)</(?:[\\w-]+:)?${name}>`, "gs");
  return [...xml.matchAll(pattern)].map(([, content = ""]) => content);
}

/** The direct children of an element's content. */
function* children(xml: string): Generator<{ name: string; content: string }> {
  const open = /<(?<tag>(?:[\w-]+:)?(?<name>[\w-]+))(?:\s[^>]*?)?(?<empty>\/)?>/g;
  for (let at = open.exec(xml); at !== null; at = open.exec(xml)) {
    const { tag = "", name = "", empty } = at.groups ?? {};
    if (empty !== undefined) {
      yield { name, content: "" };
      continue;
    }
    const end = xml.indexOf(`</${tag}>`, open.lastIndex);
    yield { name, content: xml.slice(open.lastIndex, end) };
    open.lastIndex = end;
  }
}

/** Text with its five predefined entities and numeric references replaced. Elements stay as they are. */
function textOf(xml: string): string {
  return xml
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
