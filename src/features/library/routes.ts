import type { Router } from "../accounts/routing/router.ts";
import { type ActivityRoutesOptions, activityRoutes } from "./activity/routes.ts";
import { type AlbumRoutesOptions, albumRoutes } from "./albums/routes.ts";
import { type ArchiveRoutesOptions, archiveRoutes } from "./archive/routes.ts";
import { type EditingRoutesOptions, editingRoutes } from "./editing/routes.ts";
import { type FavoriteRoutesOptions, favoriteRoutes } from "./favorites/routes.ts";
import { type FileBulkRoutesOptions, fileBulkRoutes } from "./files/bulk-routes.ts";
import { type FileContentRoutesOptions, fileDownloadRoutes, fileUploadRoutes } from "./files/content-routes.ts";
import { type FileRoutesOptions, fileRoutes } from "./files/routes.ts";
import { type FolderRoutesOptions, folderRoutes } from "./folders/routes.ts";
import type { FavoriteService } from "./favorites/service.ts";
import { findPast, listPast } from "./history/listing.ts";
import { type HistoryRoutesOptions, historyRoutes } from "./history/routes.ts";
import { type PhotoRoutesOptions, photoRoutes } from "./photos/routes.ts";
import { type PictureEditRoutesOptions, pictureEditRoutes } from "./picture-edits/routes.ts";
import { type RecentRoutesOptions, recentRoutes } from "./recent/routes.ts";
import { type SearchRoutesOptions, searchRoutes } from "./search/routes.ts";
import { type TagRoutesOptions, tagRoutes } from "./tags/routes.ts";
import { type TrashRoutesOptions, trashRoutes } from "./trash/routes.ts";
import { type VersionRoutesOptions, versionRoutes } from "./versions/routes.ts";
import { extractionRoutes, type ZipRoutesOptions, zipRoutes } from "./zip/routes.ts";

/** Dependencies of the routes of files and folders. */
export interface LibraryRoutesOptions
  extends FolderRoutesOptions,
    AlbumRoutesOptions,
    TrashRoutesOptions,
    ArchiveRoutesOptions,
    TagRoutesOptions,
    SearchRoutesOptions,
    ActivityRoutesOptions,
    PhotoRoutesOptions,
    Omit<FileRoutesOptions, "past">,
    FileBulkRoutesOptions,
    FileContentRoutesOptions,
    EditingRoutesOptions,
    PictureEditRoutesOptions,
    VersionRoutesOptions,
    FavoriteRoutesOptions,
    ZipRoutesOptions,
    RecentRoutesOptions,
    HistoryRoutesOptions {
  readonly hasThumbnail: PhotoRoutesOptions["hasThumbnail"];
  readonly favorites: FavoriteService;
}

/** Files and folders: their content, versions, trash, search and history. */
export function libraryRoutes(options: LibraryRoutesOptions): Router[] {
  const { history } = options;
  const past: FileRoutesOptions["past"] = {
    list: (user, query, context) => listPast(history, user, query, context),
    find: (user, fileId, query, context) => findPast(history, user, fileId, query, context),
  };
  return [
    folderRoutes(options),
    trashRoutes(options),
    archiveRoutes(options),
    tagRoutes(options),
    searchRoutes(options),
    activityRoutes(options),
    photoRoutes(options),
    albumRoutes(options),
    recentRoutes(options),
    fileRoutes({ ...options, past }),
    fileBulkRoutes(options),
    fileUploadRoutes(options),
    fileDownloadRoutes(options),
    pictureEditRoutes(options),
    editingRoutes(options),
    zipRoutes(options),
    extractionRoutes(options),
    versionRoutes(options),
    historyRoutes(options),
    favoriteRoutes(options),
  ];
}
