// The text of documents, read by the real process.
import { afterAll, expect, test } from "bun:test";
import { makeZip, OFFICE_DOCUMENTS } from "../../../support/document-files.ts";
import { pdf } from "../../../support/sample-library.ts";
import { TEXT_BYTES_MAX } from "../../../../src/features/media/documents/types.ts";
import { Extraction } from "./support.ts";

const extraction = new Extraction();
afterAll(() => extraction[Symbol.dispose]());

test("the text of a PDF has its pages in order, separated by form feeds", async () => {
  expect(await extraction.text(pdf(["First page", "Second page"]), "application/pdf")).toBe("First page\fSecond page");
});

test("a damaged PDF has no text, and the next one is read", async () => {
  expect(await extraction.text("%PDF-1.4 and nothing else", "application/pdf")).toBe("none: it is damaged or no PDF");
  expect(await extraction.text(pdf(["After"]), "application/pdf")).toBe("After");
});

test("text is decoded by its byte order mark, else as UTF-8, else as Windows-1252", async () => {
  const text = "Grüße, 世界\n";
  expect(await extraction.text(text, "text/plain")).toBe(text);
  expect(await extraction.text(`\ufeff${text}`, "text/markdown")).toBe(text);
  expect(await extraction.text(Buffer.from(`\ufeff${text}`, "utf16le"), "text/plain; charset=x")).toBe(text);
  expect(await extraction.text(Buffer.from(`\ufeff${text}`, "utf16le").swap16(), "text/csv")).toBe(text);
  expect(await extraction.text(Buffer.from("Gr\xfc\xdfe \x80", "latin1"), "text/plain")).toBe("Grüße €");
});

test("bytes that are no text, and media types without text, have none", async () => {
  expect(await extraction.text("a\0b", "text/plain")).toBe("none: it is not text");
  expect(await extraction.text("x", "image/png")).toBe("none: no text is read from image/png");
});

test("more than 10 MB of text is cut off between two characters", async () => {
  const result = await extraction.extract("😀".repeat(3_000_000), "text/plain");
  if (result.kind === "none") throw new Error(result.reason);
  expect(result.isTruncated).toBe(true);
  const text = (await Array.fromAsync(result.text)).join("");
  expect(text.isWellFormed()).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10 * 1024 * 1024);
  expect(Buffer.byteLength(text)).toBeGreaterThan(5 * 1024 * 1024);
});

test("a cancelled call rejects, and the next one is served", async () => {
  const cancelled = extraction.extractor.extract(extraction.add("x"), "text/plain", AbortSignal.abort(new Error("no")));
  await expect(cancelled).rejects.toThrow("no");
  expect(await extraction.text("next", "text/plain")).toBe("next");
});

test.each(OFFICE_DOCUMENTS)("the text of %s", async (_, mediaType, entries, text) => {
  expect(await extraction.text(makeZip(entries), mediaType)).toBe(text);
});

test("a page has its text without tags, scripts and styles, in the encoding that it names", async () => {
  const html = `<!doctype html><html><head><meta charset="iso-8859-1"><title>T&auml;gliches</title><style>p{}</style>
    <script>alert("no")</script></head><body><p>one
    two&nbsp;&#8364;<b>bo</b>ld<br>next</p><table><tr><td>a</td><td>b</td></tr></table><template>no</template>\xfc</body></html>`;
  const text = await extraction.text(Buffer.from(html, "latin1"), "text/html");
  expect(text.split(/\s+/)).toEqual(["", "Tägliches", "one", "two", "€bold", "next", "a", "b", "ü"]);
});

test("an email message has its subject, its people, its text and the names of its attachments", async () => {
  const mail = `From: Ada <ada@example.org>\r\nTo: Ben <ben@example.org>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>there</b></p>\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="bill.pdf"\r\n\r\nx\r\n--b--\r\n`;
  const text = await extraction.text(mail, "message/rfc822");
  expect(text.split(/\s+/)).toEqual("Grüße Ada ada@example.org Ben ben@example.org Hello there bill.pdf".split(" "));
});

test("entities, loops of entities and document types in XML are not expanded", async () => {
  const bomb = `<!DOCTYPE w [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
  const document = makeZip({ "word/document.xml": `${bomb}<w:p><w:t>before</w:t><w:t>&b;&f;</w:t></w:p>` });
  const text = await extraction.text(
    document,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  );
  expect(text).toStartWith("before");
  expect(text).not.toContain("lol");
  expect(text).not.toContain("root");
});

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

test.each([
  ["one text", `<w:p><w:t>${"spam ".repeat(20_000_000)}</w:t></w:p>`, "none: a part of it is too long"],
  [
    "tags",
    `<w:p>${`<w:x a="${"y".repeat(10_000)}"/>`.repeat(11_000)}</w:p>`,
    "none: it unpacks to more than 104857600 bytes",
  ],
])(
  "a ZIP bomb of %s is unpacked only up to the limits",
  async (_, xml, reason) => {
    expect(await extraction.text(makeZip({ "word/document.xml": xml }), DOCX)).toBe(reason);
  },
  60_000,
);

test("a document with more text than the limit has the first 10 MB", async () => {
  const xml = `<w:body>${"<w:p><w:t>spam and eggs</w:t></w:p>".repeat(1_000_000)}</w:body>`;
  expect(await extraction.extract(makeZip({ "word/document.xml": xml }), DOCX)).toMatchObject({ isTruncated: true });
}, 60_000);

test("large files of every format stay within the memory, one after another", async () => {
  const attachment = `Content-Disposition: attachment; filename=a\r\nContent-Transfer-Encoding: base64\r\n\r\n${"QUJD".repeat(4_500_000)}`;
  const files: [string, string | Uint8Array, string][] = [
    ["text", "word ".repeat(TEXT_BYTES_MAX / 5), "text/plain"],
    ["html", "<p>word</p> ".repeat(400_000), "text/html"],
    [
      "mail",
      `Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${attachment}\r\n--b--`,
      "message/rfc822",
    ],
    ["pdf", pdf(Array.from({ length: 5000 }, (_, index) => `Page ${index}`)), "application/pdf"],
  ];
  for (const [name, bytes, mediaType] of files) {
    expect({ name, ...(await extraction.extract(bytes, mediaType)) }).toMatchObject({ name, kind: "text" });
  }
}, 60_000);

test("a file that is no ZIP, and one without a document, have no text", async () => {
  expect(await extraction.text("PK", "application/epub+zip")).toStartWith("none: it is damaged");
  expect(await extraction.text(makeZip({ x: "y" }), "application/epub+zip")).toStartWith("none: it is no office");
});
