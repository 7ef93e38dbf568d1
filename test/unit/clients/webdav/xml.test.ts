/** Reading and writing XML for WebDAV. */
import { describe, expect, test } from "bun:test";
import { escapeXml } from "../../../../src/lib/escape-xml.ts";
import { languageOf, writeElement, type XmlElement } from "../../../../src/features/clients/webdav/xml.ts";
import { XmlDecoder } from "../../../../src/features/clients/webdav/xml-decoder.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";

/** Parses bytes in parts of a size. */
function parse(document: string | Uint8Array, partBytes = Infinity): XmlElement {
  const bytes = typeof document === "string" ? Buffer.from(document) : document;
  const decoder = new XmlDecoder();
  for (let at = 0; at < bytes.length; at += partBytes) decoder.write(bytes.subarray(at, at + partBytes));
  return decoder.finish();
}

/** The reason of the rejection; undefined if the document is accepted. Any other error fails the test. */
function rejectionOf(document: string | Uint8Array, partBytes?: number): string | undefined {
  try {
    parse(document, partBytes);
    return undefined;
  } catch (error) {
    if (error instanceof Error && "reason" in error) return String(error.reason);
    throw error;
  }
}

/** An element as comparable data, without prefixes. */
function dataOf({ namespace, name, attributes, content }: XmlElement): unknown {
  const texts = attributes.map((attribute) => JSON.stringify([attribute.namespace, attribute.name, attribute.value]));
  return [
    namespace,
    name,
    texts.sort((one, other) => (one < other ? -1 : 1)),
    content.map((part) => (typeof part === "string" ? part : dataOf(part))),
  ];
}

const DOCUMENT = `<?xml version="1.0"?>
<!-- a comment --><D:propfind xmlns:D="DAV:" xmlns="urn:x"><D:prop xml:lang="de"><a D:b='1 &lt; 2'/>t&#228;<![CDATA[<&]]><?pi x?>u</D:prop></D:propfind>
`;
const PARSED = [
  "DAV:",
  "propfind",
  [],
  [
    [
      "DAV:",
      "prop",
      ['["http://www.w3.org/XML/1998/namespace","lang","de"]'],
      [["urn:x", "a", ['["DAV:","b","1 < 2"]'], []], "tä<&u"],
    ],
  ],
];

