/** Reads the XML body of a request. */
import { readDocument } from "../../../http/document-body.ts";
import type { XmlElement } from "./xml.ts";

/** Parsed between two turns of the event loop: about a millisecond. */
const STEP_BYTES = 32 * 1024;

/**
 * Reads the XML document in a request's body; undefined without a body.
 * @returns the root element
 * @throws AppError invalid_request if it is not well-formed, not UTF-8 or UTF-16, or has a document type declaration or
 *   too many levels or elements; body_too_large above 1 MiB; body_timeout | rate_limited
 */
export async function readXml(request: Request): Promise<XmlElement | undefined> {
  // Loaded at the first use: the start does not need the parser.
  const { XmlDecoder } = await import("./xml-decoder.ts");
  const decoder = new XmlDecoder();
  const sizeBytes = await readDocument(request, "XML", async (buffer) => {
    for (let at = 0; at < buffer.length; at += STEP_BYTES) {
      if (at > 0) await new Promise(setImmediate);
      decoder.write(buffer.subarray(at, at + STEP_BYTES));
    }
  });
  return sizeBytes === 0 ? undefined : decoder.finish();
}
