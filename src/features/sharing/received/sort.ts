/** The order of the shares that an account receives. There are at most 1,000, so they are sorted in memory. */
import { compareUtf8 } from "../../../lib/compare-utf8.ts";
import { naturalKey } from "../../../lib/natural-key.ts";
import type { SortOrder } from "../../../tree/model/types.ts";
import type { ReceivedShare } from "./types.ts";

/** `natural`: by the name of the file or folder, folders first; `owner`: by the name of the owner, then the same. */
export const RECEIVED_SORTS = ["createdAt", "natural", "owner"] as const;

/** Sorts shares that are listed newest first. */
export function sortReceived(
  shares: readonly ReceivedShare[],
  sort: (typeof RECEIVED_SORTS)[number],
  order: SortOrder,
): readonly ReceivedShare[] {
  if (sort === "createdAt") return order === "desc" ? shares : shares.toReversed();
  const sign = order === "asc" ? 1 : -1;
  const isByOwner = sort === "owner";
  return shares
    .map((share, position) => {
      const { owner, node } = share;
      const ownerKey = isByOwner ? `${naturalKey(owner.name)}\0${owner.publicId}` : "";
      return { share, position, ownerKey, kind: node.kind === "folder" ? 0 : 1, key: naturalKey(node.name) };
    })
    .sort(
      (a, b) =>
        sign * compareUtf8(a.ownerKey, b.ownerKey) ||
        a.kind - b.kind ||
        sign *
          (compareUtf8(a.key, b.key) ||
            compareUtf8(a.share.node.name, b.share.node.name) ||
            // Newest first in the list: a later position is an older share.
            b.position - a.position),
    )
    .map(({ share }) => share);
}
