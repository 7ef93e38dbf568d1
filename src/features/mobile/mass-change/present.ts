import { toTimestamp } from "../../../lib/clock.ts";
import type { Hold } from "./types.ts";

/** A hold as the API returns it. */
export function presentHold(hold: Hold) {
  return {
    holdId: hold.publicId,
    deviceId: hold.devicePublicId,
    changes: hold.changes,
    since: toTimestamp(hold.createdAtMs),
    expiresAt: toTimestamp(hold.expiresAtMs),
  };
}

/** A decided hold as the API returns it. */
export function presentDecision(hold: Hold) {
  return { ...presentHold(hold), decision: hold.decision };
}
