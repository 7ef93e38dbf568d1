// PDFium's memory: nothing of a document may be there when the document of somebody else is read.
import { expect, test } from "bun:test";
import { loadPdfium } from "../../../../src/features/media/documents/load-pdfium.ts";
import { withPdf } from "../../../../src/features/media/documents/pdf.ts";
import { layOutPage } from "../../../../src/features/media/documents/text-page.ts";

test("a document leaves nothing in the memory in which the next one is read", async () => {
  const secret = layOutPage("the salary of everybody");
  expect(await withPdf(secret, (pdf) => pdf.readText(0, 1_000))).toContain("the salary of everybody");
  const { HEAPU8 } = await loadPdfium();
  expect(Buffer.from(HEAPU8).includes(secret.subarray(-200))).toBe(false);
});

test("a damaged document changes nothing of how the next one is read", async () => {
  const damaged = Buffer.from(
    "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\ntrailer << /Root 1 0 R >>",
  );
  await withPdf(damaged, (pdf) => pdf.readText(0, 1_000)).catch(() => "");
  expect(await withPdf(layOutPage("fine"), (pdf) => pdf.readText(0, 1_000))).toContain("fine");
});
