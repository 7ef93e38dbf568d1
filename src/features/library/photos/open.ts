import type { Database } from "bun:sqlite";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { PhotoBackfill } from "./backfill.ts";
import { PhotoRows } from "./queries.ts";
import { PhotoService } from "./service.ts";

/** What the list of photos is built from. */
export interface PhotosOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly tree: TreeReader;
  /** Whether contents that came lately to an account are still to be asked when they were taken. */
  readonly isAsking: (accountId: number) => boolean;
  readonly log: Log;
}

/** Builds the list, what fills it (the server is to start that), and what is to be told after a content told something. */
export function openPhotos({ sqlite, reader, writer, tree, isAsking, log }: PhotosOptions) {
  const rows = new PhotoRows(sqlite);
  const photos = new PhotoService({ rows, tree, reader, isAsking });
  const photoBackfill = new PhotoBackfill({ rows, writer, log, onMoved: () => photos.noteChanged() });
  const onMetadataRead = () => {
    photos.noteChanged();
    photoBackfill.wake();
  };
  return { photos, photoBackfill, onMetadataRead };
}
