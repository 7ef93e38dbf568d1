/** Rejections by the quota. */
import { AppError } from "../../../errors.ts";
import type { Acting, Target } from "../../library/permissions/acting.ts";

/**
 * Awaits a write. A rejection by the quota names the plan, and where the account is another user's, it shows nothing of
 * what that account holds. @throws what the write throws
 */
export async function explainingQuota<T>(acting: Acting, target: Target, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    return acting.explaining(target, () => {
      throw error;
    });
  }
}

/** The rejection of what is known to be too much before any of it has come. */
export function outOfQuota(limit: number, plan: string): AppError {
  return new AppError(
    "quota_exceeded",
    `This would exceed your storage limit of ${limit} bytes. Delete files, or ask your administrator for more storage.`,
    { limit, plan },
  );
}
