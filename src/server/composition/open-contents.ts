/** Files and folders and all that is made of them: versions, trash, search, thumbnails, archives, shares. */
import { join } from "node:path";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { type Digest, digestToBytes } from "../../blobs/digest.ts";
import type { Db } from "../../db/open.ts";
import { Reader } from "../../db/reader.ts";
import { ActivityService } from "../../features/library/activity/service.ts";
import { ArchiveSender } from "../../features/library/archive/archive-sender.ts";
import { ArchiveService } from "../../features/library/archive/service.ts";
import { FileBulkService } from "../../features/library/files/bulk.ts";
import { ContentSender } from "../../features/library/files/content-sender.ts";
import { FileService } from "../../features/library/files/service.ts";
import { FolderService } from "../../features/library/folders/service.ts";
import { HistoryService, reachOf } from "../../features/library/history/service.ts";
import { openMediaInfo } from "../../features/media/metadata/open.ts";
import { openPhotos } from "../../features/library/photos/open.ts";
import { Permissions } from "../../features/library/permissions/permissions.ts";
import { AccessCounters } from "../../features/accounts/plans/access-counters.ts";
import { TransferCounters } from "../../features/accounts/plans/transfers.ts";
import { DownloadLedger } from "../../features/accounts/rate-limits/download-ledger.ts";
import { ReceivedShareService } from "../../features/sharing/received/service.ts";
import { openSearch } from "../../features/library/search/open.ts";
import { ShareSender } from "../../features/sharing/shares/content-sender.ts";
import { openShares } from "../../features/sharing/shares/open.ts";
import { PublicLinks } from "../../features/sharing/shares/public-links.ts";
import { DropBox } from "../../features/sharing/shares/upload-form.ts";
import { TagService } from "../../features/library/tags/service.ts";
import { ThumbnailService } from "../../features/media/thumbnails/service.ts";
import type { FailureStore } from "../../features/media/thumbnails/options.ts";
import { TrashService } from "../../features/library/trash/service.ts";
import type { FileNode } from "../../tree/model/types.ts";
import { VersionService } from "../../features/library/versions/service.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { Turns } from "../../lib/turns.ts";
import { VERSION } from "../../version.ts";
import type { People } from "./open-people.ts";
import type { Storage } from "./open-storage.ts";

/** See the head of the file. */
export type Contents = ReturnType<typeof openContents>;

/** Copies and restores of an account that may wait for the one that runs. */
const COPIES_WAITING_MAX = 8;
/** How long a thumbnail gives way to uploads that are running; its process has the lowest priority besides. */
const THUMBNAIL_PATIENCE_MS = 100;

/**
 * Builds the services of this part, in order of dependency.
 * @param onCounted called for each download that counts
 */
