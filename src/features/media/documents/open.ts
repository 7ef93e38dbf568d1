import { RequestProcess } from "../processes/request-process.ts";
import { type DocumentProcess, TextExtractor, type TextExtractorOptions } from "./text-extractor.ts";

const TIMEOUT_MS = 20_000;
const MEMORY_LIMIT_BYTES = 256 * 1024 * 1024;
/** A process that read an ordinary document has about 100 MiB. */
const RECYCLE_BYTES = 160 * 1024 * 1024;

/**
 * Creates the extractor; no process is started before the first file is read.
 * @param command executable and arguments that run `runDocumentChild()`
 */
export function openTextExtractor({
  command,
  ...options
}: Omit<TextExtractorOptions, "process"> & { readonly command: readonly string[] }): TextExtractor {
  const reading: DocumentProcess = new RequestProcess({
    command,
    environment: { LC_ALL: "C", MALLOC_ARENA_MAX: "2" },
    directory: "/",
    timeoutMs: TIMEOUT_MS,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    recycleBytes: RECYCLE_BYTES,
  });
  return new TextExtractor({ ...options, process: reading });
}
