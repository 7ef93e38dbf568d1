import { toTimestamp } from "../../../lib/clock.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import type { TrashEntry } from "./service.ts";

/** What is in the trash: as it was listed, with where it was and until when it is kept. */
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
