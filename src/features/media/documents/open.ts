import { RequestProcess } from "../processes/request-process.ts";
import { type DocumentProcess, TextExtractor, type TextExtractorOptions } from "./text-extractor.ts";

const TIMEOUT_MS = 20_000;
const MEMORY_LIMIT_BYTES = 256 * 1024 * 1024;
/** A process that read an ordinary PDF has about 90 MiB. */
const RECYCLE_BYTES = 128 * 1024 * 1024;
/**
 * The engine frees memory as if the machine had this much. With that of a large machine it keeps garbage of up to 100 MiB:
 * a page with 1.4 million tags took 246 MiB and 6 s instead of 168 MiB and 3 s.
 */
const ENGINE_MEMORY_BYTES = 128 * 1024 * 1024;

/**
 * Creates the extractor; no process is started before the first file is read.
 * @param command executable and arguments that run `runDocumentChild()`
 */
export function openTextExtractor({
  command,
  ...options
}: Omit<TextExtractorOptions, "process"> & { readonly command: readonly string[] }): TextExtractor {
  let wasReported = false;
  const reading: DocumentProcess = new RequestProcess({
    command,
    environment: { LC_ALL: "C", MALLOC_ARENA_MAX: "2", BUN_JSC_forceRAMSize: String(ENGINE_MEMORY_BYTES) },
    directory: "/",
    onUnconfined: (reason) => {
      if (!wasReported) options.log.warn("The process that reads documents is not denied the network.", { reason });
      wasReported = true;
    },
    timeoutMs: TIMEOUT_MS,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    recycleBytes: RECYCLE_BYTES,
  });
  return new TextExtractor({ ...options, process: reading });
}
