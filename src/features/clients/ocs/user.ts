import type { User } from "../../accounts/users/types.ts";
import type { OcsData } from "./ocs-response.ts";

/** The storage of an account. */
export interface UserStorage {
  readonly usedBytes: number;
  /** Null for no quota. */
  readonly quotaBytes: number | null;
  /** Free room on the disk. */
  readonly diskFreeBytes: number;
}

/** `quota` of an account without one, as the clients know it. */
const UNLIMITED = -3;

/** The signed-in account, in the fields of OCS: the clients read either form of the display name. */
export function userData(
  { publicId, email, name }: User,
  { usedBytes, quotaBytes, diskFreeBytes }: UserStorage,
): OcsData {
  const free = quotaBytes === null ? diskFreeBytes : Math.max(0, Math.min(quotaBytes - usedBytes, diskFreeBytes));
  const total = quotaBytes ?? usedBytes + free;
  const displayName = name || email;
  return {
    // Clients put it into addresses, and do not encode a slash.
    id: email.includes("/") ? publicId : email,
    enabled: true,
    email,
    "display-name": displayName,
    displayname: displayName,
    quota: {
      free,
      used: usedBytes,
      total,
      relative: total === 0 ? 0 : Math.round((usedBytes / total) * 10_000) / 100,
      quota: quotaBytes ?? UNLIMITED,
    },
  };
}
