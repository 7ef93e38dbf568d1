/** PDFium, compiled to WebAssembly. It can reach nothing but its own memory: no file, no network, no clock but the date. */
import { readFileSync } from "node:fs";
import { PDFiumModule } from "@hyzyla/pdfium";
import wasmPath from "@hyzyla/pdfium/pdfium.wasm" with { type: "file" };

/**
 * The part of PDFium's C interface (fpdfview.h, fpdf_text.h) that is used here. Pointers are numbers.
 */
export interface Pdfium {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _FPDF_InitLibrary(): void;
  _FPDF_LoadMemDocument(bytes: number, sizeBytes: number, password: number): number;
  _FPDF_GetLastError(): number;
  _FPDF_CloseDocument(document: number): void;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_LoadPage(document: number, index: number): number;
  _FPDF_ClosePage(page: number): void;
  _FPDF_GetPageWidth(page: number): number;
  _FPDF_GetPageHeight(page: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  _FPDFText_GetText(text: number, first: number, count: number, result: number): number;
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, pixels: number, stride: number): number;
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, color: number): void;
  _FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    left: number,
    top: number,
    width: number,
    height: number,
    rotation: number,
    flags: number,
  ): void;
  _FPDFBitmap_GetBuffer(bitmap: number): number;
  _FPDFBitmap_Destroy(bitmap: number): void;
}

/** The memory that PDFium may grow to. Beyond it, an allocation fails, and with it the document. */
const MEMORY_BYTES_MAX = 160 * 1024 * 1024;

let loading: Promise<Pdfium> | undefined;
/** The memory of a PDFium that has read nothing. */
let initial: Uint8Array = new Uint8Array(0);

/** PDFium, loaded once, in 0.1 s. Use it without a pause, and {@link cleanPdfium} it before anybody else does. */
export function loadPdfium(): Promise<Pdfium> {
  loading ??= load();
  return loading;
}

/**
 * Removes everything that a document left, in some milliseconds: one that breaks PDFium must find nothing of other
 * people's documents, and change nothing of how they are read. If its memory has grown, the next document gets a new one.
 */
export function cleanPdfium(pdfium: Pdfium): void {
  if (pdfium.HEAPU8.length === initial.length) pdfium.HEAPU8.set(initial);
  else discardPdfium();
}

/** Forgets a PDFium that broke off: it is in no defined state. The next document gets a new one. */
export function discardPdfium(): void {
  loading = undefined;
}

async function load(): Promise<Pdfium> {
  const compiled = new WebAssembly.Module(readFileSync(wasmPath));
  const vendor: unknown = await PDFiumModule({
    instantiateWasm: (imports, onSuccess) => {
      const instance = new WebAssembly.Instance(compiled, limitMemory(imports));
      // The declared callback takes the module; the called one takes the instance.
      Reflect.apply(onSuccess, undefined, [instance, compiled]);
      return instance.exports;
    },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package declares a part of the functions
  const pdfium = vendor as Pdfium;
  pdfium._FPDF_InitLibrary();
  initial = pdfium.HEAPU8.slice();
  return pdfium;
}

function limitMemory(imports: Bun.WebAssembly.Imports): Bun.WebAssembly.Imports {
  const grow = imports["env"]?.["emscripten_resize_heap"];
  if (typeof grow !== "function") throw new Error("PDFium does not import how its memory grows");
  const limited = (sizeBytes: number): unknown => (sizeBytes >>> 0 > MEMORY_BYTES_MAX ? 0 : grow(sizeBytes));
  return { ...imports, env: { ...imports["env"], emscripten_resize_heap: limited } };
}
