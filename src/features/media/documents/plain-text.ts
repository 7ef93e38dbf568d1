import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ContentFault } from "../processes/content-fault.ts";
import type { TextSink } from "./text-sink.ts";
import { TEXT_BYTES_MAX } from "./types.ts";

const HEAD_BYTES = 8192;

/**
 * Reads a text file: UTF-8 or UTF-16 by its byte order mark, otherwise UTF-8, otherwise Windows-1252.
 * @throws ContentFault if it is no text
 */
export function readPlainText(path: string, sink: TextSink): void {
  // Text in UTF-16 has up to twice as many bytes as in UTF-8.
  const { bytes, isWhole } = readStart(path, TEXT_BYTES_MAX * 2);
  const text = decodeText(bytes, isWhole);
  sink.add(text);
  if (!isWhole) sink.truncate();
}

/** The first bytes of a file, and whether those are all. */
export function readStart(path: string, bytesMax: number): { bytes: Uint8Array<ArrayBuffer>; isWhole: boolean } {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const bytes = new Uint8Array(Math.min(size, bytesMax));
    let length = 0;
    while (length < bytes.length) {
      const bytesRead = readSync(file, bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { bytes: bytes.subarray(0, length), isWhole: length >= size };
  } finally {
    closeSync(file);
  }
}

/** Decodes text of unknown encoding. @param isWhole whether the last character is complete */
export function decodeText(bytes: Uint8Array, isWhole: boolean): string {
  const options = { stream: !isWhole };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes, options);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes, options);
  if (bytes.subarray(0, HEAD_BYTES).includes(0)) throw new ContentFault("it is not text");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, options);
  } catch {
    // Not UTF-8. Every sequence of bytes is text in Windows-1252.
    return new TextDecoder("windows-1252").decode(bytes, options);
  }
}
