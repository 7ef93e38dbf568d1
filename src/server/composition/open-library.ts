/** Opens the library: files and folders, tags, trash, versions, history, and archives. */
import type { Digest } from "../../blobs/digest.ts";
import { AccessCounters } from "../../features/accounts/plans/access-counters.ts";
import { TransferCounters } from "../../features/accounts/plans/transfers.ts";
import { DownloadLedger } from "../../features/accounts/rate-limits/download-ledger.ts";
import { ActivityService } from "../../features/library/activity/service.ts";
import { AlbumService } from "../../features/library/albums/service.ts";
import { ArchiveSender } from "../../features/library/archive/archive-sender.ts";
import { ArchiveService } from "../../features/library/archive/service.ts";
import { FavoriteService } from "../../features/library/favorites/service.ts";
import { ShareMarks } from "../../features/library/marks/share-marks.ts";
import { FileBulkService } from "../../features/library/files/bulk.ts";
import { ContentSender } from "../../features/library/files/content-sender.ts";
import { FileService } from "../../features/library/files/service.ts";
import { FolderService } from "../../features/library/folders/service.ts";
import { HistoryService, historyAgeMs } from "../../features/library/history/service.ts";
import { Permissions } from "../../features/library/permissions/permissions.ts";
import { TagService } from "../../features/library/tags/service.ts";
import { TrashService } from "../../features/library/trash/service.ts";
import { RecentFiles } from "../../features/library/recent/service.ts";
import { PictureEdits } from "../../features/library/picture-edits/service.ts";
import { VersionService } from "../../features/library/versions/service.ts";
import { Extractions } from "../../features/library/zip/extractions.ts";
import { Extractor } from "../../features/library/zip/extractor.ts";
import { ZipBrowser } from "../../features/library/zip/zip-browser.ts";
import { PublicLinks } from "../../features/sharing/shares/file-links.ts";
import { oncePerTurn } from "../../lib/once-per-turn.ts";
import { Turns } from "../../lib/turns.ts";
import type { FileNode } from "../../tree/model/types.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Media } from "./open-media.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openLibrary}. */
export type Library = ReturnType<typeof openLibrary>;

/** How many copies and restores of an account may wait for the one in progress. */
const WAITING_COPIES_MAX = 8;

/**
 * Builds the library, in order of dependency.
 * @param onCounted called for each download that counts
 */
export function openLibrary(storage: Storage, accounts: Accounts, media: Media, onCounted: (file: FileNode) => void) {
  const { config, clock, tree, blobs, log, sqlite, events, secrets, reservations, onDetached, endedShares } = storage;
  const { users, limitsOf } = accounts;
  const access = new AccessCounters(storage);
  const transfers = new TransferCounters(storage);
  const permissions = new Permissions({ ...storage, users });
  const links = new PublicLinks(sqlite, secrets.link.secret, clock, events, () => endedShares.note());
  const turns = new Turns(WAITING_COPIES_MAX);
  const dependencies = {
    ...storage,
    users,
    limitsOf,
    permissions,
    links,
    transfers,
    access,
    turns,
    thumbnails: media.thumbnailer,
    onDetached: () => onDetached.wake(),
  };
  const uploadOptions = { reserveSpace: uploadSpace(storage), markDamaged: damageMarker(storage) };
  const files = new FileService({ ...dependencies, ...uploadOptions });
  return {
    permissions,
    links,
    transfers,
    access,
    turns,
    activity: new ActivityService(dependencies),
    albums: new AlbumService({ ...dependencies, photos: media.photos, noteEnded: () => endedShares.note() }),
    tags: new TagService(dependencies),
    files,
    pictureEdits: new PictureEdits({ files, blobs, editProcess: media.editProcess }),
    favorites: new FavoriteService(dependencies),
    recent: new RecentFiles(dependencies),
    shareMarks: new ShareMarks(dependencies),
    bulk: new FileBulkService({ ...dependencies, reserveSpace: (bytes) => reservations.reserve(bytes) }),
    folders: new FolderService({ ...dependencies, planOf: (owner) => limitsOf(owner).plan }),
    sender: new ContentSender({ ...dependencies, downloads: new DownloadLedger(), onCounted }),
    versions: new VersionService({ ...dependencies, findUser: (id) => users.findById(id) }),
    history: new HistoryService({ ...dependencies, maxAgeMs: () => historyAgeMs(config.versions.maxAgeMs) }),
    trash: new TrashService({ ...dependencies, livePairs: media.livePairs, keepMs: () => config.trash.keepMs }),
    zipBrowser: new ZipBrowser(blobs),
    extractions: new Extractions({ extractor: new Extractor({ ...dependencies, ...uploadOptions }), clock, log }),
    archives: new ArchiveService({ tree, blobs, log }),
    archiveSender: new ArchiveSender({ transfers, downloads: new DownloadLedger(), clock }),
  };
}

/** Reserves disk space for an upload and counts the upload as in progress, until the returned function is called. */
function uploadSpace({ storeGuard, reservations, uploadsInProgress }: Storage): (bytes: number) => () => void {
  // The store checks its disk again before it writes.
  const check = oncePerTurn(() => storeGuard.check());
  return (bytes) => {
    check();
    const release = reservations.reserve(bytes);
    const end = uploadsInProgress.begin();
    return () => {
      end();
      release();
    };
  };
}

/** Records whether a check of a file found its blob damaged. */
function damageMarker({ blobs, integrity }: Storage) {
  return async (digest: Digest, isDamaged: boolean) => {
    const kind = blobs.stat(digest) === undefined ? "missing" : "damaged";
    const fault = isDamaged ? ({ kind, detail: "found when the file was checked" } as const) : null;
    await integrity.note([{ digest, fault }]);
  };
}
