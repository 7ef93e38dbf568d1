import { toTimestamp } from "../../../lib/clock.ts";
import type { Passkey } from "./types.ts";

/** An entry of GET /api/users/passkeys. */
export function presentPasskey({ publicId, name, rpId, isBackedUp, createdAtMs, lastUsedAtMs }: Passkey) {
  return {
    id: publicId,
    name,
    rpId,
    backedUp: isBackedUp,
    createdAt: toTimestamp(createdAtMs),
    lastUsedAt: lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
  };
}
