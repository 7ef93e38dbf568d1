import { AppError } from "../../../errors.ts";
import { contentDisposition } from "../../../http/content-disposition.ts";
import { evaluateConditions } from "../../../http/conditional.ts";
import { canInline, policyFor } from "../../../http/send-blob.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { typeInArchive } from "./present.ts";
import type { ZipEntry } from "./zip-directory.ts";

/** A request for a file in an archive. */
interface EntryRequest {
  readonly request: Request;
  /** The response headers so far; the sender takes them over. */
  readonly headers: Readonly<Record<string, string | number>>;
  readonly archive: FileNode;
  readonly entry: ZipEntry;
  readonly read: () => AsyncGenerator<Uint8Array>;
  readonly inline: boolean;
  /** Called with the bytes of each part that is sent: the archive may lie about their number. */
  readonly noteSent: (bytes: number) => void;
}

/**
 * The response with a file of an archive, under the same policies as other stored content. Without ranges: each would
 * inflate the file from its beginning.
 * @throws AppError precondition_failed
 */
export function sendEntry({ request, headers, archive, entry, read, inline, noteSent }: EntryRequest): Response {
  const name = entry.name.slice(entry.name.lastIndexOf("/") + 1);
  const mediaType = typeInArchive(name);
  const etag = `"${archive.digest}-${entry.offset}"`;
  const isInline = inline && canInline(mediaType);
  const sent = {
    ...Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value)])),
    "content-type": isInline && mediaType === "text/plain" ? "text/plain; charset=utf-8" : mediaType,
    "content-disposition": contentDisposition(name, isInline),
    "content-security-policy": policyFor(mediaType),
    "x-content-type-options": "nosniff",
    "accept-ranges": "none",
    "cache-control": "private, no-cache",
    etag,
    vary: "Authorization, Cookie",
  };
  const condition = evaluateConditions(request.headers, request.method, {
    etag,
    lastModifiedMs: archive.contentAtMs,
  });
  if (condition === "preconditionFailed") {
    throw new AppError("precondition_failed", say`The archive has changed. Open it again.`, { etag });
  }
  if (condition === "notModified") return new Response(null, { status: 304, headers: sent });
  if (request.method === "HEAD") return new Response(null, { headers: sent });
  return new Response(streamOf(read(), noteSent), { headers: sent });
}

/** A stream that reads only as fast as its consumer, and stops reading when that is gone. */
function streamOf(chunks: AsyncGenerator<Uint8Array>, noteSent: (bytes: number) => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done === true) return controller.close();
      noteSent(value.length);
      controller.enqueue(value);
    },
    cancel: async () => {
      await chunks.return(undefined);
    },
  });
}
