// PDF with pdf.js: its worker comes from our origin, no eval, no forms, no scripts of the document.
import {
  getDocument,
  GlobalWorkerOptions,
  PasswordException,
  PasswordResponses,
  type PDFDocumentProxy,
} from "pdfjs-dist";
// oxlint-disable-next-line import/default -- with this type the bundler gives the path of the file
import workerPath from "pdfjs-dist/build/pdf.worker.min.mjs" with { type: "file" };
import type { FileRecord } from "../../api/types.ts";
import { contentAddress } from "./addresses.ts";

// The bundler places it next to this script.
GlobalWorkerOptions.workerSrc = new URL(workerPath, import.meta.url).href;

/** The document needs a password: the given one is wrong, or none was given. */
export class PdfPasswordError extends Error {
  readonly wasWrong: boolean;

  constructor(wasWrong: boolean) {
    super("The PDF needs a password.");
    this.name = "PdfPasswordError";
    this.wasWrong = wasWrong;
  }
}

/** An open document; `close` terminates its worker. */
interface OpenPdf {
  readonly document: PDFDocumentProxy;
  close(): void;
}

/**
 * Opens a PDF. Pages are loaded with range requests when they are shown.
 * @throws PdfPasswordError, and pdf.js's own errors
 */
export async function openPdf(file: FileRecord, password: string | undefined): Promise<OpenPdf> {
  const task = getDocument({
    url: contentAddress(file),
    ...(password !== undefined && { password }),
    // Fetched in ranges of 256 KiB.
    rangeChunkSize: 256 * 1024,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    // The content policy forbids WebAssembly; the slower JavaScript version does the same.
    useWasm: false,
  });
  const close = (): void => void task.destroy().catch(() => undefined);
  try {
    return { document: await task.promise, close };
  } catch (error) {
    close();
    if (error instanceof PasswordException) {
      throw new PdfPasswordError(error.code === PasswordResponses.INCORRECT_PASSWORD);
    }
    throw error;
  }
}
