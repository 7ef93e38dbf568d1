/** How entries of lists are shared, in words. */
import type { FileRecord } from "../api/types.ts";
import { formatDate } from "../base/format.ts";
import { text } from "./text.ts";

/** The fields of an entry that say how it is shared. Lists that don't read it have only `isPublic`. */
export interface SharedFields extends Pick<FileRecord, "shared"> {
  readonly isPublic?: boolean;
}

/** Shares that end within this time are marked. */
const SOON_MS = 3 * 24 * 60 * 60 * 1000;

/** Whether a share of an entry ends in the next days. */
export function endsSoon(shared: SharedFields["shared"]): boolean {
  const expiresAt = shared?.expiresAt ?? null;
  return expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS;
}

/** How an entry is shared; empty if it is not. */
export function describeShares({ shared, isPublic = false }: SharedFields): string {
  if (shared === undefined) return isPublic ? text.isShared : "";
  if (shared === null) return "";
  const { links, people, dropBoxes, expiresAt } = shared;
  const parts = [
    ...(links > 0 ? [text.sharedByLink] : []),
    ...(people > 0 ? [text.sharedWithPeople] : []),
    ...(dropBoxes > 0 ? [text.sharedAsDropBox] : []),
    ...(expiresAt !== null && endsSoon(shared) ? [text.sharedUntil({ date: formatDate(expiresAt) })] : []),
  ];
  return parts.join(", ");
}
