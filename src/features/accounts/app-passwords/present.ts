import { toTimestamp } from "../../../lib/clock.ts";
import type { AppPassword } from "./types.ts";

/** An entry of the list for administrators, who see no names of folders. */
export function presentWithoutFolder(appPassword: AppPassword) {
  return presentAppPassword(appPassword, undefined);
}

/**
 * An entry of GET /api/users/app-passwords.
 * @param folder the current path of its folder; undefined if that is gone
 */
export function presentAppPassword(appPassword: AppPassword, folder: string | undefined) {
  const { publicId, name, canWrite, createdAtMs, expiresAtMs, lastUsedAtMs, lastAddress, lastClient } = appPassword;
  return {
    id: publicId,
    name,
    access: canWrite ? "write" : "read",
    folder: folder ?? null,
    createdAt: toTimestamp(createdAtMs),
    expiresAt: expiresAtMs === null ? null : toTimestamp(expiresAtMs),
    lastUsedAt: lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
    lastAddress,
    lastClient,
  };
}

/** The address of the files for programs. @param baseUrl of this server, without a slash at the end */
export function davUrl(baseUrl: string): string {
  return `${baseUrl}/dav/`;
}
