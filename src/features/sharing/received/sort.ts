/** The order of the shares that an account receives. There are at most 1,000, so they are sorted in memory. */
import { compareUtf8 } from "../../../lib/compare-utf8.ts";
import { naturalKey } from "../../../lib/natural-key.ts";
import type { SortOrder } from "../../../tree/model/types.ts";
import type { ReceivedAlbum, ReceivedShare } from "./types.ts";

/** `natural`: by the name of the file, folder or album, folders and albums first; `owner`: by the name of the owner, then the same. */
export const RECEIVED_SORTS = ["createdAt", "natural", "owner"] as const;

type Received = ReceivedShare | ReceivedAlbum;

/** Sorts shares that are listed newest first. */
export function sortReceived(
  shares: readonly Received[],
  sort: (typeof RECEIVED_SORTS)[number],
  order: SortOrder,
): readonly Received[] {
  if (sort === "createdAt") return order === "desc" ? shares : shares.toReversed();
  const sign = order === "asc" ? 1 : -1;
  const isByOwner = sort === "owner";
  return shares
    .map((share, position) => {
      const { owner } = share;
      const name = nameOf(share);
      const ownerKey = isByOwner ? `${naturalKey(owner.name)}\0${owner.publicId}` : "";
      return { share, position, ownerKey, kind: isFile(share) ? 1 : 0, name, key: naturalKey(name) };
    })
    .sort(
      (a, b) =>
        sign * compareUtf8(a.ownerKey, b.ownerKey) ||
        a.kind - b.kind ||
        sign *
          (compareUtf8(a.key, b.key) ||
            compareUtf8(a.name, b.name) ||
            // Newest first in the list: a later position is an older share.
            b.position - a.position),
    )
    .map(({ share }) => share);
}

function nameOf(share: Received): string {
  return "node" in share ? share.node.name : share.album.name;
}

function isFile(share: Received): boolean {
  return "node" in share && share.node.kind === "file";
}
