/** Refusals by the quota (contract §1: they name limit and plan). */
import { AppError } from "../../errors.ts";

/** Runs a deed; a refusal by the quota names the plan. @throws what the deed throws */
export async function namingPlan<T>(plan: string, deed: Promise<T>): Promise<T> {
  try {
    return await deed;
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
    throw new AppError(error.reason, error.message, { ...error.details, plan });
  }
}

/** The refusal of what is known to be too much before any of it has come. */
export function outOfQuota(limit: number, plan: string): AppError {
  return new AppError(
    "quota_exceeded",
    `This would exceed the ${limit} bytes that the account may hold. Delete something, or ask for more room.`,
    { limit, plan },
  );
}
