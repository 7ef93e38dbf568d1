/** What a share lets its recipient do. */
import type { Entry } from "../../api/types.ts";
import { type EntryRights, OWNER_RIGHTS } from "../rights.ts";
import type { ReceivedShare } from "./api.ts";

type Granted = Pick<ReceivedShare, "id" | "permissions" | "versions">;

/** The rights to what is inside a shared folder. */
export function contentRights({ id, permissions, versions }: Granted): EntryRights {
  const canChange = permissions === "write";
  return { isOwn: false, canManage: canChange, canChange, showsVersions: versions, isFileOrFolder: true, share: id };
}

/** The rights to the shared item itself: only its owner renames, moves, or deletes it. */
export function itemRights(share: Granted & Pick<ReceivedShare, "album">): EntryRights {
  return { ...contentRights(share), canManage: false, isFileOrFolder: share.album === undefined, share: undefined };
}

/**
 * A share with the best of what all shares of the same item allow, as the server decides it: somebody can get a folder
 * themselves, and once more through a group.
 */
export function withBestRights(share: ReceivedShare, shares: readonly ReceivedShare[]): ReceivedShare {
  const item = itemOf(share);
  const same = shares.filter((other) => itemOf(other) === item);
  const permissions = same.some((other) => other.permissions === "write") ? "write" : share.permissions;
  return { ...share, permissions, versions: share.versions || same.some(({ versions }) => versions) };
}

function itemOf({ file, folder, album }: ReceivedShare): string | undefined {
  return (file ?? folder ?? album)?.id;
}

/** What the server reports about an entry of a list with own and received ones. */
export interface PermittedEntry {
  readonly permission: "own" | "write" | "read";
  readonly canManage: boolean;
  readonly showsVersions: boolean;
  /** The share that its paths are below. A file of a shared album has none. */
  readonly share?: string;
}

/** The rights in such a list. */
export function mixedRights({
  permission = "own",
  canManage = false,
  showsVersions = false,
  share,
}: Pick<Entry, "id"> & Partial<PermittedEntry>): EntryRights {
  if (permission === "own") return OWNER_RIGHTS;
  return { isOwn: false, canManage, canChange: permission === "write", showsVersions, isFileOrFolder: true, share };
}
