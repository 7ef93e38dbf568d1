/** The storage limits of an account, and the errors of content that they, or its checksum, reject. */
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import { say, size } from "../../../translations/say.ts";

/** The storage limits of an account from plan and quota. */
export interface StorageLimits {
  readonly plan: string;
  /** Largest file; null for no limit. */
  readonly maxFileSizeBytes: number | null;
  /** Most bytes that the account may store; null for no limit. */
  readonly quotaBytes: number | null;
}

/** @throws AppError checksum_mismatch */
export function checkDigest(expected: Digest | undefined, actual: Digest): void {
  if (expected === undefined || expected === actual) return;
  throw new AppError("checksum_mismatch", say`The uploaded data does not match its checksum. Send the file again.`, {
    field: "checksum",
    expected: toChecksum(expected),
    actual: toChecksum(actual),
  });
}

/** The error for a file that is larger than the plan allows. */
export function fileTooLarge(limits: StorageLimits, limitBytes: number): AppError {
  return new AppError(
    "file_too_large",
    say`A file can have at most ${size(limitBytes)} on the ${limits.plan} plan. Send a smaller file, or ask for another plan.`,
    { limit: limitBytes, plan: limits.plan },
  );
}

/** The error for content that exceeds the quota. */
export function quotaExceeded(limits: StorageLimits): AppError {
  return new AppError(
    "quota_exceeded",
    say`This would exceed your storage limit of ${size(limits.quotaBytes ?? 0)}. Delete files, or ask your administrator for more storage.`,
    { limit: limits.quotaBytes, plan: limits.plan },
  );
}
