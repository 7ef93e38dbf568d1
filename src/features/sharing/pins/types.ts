import type { FolderNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";

/** A pinned folder, as the user sees it. */
interface PinnedFolder {
  readonly folder: FolderNode;
  /** Public id of the received share that its path is below; undefined in the own tree. */
  readonly share: string | undefined;
  /** Undefined in the own tree. */
  readonly owner: User | undefined;
}

/** A pinned album, as the user sees it. */
interface PinnedAlbum {
  readonly album: { readonly publicId: string; readonly name: string };
  /** Undefined for an own album. */
  readonly owner: User | undefined;
}

/** A folder or album that the user pinned and can still open. */
export type Pin = PinnedFolder | PinnedAlbum;
