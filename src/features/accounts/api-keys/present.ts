import { toTimestamp } from "../../../lib/clock.ts";
import type { ApiKey } from "./types.ts";

/** An entry of GET /api/users/api-keys. */
export function presentApiKey(apiKey: ApiKey) {
  const { publicId, name, prefix, scopes, createdAtMs, lastUsedAtMs, expiresAtMs } = apiKey;
  return {
    id: publicId,
    name,
    prefix,
    scopes,
    createdAt: toTimestamp(createdAtMs),
    lastUsedAt: lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
    expiresAt: expiresAtMs === null ? null : toTimestamp(expiresAtMs),
  };
}
