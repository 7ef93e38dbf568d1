import { AppError } from "../../../../src/errors.ts";

/** Whether a transaction was refused, rather than went wrong. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}
