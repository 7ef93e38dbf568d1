/** What a share lets its recipient do. */
import type { EntryRights } from "../../../entries/rights.ts";
import type { ReceivedShare } from "../../../entries/sharing/api.ts";

type Granted = Pick<ReceivedShare, "permissions" | "versions">;

/** The rights to what is inside a shared folder. */
export function contentRights({ permissions, versions }: Granted): EntryRights {
  const canChange = permissions === "write";
  return { isOwn: false, canManage: canChange, canChange, showsVersions: versions, isFileOrFolder: true };
}

/** The rights to the shared item itself: only its owner renames, moves, or deletes it. */
export function itemRights(share: Granted & Pick<ReceivedShare, "album">): EntryRights {
  return { ...contentRights(share), canManage: false, isFileOrFolder: share.album === undefined };
}
