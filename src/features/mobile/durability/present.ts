import { toChecksum } from "../../../blobs/digest.ts";
import { errorItem } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { Durability, DurabilityOutcome } from "./types.ts";

/** The durability of a file's content as the API returns it. */
export function presentDurability(durability: Durability) {
  const { file, isMatch, isStored, verifiedAtMs, isVerified, isDamaged, unreadReason, snapshotAtMs } = durability;
  return {
    fileId: file.publicId,
    checksum: toChecksum(file.digest),
    ...(isMatch !== undefined && { matches: isMatch }),
    stored: isStored,
    storedAt: toTimestamp(file.contentAtMs),
    verifiedAt: verifiedAtMs === null ? null : toTimestamp(verifiedAtMs),
    verified: isVerified,
    damaged: isDamaged,
    ...(unreadReason !== undefined && { reason: unreadReason }),
    snapshotAt: snapshotAtMs === null ? null : toTimestamp(snapshotAtMs),
  };
}

/** The durability of one of several files, or the error if it was not found. */
export function presentOutcome(outcome: DurabilityOutcome, request: Request) {
  if ("durability" in outcome) return presentDurability(outcome.durability);
  return { fileId: outcome.fileId, stored: false as const, error: errorItem(outcome.error, request) };
}
