import { OfflineError, readError } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { contentAddress } from "./addresses.ts";

/** How much of a text is shown. Longer texts need a real editor. */
export const TEXT_BYTES_MAX = 1024 * 1024;

/** The beginning of a text. */
export interface TextContent {
  readonly text: string;
  readonly isTruncated: boolean;
  /** The file is binary, so nothing is shown. */
  readonly isBinary: boolean;
}

/**
 * Reads the first mebibyte of a text.
 * @throws ApiError, OfflineError; the abort reason of `signal`
 */
export async function readText(file: FileRecord, signal: AbortSignal): Promise<TextContent> {
  const isTruncated = file.size > TEXT_BYTES_MAX;
  const response = await fetch(contentAddress(file), {
    signal,
    ...(isTruncated && { headers: { range: `bytes=0-${TEXT_BYTES_MAX - 1}` } }),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new OfflineError(error);
  });
  if (!response.ok) throw await readError(response);
  return { ...decode(new Uint8Array(await response.arrayBuffer())), isTruncated };
}

/** Decodes bytes as UTF-8, as UTF-16 if there is a byte order mark, or as Latin-1 if neither fits. */
export function decode(bytes: Uint8Array): Pick<TextContent, "text" | "isBinary"> {
  const [first, second] = bytes;
  const utf16 =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : undefined;
  if (utf16 !== undefined) return { text: new TextDecoder(utf16).decode(bytes), isBinary: false };
  if (bytes.subarray(0, 8192).includes(0)) return { text: "", isBinary: true };
  // A character that was cut off at the end is dropped, so that it does not look like another encoding.
  const utf8 = new TextDecoder("utf-8").decode(bytes, { stream: true });
  const isUtf8 = !utf8.includes("\uFFFD");
  return { text: isUtf8 ? utf8 : new TextDecoder("windows-1252").decode(bytes), isBinary: false };
}
