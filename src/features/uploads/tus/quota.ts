/** Rejections by the quota. */
import { AppError } from "../../../errors.ts";
import type { UserTreeWriter, WriteTarget } from "../../library/permissions/user-tree-writer.ts";

/**
 * Awaits a write. Adds the plan to a rejection by the quota. If the account is another user's, removes what would
 * reveal its usage.
 * @throws what the write throws
 */
export async function withExplainedQuota<T>(
  userTreeWriter: UserTreeWriter,
  target: WriteTarget,
  write: Promise<T>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    return userTreeWriter.explainErrors(target, () => {
      throw error;
    });
  }
}

/** The rejection of an upload that is certain to exceed the quota, before its bytes arrive. */
export function outOfQuota(limit: number, plan: string): AppError {
  return new AppError(
    "quota_exceeded",
    `This would exceed your storage limit of ${limit} bytes. Delete files, or ask your administrator for more storage.`,
    { limit, plan },
  );
}
