import { setPriority } from "node:os";
import { readMedia } from "./read-media.ts";
import { findPlace } from "../places/find-place.ts";
import type { FromProcess, MediaReading, ReadRequest, Source } from "./types.ts";
import { messageOf } from "../../../lib/error.ts";

/** The lowest priority that a process can give itself (setpriority(2)). */
const LOWEST_PRIORITY = 19;
const REASON_MAX = 500;

/**
 * The process that reads metadata: `larder media-worker`, started only by the server. It takes one request after
 * another over IPC and ends with its parent.
 *
 * Returns at once; the process lives until the channel closes. Without a channel it ends with code 2.
 */
export function runMediaChild(): void {
  if (process.send === undefined) {
    process.stderr.write("media-worker is started by the server; there is nothing to do with it by hand.\n");
    process.exit(2);
  }
  process.on("disconnect", () => process.exit(0));
  // Ctrl+C at a terminal reaches this process too; the server decides when it ends.
  process.on("SIGINT", () => {});
  setPriority(LOWEST_PRIORITY);
  process.on("message", (request: ReadRequest) => {
    const { id } = request;
    read(request).then(
      (reading) => send({ type: "read", id, reading }),
      (error: unknown) => send({ type: "failed", id, reason: describe(error) }),
    );
  });
  send({ type: "hello" });
}

async function read(source: Source): Promise<MediaReading> {
  const parts =
    "known" in source
      ? { info: source.known, contentId: null, motion: null }
      : await readMedia(source.path, source.mediaType);
  return { ...parts, place: await findPlace(parts.info) };
}

function send(message: FromProcess): void {
  process.send?.(message);
}

function describe(error: unknown): string {
  const message = messageOf(error);
  return message.replaceAll(/\s+/g, " ").trim().slice(0, REASON_MAX);
}
