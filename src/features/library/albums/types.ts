/** Nouns of this feature. Times are milliseconds since 1970 UTC. */
import type { Bindable } from "../../../db/reader.worker.ts";
import type { AppError } from "../../../errors.ts";
import type { FileNode, SortOrder } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Photo } from "../photos/types.ts";

/** Most albums of an account. */
export const ALBUMS_MAX = 1_000;

/** Most files in an album, including those in the trash. */
export const ITEMS_MAX = 10_000;

/** Positions are this far apart, so that a thousand files fit between two items several times. */
export const POSITION_GAP = 2 ** 36;

/** Orders of a list of albums. */
export const ALBUM_SORTS = ["name", "modifiedAt", "createdAt"] as const;

/** One of {@link ALBUM_SORTS}. */
export type AlbumSort = (typeof ALBUM_SORTS)[number];

/** Orders of the items of an album; `position` is its own. */
export const ITEM_SORTS = ["position", "capturedAt", "name"] as const;

/** One of {@link ITEM_SORTS}. */
export type ItemSort = (typeof ITEM_SORTS)[number];

/** An album as it is stored. */
export interface Album {
  /** Row id. */
  readonly id: number;
  /** `albm_…` */
  readonly publicId: string;
  /** The owner's `users.id`. */
  readonly accountId: number;
  readonly name: string;
  readonly description: string;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

/** An album with what a list shows of it. Files in the trash don't count, and are no cover. */
export interface AlbumSummary extends Album {
  readonly itemCount: number;
  /** Public id of the file that the owner chose; null for none, or while it is in the trash. */
  readonly chosenCoverId: string | null;
  /** Public id of the file to show: the chosen one, or the first; null for an empty album. */
  readonly coverId: string | null;
  /** Whether it has a share that has not expired. */
  readonly isShared: boolean;
}

/** An album that a user may see. */
export interface PermittedAlbum {
  readonly album: Album;
  readonly owner: User;
  readonly isOwn: boolean;
}

/** An album as its owner or a recipient sees it. */
export interface ShownAlbum extends AlbumSummary {
  /** Set for recipients. */
  readonly owner: User | undefined;
}

/** Which page of a list, and its order. */
export interface PageQuery<Sort> {
  readonly sort: Sort;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** A page of the items of an album. */
export interface ItemPage {
  readonly files: readonly FileNode[];
  readonly total: number;
}

/** A page of the items of an album, for a user. */
export interface ShownItemPage extends ItemPage {
  /** Those files that are photos or videos, by row id. */
  readonly photos: ReadonlyMap<number, Photo>;
}

/** An item of an album, as a grid needs it before it loads the file. */
export interface ItemShape {
  /** Public id. */
  readonly fileId: string;
  /** Width divided by height as displayed, in percent; 0 if not known. */
  readonly aspect: number;
}

/** Changes of an album; absent fields stay. */
export interface AlbumChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Public id of an item; null for the first one. */
  readonly coverFileId?: string | null | undefined;
}

/** The result of adding files. */
export interface AddedItems {
  readonly added: number;
  readonly alreadyThere: number;
  readonly failed: readonly { readonly id: string; readonly error: AppError }[];
}

/** A statement and its parameters. */
export interface AlbumStatement {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}
