/** The response 207 of WebDAV (RFC 4918, section 13). */
import { NAMESPACE_DECLARATIONS } from "./properties/live-properties.ts";

/** Begins every multistatus. */
export const MULTISTATUS_START = `<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus${NAMESPACE_DECLARATIONS}>`;
/** Ends it. */
export const MULTISTATUS_END = "</d:multistatus>\n";

/** Begins a `propstat`: properties with one status. */
export const PROPSTAT_START = "<d:propstat><d:prop>";

/** Ends it. @param error a condition element, empty for none */
export function propstatEnd(status: string, error = ""): string {
  const condition = error === "" ? "" : `<d:error>${error}</d:error>`;
  return `</d:prop><d:status>HTTP/1.1 ${status}</d:status>${condition}</d:propstat>`;
}

/** A whole `propstat`. */
export function propstat(properties: string, status: string, error = ""): string {
  return PROPSTAT_START + properties + propstatEnd(status, error);
}

/** Sends a multistatus. */
export function multistatusResponse(body: string | ReadableStream<string>): Response {
  return new Response(body, {
    status: 207,
    // The desktop clients require exactly this type.
    headers: { "Content-Type": "application/xml; charset=utf-8", "Cache-Control": "no-store" },
  });
}

/** Streams a text and its next slices. Reads the next slice only when the client has taken the last one. */
export function streamText(begin: string, slices: AsyncGenerator<string, void>): ReadableStream<string> {
  let text = begin;
  return new ReadableStream<string>(
    {
      async pull(controller) {
        controller.enqueue(text);
        // Other requests get a turn between two slices, even if the client reads fast.
        await new Promise(setImmediate);
        const next = await slices.next();
        if (next.done === true) controller.close();
        else text = next.value;
      },
      async cancel() {
        await slices.return();
      },
    },
    { highWaterMark: 0 },
  );
}
