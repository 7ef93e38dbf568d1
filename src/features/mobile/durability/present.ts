import { toChecksum } from "../../../blobs/digest.ts";
import { errorItem } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { Durability, DurabilityOutcome } from "./types.ts";

/** What the server can say of a file's present content. */
export function presentDurability(durability: Durability) {
  const { file, isMatch, isStored, verifiedAtMs, isVerified, isDamaged, unread, snapshotAtMs } = durability;
  return {
    fileId: file.publicId,
    checksum: toChecksum(file.digest),
    ...(isMatch !== undefined && { matches: isMatch }),
    stored: isStored,
    storedAt: toTimestamp(file.contentAtMs),
    verifiedAt: verifiedAtMs === null ? null : toTimestamp(verifiedAtMs),
    verified: isVerified,
    damaged: isDamaged,
    ...(unread !== undefined && { reason: unread }),
    snapshotAt: snapshotAtMs === null ? null : toTimestamp(snapshotAtMs),
  };
}

/** The same for one of many, which may be unknown. */
export function presentOutcome(outcome: DurabilityOutcome) {
  if ("durability" in outcome) return presentDurability(outcome.durability);
  return { fileId: outcome.fileId, stored: false as const, error: errorItem(outcome.error) };
}
