/** Opens the services that read the bytes of photos and videos: thumbnails, metadata, and the indexes built from metadata. */
import { join } from "node:path";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { type Digest, digestToBytes } from "../../blobs/digest.ts";
import type { Db } from "../../db/open.ts";
import { isNearlyFull } from "../../features/administration/admin-api/health.ts";
import { openPhotos } from "../../features/library/photos/open.ts";
import { openSearch, openSearchReader } from "../../features/library/search/open.ts";
import { openTextIndex } from "../../features/library/text-index/open.ts";
import { openTextExtractor } from "../../features/media/documents/open.ts";
import { EditProcess } from "../../features/media/editing/edit-process.ts";
import { openMediaInfo } from "../../features/media/metadata/open.ts";
import { ThumbnailBackfill } from "../../features/media/thumbnails/backfill.ts";
import type { FailureStore } from "../../features/media/thumbnails/options.ts";
import { ThumbnailService } from "../../features/media/thumbnails/service.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { FileNode } from "../../tree/model/types.ts";
import { VERSION } from "../../version.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import { readClientEpoch } from "../data/open-copy.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openMedia}. */
export type Media = ReturnType<typeof openMedia>;

/** How long a thumbnail waits for uploads in progress. Its process has the lowest priority as well. */
const THUMBNAIL_PATIENCE_MS = 100;

/** Rotating a picture of 256 megapixels needs all of it in memory. */
const EDIT_MEMORY_BYTES_MAX = 2 * 1024 ** 3;

/** Builds media, search, and photos, in order of dependency. */
export function openMedia(storage: Storage) {
  return { ...openThumbnails(storage), ...openIndexes(storage), editProcess: openEditing(storage) };
}

/** Builds the editing of pictures, which starts a process for each edit. */
function openEditing({ config, paths }: Storage): EditProcess {
  return new EditProcess({
    command: workerCommand("edit-worker"),
    nativeDir: nativeDirOf(config, paths),
    libvips: config.libvips ?? undefined,
    memoryLimitBytes: EDIT_MEMORY_BYTES_MAX,
  });
}

function workerCommand(name: string): string[] {
  return Bun.isStandaloneExecutable ? [process.execPath, name] : [process.execPath, Bun.main, name];
}

function nativeDirOf(config: Storage["config"], paths: Storage["paths"]): string {
  return config.nativeDir ?? join(paths.root, "native");
}

/** Builds search and photos, and the metadata service that feeds both. */
function openIndexes(storage: Storage) {
  const { log, paths, blobs, uploadsInProgress } = storage;
  const searchReader = openSearchReader(paths.database, log);
  const mediaInfo = openMediaInfo({
    ...storage,
    findPath: (digest) => findReadable(blobs, digest, log),
    isLocal: (digest) => blobs.stat(digest) !== undefined,
    onRead: (tx, digest) => {
      enqueueRescan(tx, digest);
      tx.afterCommit(() => onMetadataRead());
    },
    onLocated: (tx) => tx.afterCommit(() => onMetadataRead()),
    isBusy: () => uploadsInProgress.isAny,
    program: VERSION,
  });
  const textExtractor = openTextExtractor({
    command: workerCommand("document-worker"),
    findPath: (digest) => findReadable(blobs, digest, log),
    isBusy: () => uploadsInProgress.isAny,
    log,
  });
  const isInBucket = storage.remoteStore !== undefined;
  const textIndex = openTextIndex({
    ...storage,
    path: paths.textIndex,
    databasePath: paths.database,
    source: `${storage.storeId} ${readClientEpoch(storage.sqlite)} ${isInBucket ? "bucket" : "disk"}`,
    blobsDir: isInBucket ? undefined : paths.root,
    extractor: textExtractor,
    isEnabled: () => storage.config.search.content,
  });
  const {
    search,
    searchSuggestions,
    indexer: searchIndexer,
    enqueueRescan,
  } = openSearch({
    ...storage,
    reader: searchReader,
    texts: textIndex.texts,
    noteContent: (tx, digest, mediaType) => mediaInfo.enqueue(tx, digest, mediaType),
  });
  const { photos, photoBackfill, livePairs, onMetadataRead } = openPhotos({
    ...storage,
    reader: searchReader,
    isReadingMetadata: (accountId) => !searchIndexer.isCaughtUp(accountId) || mediaInfo.hasPending,
  });
  return {
    textExtractor,
    ...textIndex,
    searchReader,
    mediaInfo,
    search,
    searchSuggestions,
    searchIndexer,
    photos,
    photoBackfill,
    livePairs,
  };
}

