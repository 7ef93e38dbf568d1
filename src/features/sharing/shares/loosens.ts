import { type Share, UPLOADS_PER_ADDRESS } from "./types.ts";

/**
 * Whether a change gives anybody more access than before. Users with an unconfirmed email may only restrict their
 * shares.
 * @param password in plain text; null removes it, undefined leaves it
 */
export function loosens(before: Share, after: Share, password: string | null | undefined): boolean {
  return (
    (before.passwordHash !== null && password === null) ||
    limitOf(after.expiresAtMs) > limitOf(before.expiresAtMs) ||
    limitOf(after.maxDownloads) > limitOf(before.maxDownloads) ||
    limitOf(after.maxUploadBytes) > limitOf(before.maxUploadBytes) ||
    uploadsPerAddress(after) > uploadsPerAddress(before) ||
    (before.hidesLocation && !after.hidesLocation) ||
    // An unpinned link already shows the current content; a pinned one shows only its version.
    (before.pinnedVersion !== null && after.pinnedVersion !== before.pinnedVersion) ||
    (after.canWrite && !before.canWrite) ||
    (showsVersions(after) && !showsVersions(before))
  );
}

function limitOf(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY;
}

function uploadsPerAddress({ maxUploadsPerAddress }: Share): number {
  return maxUploadsPerAddress ?? UPLOADS_PER_ADDRESS;
}

function showsVersions({ showsVersions, canWrite }: Share): boolean {
  return showsVersions ?? canWrite;
}
