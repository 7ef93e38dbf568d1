import { AppError } from "../../../errors.ts";
import { say, size } from "../../../translations/say.ts";
import type { UserTreeWriter, WriteTarget } from "../../library/permissions/user-tree-writer.ts";

/** Awaits a write. Adds the plan to a quota error. For the account of another user, removes what reveals its usage. */
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

/** The error for an upload that is certain to exceed the quota, before its bytes arrive. */
export function outOfQuota(limit: number, plan: string): AppError {
  return new AppError(
    "quota_exceeded",
    say`This would exceed your storage limit of ${size(limit)}. Delete files, or ask your administrator for more storage.`,
    { limit, plan },
  );
}
