import { AppError } from "../../../errors.ts";

/** The result of a bulk call for one id. */
export type Outcome<T> = { readonly id: string; readonly done: T } | { readonly id: string; readonly error: AppError };

/** The result of an action for one id. An AppError becomes a result; other errors are thrown. */
export async function attempt<T>(id: string, action: () => Promise<T> | T): Promise<Outcome<T>> {
  try {
    return { id, done: await action() };
  } catch (error) {
    if (error instanceof AppError) return { id, error };
    throw error;
  }
}

/** The results of the actions that succeeded. */
export function doneOf<T>(outcomes: readonly Outcome<T>[]): T[] {
  return outcomes.flatMap((outcome) => ("done" in outcome ? [outcome.done] : []));
}