export function openContents(storage: Storage, people: People, onCounted: (file: FileNode) => void) {
  const { config, log, clock, paths, secrets, db, sqlite, writer, events, blobs, integrity } = storage;
  const {
    storeGuard,
    tree,
    treeWriter,
    trials,
    derived,
    idempotency,
    reservations,
    arrivals,
    onDetached,
    endedShares,
  } = storage;
  const { users, passwords, limitsOf, rateGate, limiter } = people;
  const permissions = new Permissions({ sqlite, tree, users, clock });
  const noteEnded = () => endedShares.note();
  const receivedShares = new ReceivedShareService({ sqlite, writer, clock, events, tree, users, noteEnded });

  const activity = new ActivityService({ sqlite, tree, permissions, users });
  const tags = new TagService({ writer, tree, treeWriter, permissions });
  const searchReader = new Reader(paths.database, log);
  const mediaInfo = openMediaInfo({
    sqlite,
    writer,
    clock,
    log,
    findPath: (digest) => findReadable(blobs, digest, log),
    onRead: (tx, digest) => {
      enqueueRescan(tx, digest);
      tx.afterCommit(() => onMetadataRead());
    },
    isBusy: () => arrivals.isAny,
    program: VERSION,
  });
  const {
    search,
    indexer: searchIndexer,
    enqueueRescan,
  } = openSearch({
    sqlite,
    reader: searchReader,
    writer,
    tree,
    log,
    noteContent: (tx, digest, mediaType) => mediaInfo.enqueue(tx, digest, mediaType),
  });

  const { photos, photoBackfill, onMetadataRead } = openPhotos({
    sqlite,
    reader: searchReader,
    writer,
    tree,
    isReadingMetadata: (accountId) => !searchIndexer.isCaughtUp(accountId) || mediaInfo.hasPending,
    log,
  });

  const transfers = new TransferCounters({ db, writer, clock, log });
  const access = new AccessCounters({ db, writer, log });
  const links = new PublicLinks(sqlite, secrets.link.secret, clock, events, noteEnded);
  const failures = thumbnailFailures(db, clock);
  const thumbnails = new ThumbnailService({
    blobs,
    derived,
    failures,
    log,
    config: {
      concurrency: config.thumbnails.concurrency,
      timeoutMs: config.thumbnails.timeoutMs,
      memoryLimitBytes: config.thumbnails.memoryLimitBytes,
      patienceMs: THUMBNAIL_PATIENCE_MS,
      nativeDir: config.nativeDir ?? join(paths.root, "native"),
      ...(config.libvips !== null && { libvips: config.libvips }),
    },
    childCommand: Bun.isStandaloneExecutable
      ? [process.execPath, "thumbnail-worker"]
      : [process.execPath, Bun.main, "thumbnail-worker"],
    environment: process.env,
    isBusy: () => arrivals.isAny,
  });
  const canRender = (mediaType: string) => config.thumbnails.enabled && thumbnails.canRender(mediaType);
  // A failure of another program version is no failure of this one: it will be tried again.
  const hasThumbnail = (file: Pick<FileNode, "mediaType" | "digest">) =>
    canRender(file.mediaType) && failures.find(file.digest)?.program !== thumbnails.program;
  const thumbnailer: Pick<ThumbnailService, "schedule" | "get"> = config.thumbnails.enabled
    ? thumbnails
    : { schedule: () => {}, get: async () => ({ state: "none", reason: "Thumbnails are switched off." }) };

  const files = new FileService({
    blobs,
    writer,
    clock,
    tree,
    treeWriter,
    permissions,
    links,
    idempotency,
    transfers,
    access,
    thumbnails: thumbnailer,
    limitsOf,
    reserveSpace: (bytes) => {
      storeGuard.check();
      const release = reservations.reserve(bytes);
      const end = arrivals.note();
      return () => {
        end();
        release();
      };
    },
    markDamaged: async (digest, isDamaged) => {
      const kind = blobs.stat(digest) === undefined ? "missing" : "damaged";
      const fault = isDamaged ? ({ kind, detail: "found when the file was checked" } as const) : null;
      await integrity.note([{ digest, fault }]);
    },
  });
  const turns = new Turns(COPIES_WAITING_MAX);
  const bulk = new FileBulkService({
    writer,
    treeWriter,
    permissions,
    idempotency,
    limitsOf,
    turns,
    reserveSpace: (bytes) => reservations.reserve(bytes),
  });
  const folders = new FolderService({
    writer,
    permissions,
    treeWriter,
    idempotency,
    planOf: (owner) => limitsOf(owner).plan,
    onDetached: () => onDetached.wake(),
  });
  const sender = new ContentSender({
    blobs,
    thumbnails: thumbnailer,
    derived,
    access,
    transfers,
    downloads: new DownloadLedger(),
    clock,
    onCounted,
  });

  const versions = new VersionService({
    writer,
    tree,
    treeWriter,
    permissions,
    limitsOf,
    findUser: (id) => users.findById(id),
  });
  const history = new HistoryService({
    sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    trials,
    limitsOf,
    turns,
    reachMs: reachOf(config.versions.maxAgeMs),
  });
  const {
    shares,
    shareAccess,
    statistics: shareStatistics,
    guesses: linkGuesses,
    rows: shareRows,
    barePictures,
  } = openShares({
    limiter,
    sqlite,
    writer,
    clock,
    log,
    events,
    tree,
    treeWriter,
    users,
    passwords,
    permissions,
    links,
    blobs,
    derived,
    secret: secrets.link.secret,
  });
  const shareSender = new ShareSender({
    shareAccess,
    statistics: shareStatistics,
    barePictures,
    blobs,
    thumbnails: thumbnailer,
    derived,
    access,
    transfers,
    downloads: new DownloadLedger(),
    rateGate,
    clock,
    onCounted,
  });
  const dropBox = new DropBox({ shareAccess, rows: shareRows, files, limitsOf, clock });
  const trash = new TrashService({
    writer,
    clock,
    tree,
    treeWriter,
    permissions,
    access,
    keepMs: config.trash.keepMs,
    onDetached: () => onDetached.wake(),
  });
  const archives = new ArchiveService({ tree, blobs, log });
  const archiveSender = new ArchiveSender({ transfers, downloads: new DownloadLedger(), clock });

  return {
    permissions,
    receivedShares,
    activity,
    tags,
    search,
    searchReader,
    searchIndexer,
    mediaInfo,
    photos,
    photoBackfill,
    transfers,
    access,
    links,
    thumbnails,
    /** Makes thumbnails, or none where they are switched off. */
    thumbnailer,
    hasThumbnail,
    files,
    bulk,
    turns,
    folders,
    sender,
    versions,
    history,
    shares,
    shareAccess,
    shareStatistics,
    linkGuesses,
    barePictures,
    shareSender,
    dropBox,
    trash,
    archives,
    archiveSender,
  };
}

/** The path of a content that is on this disk, or can be brought; what can't be had now tells nothing of itself. */
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
  const find = db.sqlite.query<{ reason: string; program: string }, [Uint8Array]>(
    "SELECT reason, program FROM thumbnail_failures WHERE digest = ?1",
  );
  const record = db.sqlite.query<void, [Uint8Array, string, string, number]>(
    "INSERT OR REPLACE INTO thumbnail_failures (digest, reason, program, failed_at) VALUES (?1, ?2, ?3, ?4)",
  );
  return {
    find: (digest) => find.get(digestToBytes(digest)) ?? undefined,
    record: (digest, reason, program) => void record.run(digestToBytes(digest), reason, program, clock.nowMs()),
  };
}
