/** Albums as their owner and the recipients of their shares see them. */
import type { User } from "../../accounts/users/types.ts";
import type { AlbumSummary, ShownAlbum } from "./types.ts";

/** An album as its owner sees it. */
export function asOwn(album: AlbumSummary): ShownAlbum {
  return { ...album, owner: undefined };
}

/** An album as a recipient sees it: not with whom it is shared. */
export function asReceived(album: AlbumSummary, owner: User): ShownAlbum {
  return { ...album, isShared: false, owner };
}
