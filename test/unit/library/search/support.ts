import { AppError } from "../../../../src/errors.ts";

/** Whether a call was rejected, rather than failed. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}
