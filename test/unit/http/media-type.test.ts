import { FileTypeParser } from "file-type";
import { describe, expect, test } from "bun:test";
import { detectMediaType, typeUnderName } from "../../../src/features/library/files/media-type.ts";
import { TypeParser } from "../../../src/features/library/files/type-parser.ts";
import { canInline } from "../../../src/http/send-blob.ts";
import { measureLeastMs } from "../../support/expect.ts";

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
const PNG = bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0");
const ZIP = Buffer.concat([bytes("PK\x03\x04\x14\0\0\0\0\0"), Buffer.alloc(40, 7)]);
const CFB = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600, 1)]);

describe("the media type of a content", () => {
  test.each<[string, Uint8Array, string | undefined, string, string]>([
    ["a JPEG by any name", bytes("\xff\xd8\xff\xe0\0\x10JFIF"), "text/html", "a.html", "image/jpeg"],
    ["a PNG", PNG, undefined, "x", "image/png"],
    ["a PNG cut behind its signature", PNG.subarray(0, 8), undefined, "x", "image/png"],
    ["an animated PNG", Buffer.concat([PNG, bytes("crc!\0\0\0\x08acTL")]), undefined, "x", "image/apng"],
    ["a GIF", bytes("GIF89a"), undefined, "x", "image/gif"],
    ["a WebP", bytes("RIFF\x10\0\0\0WEBPVP8 "), undefined, "x", "image/webp"],
    ["a PDF", bytes("%PDF-1.7\n"), "application/octet-stream", "x.bin", "application/pdf"],
    ["an MP4", bytes("\0\0\0\x18ftypisom\0\0\x02\0isomiso2"), undefined, "x", "video/mp4"],
    ["an HEIC", bytes("\0\0\0\x18ftypheic\0\0\0\0mif1heic"), undefined, "x", "image/heic"],
    ["a page that says it is a picture", bytes("<html><script>"), "image/png", "a.png", "text/html"],
    ["a page behind spaces and a mark", bytes("\xef\xbb\xbf \n<!DOCTYPE HTML>"), "image/png", "a.png", "text/html"],
    ["a page behind a comment", bytes("<!-- GIF89a --><body onload=x>"), "image/gif", "a.gif", "text/html"],
    ["a page in UTF-16", Buffer.from("\ufeff<html>", "utf16le"), "image/png", "a.png", "text/html"],
    ["a bare script", bytes("<script>alert(1)</script>"), "text/plain", "a.txt", "text/html"],
    ["an SVG", bytes("<svg xmlns='http://www.w3.org/2000/svg'>"), "image/png", "a.png", "image/svg+xml"],
    [
      "an SVG with a prefix",
      bytes("<?xml version='1.0'?><!-- x --><s:svg xmlns:s='x'>"),
      undefined,
      "a.png",
      "image/svg+xml",
    ],
    [
      "an SVG with a document type",
      bytes('<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">'),
      undefined,
      "x",
      "image/svg+xml",
    ],
    [
      "an SVG behind an inner document type",
      bytes("<!DOCTYPE x [<!ENTITY a 'b'>]><svg>"),
      undefined,
      "x",
      "image/svg+xml",
    ],
    ["XHTML", bytes("<?xml version='1.0'?><html xmlns='x'>"), "image/jpeg", "a.jpg", "application/xhtml+xml"],
    [
      "XML with a style sheet",
      bytes("<?xml version='1.0'?><?xml-stylesheet href='x'?><a/>"),
      "image/png",
      "a.png",
      "application/xml",
    ],
    ["XML that its name refines", bytes("<?xml version='1.0'?><gpx/>"), undefined, "way.gpx", "application/gpx+xml"],
    ["Markdown that begins with HTML", bytes("<h1 align=center>Larder</h1>"), undefined, "README.md", "text/markdown"],
    ["TypeScript", bytes("import a from 'a';"), undefined, "app.ts", "application/typescript"],
    ["TypeScript that a browser calls a video", bytes("export {};"), "video/mp2t", "app.ts", "application/typescript"],
    ["a video stream", bytes(`G${"\xff".repeat(187)}`.repeat(4)), undefined, "film.ts", "video/mp2t"],
    ["a ZIP", ZIP, undefined, "a.bin", "application/zip"],
    [
      "a ZIP that its name makes a document",
      ZIP,
      "application/zip",
      "a.docx",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    [
      "a ZIP that the client says is a sheet",
      ZIP,
      "application/vnd.oasis.opendocument.spreadsheet",
      "x",
      "application/vnd.oasis.opendocument.spreadsheet",
    ],
    ["a ZIP called a picture", ZIP, "image/png", "a.png", "application/zip"],
    ["an old Word document", CFB, undefined, "a.doc", "application/msword"],
    ["text, as the client says", bytes("hello"), "Text/Plain; charset=utf-8", "a.csv", "text/plain"],
    ["text, as its name says", bytes("a;b;c\n1;2;3\n"), undefined, "a.csv", "text/csv"],
    ["text that begins like a bitmap", bytes("BMW, Bach and Beethoven\n"), undefined, "a.txt", "text/plain"],
    ["umlauts", Buffer.from("grün\n"), "application/octet-stream", "a.txt", "text/plain"],
    ["a raw body of curl", bytes("hello"), "application/x-www-form-urlencoded", "a.txt", "text/plain"],
    ["nonsense declared", bytes("hello"), "<script>", "a", "application/octet-stream"],
    ["nothing known", Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]), undefined, "a", "application/octet-stream"],
    ["nothing at all", new Uint8Array(), undefined, "", "application/octet-stream"],
  ])("%s", async (_name, head, declared, fileName, expected) => {
    expect(await detectMediaType(head, declared, fileName)).toBe(expected);
  });

  test("no beginning of any kind throws", async () => {
    const seeds = [
      PNG,
      ZIP,
      CFB,
      bytes("<?xml <!-- <!doctype ["),
      bytes("\0\0\0\x18ftyp"),
      bytes("RIFF\x10\0\0\0WAVEfmt "),
      bytes("ID3\x04"),
      bytes("OggS"),
      bytes("\x1a\x45\xdf\xa3"),
    ];
    for (const seed of seeds) {
      for (let length = 0; length <= Math.min(seed.length, 64); length++) {
        for (const photoBackfill of [0, 0x20, 0x3c, 0xff]) {
          const head = Buffer.concat([seed.subarray(0, length), Buffer.alloc((length * 67) % 4000, photoBackfill)]);
          expect(await detectMediaType(head, undefined, "x")).toMatch(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/);
        }
      }
    }
  });

  test("markup made to be slow is read in time", () => {
    for (const hostile of [
      "<!--".repeat(1025),
      "<?x".repeat(1366),
      "<!doctype[".repeat(410),
      `<!doctype ${"[]".repeat(2000)}`,
      "<".repeat(4100),
      " ".repeat(4100),
    ]) {
      const ms = measureLeastMs(() => void detectMediaType(bytes(hostile).subarray(0, 4100), undefined, "x"));
      expect(ms).toBeLessThan(50);
    }
  });
});

