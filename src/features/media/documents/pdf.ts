import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ContentFault } from "../processes/content-fault.ts";
import { cleanPdfium, discardPdfium, loadPdfium, type Pdfium } from "./load-pdfium.ts";

/** A file is in memory while it is read. */
const SIZE_BYTES_MAX = 100 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;

// fpdfview.h: FPDF_ERR_PASSWORD, FPDFBitmap_BGRA, FPDF_ANNOT, FPDF_REVERSE_BYTE_ORDER (the bitmap becomes RGBA).
const ERROR_PASSWORD = 4;
const BITMAP_RGBA = 4;
const RENDER_FLAGS = 0x01 | 0x10;
const WHITE = 0xffff_ffff;

/** Marks that PDFium puts where a word is hyphenated at the end of a line: the word is joined without them. */
// oxlint-disable-next-line no-control-regex -- they are what is removed
const HYPHEN_MARKS = /[\u0002\ufffe]/g;

/** The pixels of a page: RGBA. */
export interface PagePixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * Opens a PDF, and closes it after `use`.
 * @param source the path of a file, or its bytes
 * @throws ContentFault if PDFium cannot read it; the system's error if the file cannot be read
 */
export async function withPdf<T>(source: string | Uint8Array, use: (pdf: Pdf) => T): Promise<T> {
  const pdfium = await loadPdfium();
  // From here on without a pause: another document must not come between.
  try {
    const result = readWith(pdfium, source, use);
    cleanPdfium(pdfium);
    return result;
  } catch (error) {
    if (error instanceof ContentFault || (error instanceof Error && "code" in error)) {
      cleanPdfium(pdfium);
      throw error;
    }
    // PDFium ended itself: no memory, or a state that it does not expect.
    discardPdfium();
    throw new ContentFault("PDFium cannot read it", error);
  }
}

function readWith<T>(pdfium: Pdfium, source: string | Uint8Array, use: (pdf: Pdf) => T): T {
  const { pointer, sizeBytes } = typeof source === "string" ? copyFile(pdfium, source) : copyBytes(pdfium, source);
  const document = pdfium._FPDF_LoadMemDocument(pointer, sizeBytes, 0);
  if (document === 0) throw loadFault(pdfium._FPDF_GetLastError());
  return use(new Pdf(pdfium, document));
}

function loadFault(code: number): ContentFault {
  return new ContentFault(code === ERROR_PASSWORD ? "it is encrypted with a password" : "it is damaged or no PDF");
}

function copyBytes(pdfium: Pdfium, bytes: Uint8Array): { pointer: number; sizeBytes: number } {
  const pointer = pdfium._malloc(bytes.length);
  if (pointer === 0) throw new ContentFault("it needs too much memory");
  pdfium.HEAPU8.set(bytes, pointer);
  return { pointer, sizeBytes: bytes.length };
}

/** Copies a file into the memory of PDFium, in pieces, so that it is not in memory twice. */
function copyFile(pdfium: Pdfium, path: string): { pointer: number; sizeBytes: number } {
  const file = openSync(path, "r");
  try {
    const sizeBytes = fstatSync(file).size;
    if (sizeBytes > SIZE_BYTES_MAX) {
      throw new ContentFault(`the file has ${sizeBytes} bytes; PDFs are read up to ${SIZE_BYTES_MAX}`);
    }
    const pointer = pdfium._malloc(Math.max(sizeBytes, 1));
    if (pointer === 0) throw new ContentFault("it needs too much memory");
    for (let position = 0; position < sizeBytes; ) {
      const length = Math.min(READ_BYTES, sizeBytes - position);
      const bytesRead = readSync(file, pdfium.HEAPU8, pointer + position, length, position);
      if (bytesRead === 0) break;
      position += bytesRead;
    }
    return { pointer, sizeBytes };
  } finally {
    closeSync(file);
  }
}

/** An open PDF. */
export class Pdf {
  readonly pageCount: number;
  readonly #pdfium: Pdfium;
  readonly #document: number;

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium;
    this.#document = document;
    this.pageCount = pdfium._FPDF_GetPageCount(document);
  }

  /** The text of a page in the order of the file, words at line ends joined. Empty if the page cannot be read. */
  readText(index: number, charactersMax: number): string {
    const pdfium = this.#pdfium;
    return this.#withPage(index, "", (page) => {
      const text = pdfium._FPDFText_LoadPage(page);
      if (text === 0) return "";
      const count = Math.min(Math.max(pdfium._FPDFText_CountChars(text), 0), charactersMax);
      const units = pdfium._malloc((count + 1) * 2);
      if (units === 0) throw new ContentFault("it needs too much memory");
      const written = pdfium._FPDFText_GetText(text, 0, count, units);
      const bytes = pdfium.HEAPU8.slice(units, units + Math.max(written - 1, 0) * 2);
      pdfium._free(units);
      pdfium._FPDFText_ClosePage(text);
      return new TextDecoder("utf-16le").decode(bytes).replaceAll(HYPHEN_MARKS, "");
    });
  }

  /** Draws a page on white, its longest side `longestSide` pixels. @throws ContentFault */
  render(index: number, longestSide: number): PagePixels {
    const pdfium = this.#pdfium;
    const pixels = this.#withPage(index, undefined, (page) => {
      const [points, otherPoints] = [pdfium._FPDF_GetPageWidth(page), pdfium._FPDF_GetPageHeight(page)];
      const scale = longestSide / Math.max(points, otherPoints, 1);
      const [width, height] = [points, otherPoints].map((side) => Math.max(1, Math.round(side * scale)));
      if (width === undefined || height === undefined) return undefined;
      const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, BITMAP_RGBA, 0, 0);
      if (bitmap === 0) return undefined;
      pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
      pdfium._FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, RENDER_FLAGS);
      const start = pdfium._FPDFBitmap_GetBuffer(bitmap);
      const data = Buffer.from(pdfium.HEAPU8.subarray(start, start + width * height * 4));
      pdfium._FPDFBitmap_Destroy(bitmap);
      return { data, width, height };
    });
    if (pixels === undefined) throw new ContentFault("its first page cannot be drawn");
    return pixels;
  }

  #withPage<T>(index: number, missing: T, use: (page: number) => T): T {
    const page = this.#pdfium._FPDF_LoadPage(this.#document, index);
    if (page === 0) return missing;
    const result = use(page);
    this.#pdfium._FPDF_ClosePage(page);
    return result;
  }
}
