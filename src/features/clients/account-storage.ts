/** The storage of an account, as clients see it. */
export interface AccountStorage {
  readonly usedBytes: number;
  /** Null for no quota. */
  readonly quotaBytes: number | null;
  /** Free room on the disk. */
  readonly diskFreeBytes: number;
}

/** How many more bytes the account can store. */
export function freeBytesOf({ usedBytes, quotaBytes, diskFreeBytes }: AccountStorage): number {
  const unusedBytes = quotaBytes === null ? diskFreeBytes : quotaBytes - usedBytes;
  return Math.max(0, Math.floor(Math.min(unusedBytes, diskFreeBytes)));
}
