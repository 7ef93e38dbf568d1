// The text of documents, read by the real process.
import { afterAll, expect, test } from "bun:test";
import { Extraction, makePdf } from "./support.ts";

const extraction = new Extraction();
afterAll(() => extraction[Symbol.dispose]());

test("the text of a PDF has its pages in order, separated by form feeds", async () => {
  expect(await extraction.text(makePdf(["First page", "Second page"]), "application/pdf")).toBe(
    "First page\fSecond page",
  );
});

test("a damaged PDF has no text, and the next one is read", async () => {
  expect(await extraction.text("%PDF-1.4 and nothing else", "application/pdf")).toBe("none: it is damaged or no PDF");
  expect(await extraction.text(makePdf(["After"]), "application/pdf")).toBe("After");
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