test("only pictures but SVG, sound, film, PDF and plain text are shown in place", () => {
  for (const type of ["image/png", "image/heic", "audio/mpeg", "video/mp4", "application/pdf", "text/plain"]) {
    expect([type, canInline(type)]).toEqual([type, true]);
  }
  for (const type of [
    "image/svg+xml",
    "text/html",
    "application/xhtml+xml",
    "application/xml",
    "text/xml",
    "text/css",
    "application/zip",
    "application/octet-stream",
  ]) {
    expect([type, canInline(type)]).toEqual([type, false]);
  }
});

test.each<[string, Uint8Array, string]>([
  ["a text document", ZIP, "a.docx"],
  ["a spreadsheet of 1997", CFB, "a.xls"],
  ["an archive", ZIP, "a.zip"],
  ["an archive that says it is a picture", ZIP, "a.png"],
  ["a text", bytes("hello"), "a.md"],
  ["unknown bytes", bytes("\x01\x02\x03\x04\x05"), "a.kdbx"],
  ["bytes without an extension", bytes("\x01\x02\x03\x04\x05"), "a"],
  ["a flat document", bytes("<?xml version='1.0'?><office:document>"), "a.rdf"],
  ["a page that says it is a picture", bytes("<html>"), "a.png"],
  ["a README", bytes("<h1>x</h1>"), "README.md"],
  ["a picture", PNG, "a.jpg"],
])("%s has the same type if it is renamed after the upload", async (_, content, name) => {
  const expected = await detectMediaType(content, undefined, name);
  for (const temporary of ["~A1B2", "a.tmp", "a.part"]) {
    expect(typeUnderName(await detectMediaType(content, undefined, temporary), name)).toBe(expected);
  }
});

test("the parser finds the same types as its library", async () => {
  const starts = [
    "ID3",
    "OTTO",
    "MZ",
    "fLaC",
    "PK\u0003\u0004",
    "\u0000\u0000\u0000\u0018ftypisom",
    "%!PS-Adobe-3.0 EPSF-3.0",
  ];
  let known = 0;
  for (let round = 0; round < 2_000; round++) {
    const head = crypto.getRandomValues(new Uint8Array(64 + (round % 400)));
    Buffer.from(head.buffer).write(starts[round % (2 * starts.length)] ?? "", "latin1");
    const find = (parser: FileTypeParser) => parser.fromBuffer(head).catch(String);
    const found = await find(new TypeParser());
    expect(found).toEqual(await find(new FileTypeParser()));
    if (found !== undefined) known++;
  }
  expect(known).toBeGreaterThan(100);
});
