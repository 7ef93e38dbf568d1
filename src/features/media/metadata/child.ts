import { findPlace } from "../places/find-place.ts";
import { denyNetwork } from "../processes/sandbox.ts";
import { serveRequests, yieldToOthers } from "../processes/serve-requests.ts";
import { readMedia } from "./read-media.ts";
import type { MediaReading, Source } from "./types.ts";

/** The process that reads metadata: `larder media-worker`, started only by the server. */
export function runMediaChild(): void {
  const unconfined = denyNetwork({ mayStartPrograms: false });
  yieldToOthers();
  serveRequests("media-worker", unconfined, read);
}

async function read(source: Source): Promise<MediaReading> {
  const parts =
    "known" in source
      ? { info: source.known, contentId: null, motion: null }
      : await readMedia(source.path, source.mediaType);
  return { ...parts, place: await findPlace(parts.info) };
}
