import type { Database } from "bun:sqlite";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { PhotoBackfill } from "./backfill.ts";
import { LivePairs } from "./live-pairs.ts";
import { PhotoRows } from "./queries.ts";
import { PhotoService } from "./service.ts";

/** Dependencies of the photo list. */
export interface PhotosOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly tree: TreeReader;
  /** Whether metadata of recently added files is still to be read. */
  readonly isReadingMetadata: (accountId: number) => boolean;
  readonly log: Log;
}

/** Builds the list, its background work (started by the server), and a callback for metadata that was read. */
export function openPhotos({ sqlite, reader, writer, tree, isReadingMetadata, log }: PhotosOptions) {
  const rows = new PhotoRows(sqlite);
  const livePairs = new LivePairs(sqlite);
  // Some changes have no event: then the next request for photos starts the work.
  const isPairing = () => {
    const hasQueued = livePairs.hasQueued();
    if (hasQueued) photoBackfill.wakeSoon();
    return hasQueued;
  };
  const photos = new PhotoService({ rows, tree, reader, isReadingMetadata, isPairing });
  const photoBackfill = new PhotoBackfill({ rows, livePairs, writer, log, onMoved: () => photos.noteChanged() });
  const onMetadataRead = () => {
    photos.noteChanged();
    photoBackfill.wake();
  };
  return { photos, photoBackfill, livePairs, onMetadataRead };
}