describe("a document", () => {
  test.each([
    ["UTF-8", Buffer.from(DOCUMENT)],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${DOCUMENT}`)],
    ["UTF-16 little endian", Buffer.from(`\ufeff${DOCUMENT}`, "utf16le")],
    ["UTF-16 big endian", Buffer.from(`\ufeff${DOCUMENT}`, "utf16le").swap16()],
    ["UTF-16 without a byte order mark", Buffer.from(DOCUMENT, "utf16le")],
    ["declared UTF-16", Buffer.from(DOCUMENT.replace("?>", ' encoding="UTF-16"?>'), "utf16le").swap16()],
  ])("in %s is read, in parts of any size", (_encoding, bytes) => {
    for (const partBytes of [1, 2, 3, 7, 1000]) expect(dataOf(parse(bytes, partBytes))).toEqual(PARSED);
  });

  test("has the language of its nearest element", () => {
    const root = parse('<a xml:lang="en"><b xml:lang=""/><c lang="no"/></a>');
    expect([root, ...root.children].map(languageOf)).toEqual(["en", "", undefined]);
  });

  const nested = (levels: number) => "<a>".repeat(levels) + "</a>".repeat(levels);
  test("may have 32 levels, 4,000 elements and 4,000 attributes", () => {
    expect(rejectionOf(nested(32))).toBeUndefined();
    expect(rejectionOf(nested(33))).toBe("invalid_request");
    expect(rejectionOf(`<a>${"<b/>".repeat(3_999)}</a>`)).toBeUndefined();
    expect(rejectionOf(`<a>${"<b/>".repeat(4_000)}</a>`)).toBe("invalid_request");
    const attributes = Array.from({ length: 4_001 }, (_, i) => ` a${i}=""`);
    expect(rejectionOf(`<a${attributes.slice(1).join("")}/>`)).toBeUndefined();
    expect(rejectionOf(`<a${attributes.join("")}/>`)).toBe("invalid_request");
    expect(rejectionOf(`<${"a".repeat(1_025)}/>`)).toBe("invalid_request");
    expect(rejectionOf(`<a ${"a".repeat(1_025)}=""/>`)).toBe("invalid_request");
  });

  // A response with 256 properties of a namespace with 20,000 characters took 5 MB for each file of a folder.
  test("may have namespaces of 1,024 characters", () => {
    expect(rejectionOf(`<a xmlns="${"u".repeat(1_024)}"/>`)).toBeUndefined();
    expect(rejectionOf(`<a xmlns="${"u".repeat(1_025)}"/>`)).toBe("invalid_request");
    expect(rejectionOf(`<p:a xmlns:p="${"u".repeat(1_025)}"/>`)).toBe("invalid_request");
  });
});

const LAUGHS = `<!DOCTYPE a [<!ENTITY b "${"x".repeat(100)}"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>`;

test.each<[string, string | Uint8Array]>([
  ["white space only", " \n"],
  ["plain text", "hello"],
  ["JSON", '{"a":1}'],
  ["a form", "a=b&c=d"],
  ["an open element", "<a><b></b>"],
  ["crossed elements", "<a><b></a></b>"],
  ["two roots", "<a/><b/>"],
  ["text after the root", "<a/>x"],
  ["an undeclared prefix", "<D:a/>"],
  ["an undeclared prefix of an attribute", '<a D:b=""/>'],
  ["an empty namespace for a prefix", '<a xmlns:b=""/>'],
  ["a repeated attribute", '<a b="1" b="2"/>'],
  ["an attribute repeated by another prefix", '<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>'],
  ["an attribute without quotes", "<a b=c/>"],
  ["a bare ampersand", "<a>&</a>"],
  ["a named entity", "<a>&nbsp;</a>"],
  ["a control character", "<a>\u0001</a>"],
  ["a reference to a control character", "<a>&#1;</a>"],
  ["a reference to a surrogate", "<a>&#xD800;</a>"],
  ["]]> in text", "<a>]]></a>"],
  ["a document type declaration", "<!DOCTYPE a><a/>"],
  ["an external document type", '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
  ["an external entity", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
  ["entities of entities", LAUGHS],
  ["an unfinished document type declaration", "<!DOCTYPE a [<!ENTITY b 'c'>"],
  ["another encoding", '<?xml version="1.0" encoding="ISO-8859-1"?><a/>'],
  ["an encoding that is not its own", '<?xml version="1.0" encoding="UTF-16"?><a/>'],
  ["invalid UTF-8", Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e])],
  ["UTF-8 that ends in the middle", Buffer.from([0x3c, 0x61, 0x2f, 0x3e, 0xe2, 0x82])],
  ["an odd number of bytes in UTF-16", Buffer.from("<a/>", "utf16le").subarray(0, 7)],
])("%s is rejected", (_what, document) => expect(rejectionOf(document)).toBe("invalid_request"));

test.each(seedsToRun([17, 4242]))("changed documents are read or rejected, never anything else (seed %d)", (seed) => {
  const random = seededRandom(seed);
  const parts = [
    "<",
    ">",
    "&",
    ";",
    '"',
    "'",
    "/",
    "=",
    "xmlns:",
    "]]>",
    "<![CDATA[",
    "<!--",
    "<!DOCTYPE a [",
    "\u0000",
  ];
  for (let round = 0; round < 3_000; round++) {
    let text = DOCUMENT;
    for (let changes = 1 + random.below(4); changes > 0; changes--) {
      const at = random.below(text.length);
      const added = random.chance(0.3) ? String.fromCharCode(random.below(0x10000)) : random.pick(parts);
      text = text.slice(0, at) + added + text.slice(at + random.below(4));
    }
    const encoding = random.chance(0.3) ? "utf16le" : "utf8";
    const bytes = Buffer.from(text, encoding);
    const whole = rejectionOf(bytes);
    expect([undefined, "invalid_request"]).toContain(whole);
    expect(rejectionOf(bytes, 1 + random.below(50))).toBe(whole);
    if (whole !== undefined) continue;
    // What is accepted survives being written and read again.
    const element = parse(bytes);
    expect(dataOf(parse(writeElement(element)))).toEqual(dataOf(element));
  }
});

test("text is escaped so that it is read unchanged; what XML forbids becomes U+FFFD", () => {
  const text = "<a href=\"x\" b='y'>&amp;\t\r\n\u0085 ]]> 🦊";
  const root = parse(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`);
  expect([root.text, root.attributes[0]?.value]).toEqual([text, text]);
  expect(escapeXml("a\u0000\u001f\ufffe\ud800b")).toBe("a\ufffd\ufffd\ufffd\ufffdb");
});

test("a written element keeps its prefixes, and declares what it uses and nothing else", () => {
  const [property] = parse(
    '<D:prop xmlns:D="DAV:" xmlns:u="urn:u" xmlns:unused="urn:n" xml:lang="en"><u:a D:x="1"><b xmlns="urn:b"><c xmlns=""/></b></u:a></D:prop>',
  ).children;
  expect(property && writeElement(property, "en")).toBe(
    '<u:a xml:lang="en" xmlns:u="urn:u" xmlns:D="DAV:" D:x="1"><b xmlns="urn:b"><c xmlns=""/></b></u:a>',
  );
});
