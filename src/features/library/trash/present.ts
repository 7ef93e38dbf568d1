import { toTimestamp } from "../../../lib/clock.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import type { TrashEntry } from "./service.ts";

/** An item of the trash: like in a listing, with its former folder and its expiry. */
export function presentTrashed(entry: TrashEntry, context: PresentContext) {
  const trashedAt = toTimestamp(entry.trashedAtMs);
  return {
    ...presentItem(entry.node, context),
    originalFolder: entry.folder,
    trashedAt,
    deletedAt: trashedAt,
    expiresAt: toTimestamp(entry.expiresAtMs),
  };
}