/** Builds the thumbnails; no process is started before the first request. */
function openThumbnails(storage: Storage) {
  const { config, clock, paths, db, blobs, reservations, uploadsInProgress } = storage;
  const { enabled: isEnabled, concurrency, timeoutMs, memoryLimitBytes } = config.thumbnails;
  const failures = thumbnailFailures(db, clock);
  const thumbnails = new ThumbnailService({
    ...storage,
    failures,
    config: {
      concurrency,
      timeoutMs,
      memoryLimitBytes,
      patienceMs: THUMBNAIL_PATIENCE_MS,
      nativeDir: nativeDirOf(config, paths),
      ...(config.libvips !== null && { libvips: config.libvips }),
    },
    childCommand: workerCommand("thumbnail-worker"),
    environment: process.env,
    isBusy: () => uploadsInProgress.isAny,
  });
  const disabled: Pick<ThumbnailService, "schedule" | "get"> = {
    schedule: () => {},
    get: async () => ({ state: "none", reason: "Thumbnails are switched off." }),
  };
  const thumbnailBackfill = new ThumbnailBackfill({
    ...storage,
    thumbnails,
    isLocal: (digest) => blobs.statLocal(digest) !== undefined,
    // Files come first: thumbnails are not needed to keep them.
    hasSpace: () => {
      const disk = { freeBytes: availableBytes(paths.thumbs), totalBytes: totalBytes(paths.thumbs) };
      return disk.freeBytes > reservations.floorBytes && !isNearlyFull(disk);
    },
  });
  return {
    thumbnails,
    thumbnailBackfill: isEnabled ? thumbnailBackfill : undefined,
    /** Makes thumbnails, or none if they are disabled. */
    thumbnailer: isEnabled ? thumbnails : disabled,
    /** Whether files of this media type get thumbnails. */
    canThumbnail: (mediaType: string) => isEnabled && thumbnails.canRender(mediaType),
    /** Whether a file can have a thumbnail. A failure of another program version does not count: it is tried again. */
    hasThumbnail: ({ mediaType, digest }: Pick<FileNode, "mediaType" | "digest">) =>
      isEnabled && thumbnails.canRender(mediaType) && failures.find(digest)?.program !== thumbnails.program,
  };
}

/** The path of a blob on this disk, fetched from the bucket if needed; undefined if it is not available now. */
async function findReadable(blobs: BlobStore, digest: Digest, log: Log): Promise<string | undefined> {
  try {
    await blobs.fetchLocal(digest);
  } catch (error) {
    log.warn("Could not fetch a blob from the bucket to read it.", { digest, error });
    return undefined;
  }
  return blobs.stat(digest) === undefined ? undefined : blobs.pathOf(digest);
}

function thumbnailFailures(db: Db, clock: Clock): FailureStore {
  const find = db.sqlite.prepare<{ reason: string; program: string }, [Uint8Array]>(
    "SELECT reason, program FROM thumbnail_failures WHERE digest = ?1",
  );
  const record = db.sqlite.prepare<void, [Uint8Array, string, string, number]>(
    "INSERT OR REPLACE INTO thumbnail_failures (digest, reason, program, failed_at) VALUES (?1, ?2, ?3, ?4)",
  );
  return {
    find: (digest) => find.get(digestToBytes(digest)) ?? undefined,
    record: (digest, reason, program) => void record.run(digestToBytes(digest), reason, program, clock.nowMs()),
  };
}
