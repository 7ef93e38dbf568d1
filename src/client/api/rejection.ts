import { ApiError, messageOf } from "./http.ts";

/** Something that the page itself refuses; its message is meant for people. */
export class PageError extends Error {}

/** What to say of a refused form, and beside which of its fields; `field` undefined where it is none of them. */
export interface Rejection<Field extends string> {
  readonly field: Field | undefined;
  readonly message: string;
}

/** Which field a reason speaks of, and better words for it than the server's where the form knows more. */
export type ByReason<Field extends string> = Readonly<Record<string, Field | { field: Field; message: string }>>;

/**
 * Reads a refusal for a form.
 * @param byReason for reasons with which the server names no field
 */
export function readRejection<Field extends string>(
  error: unknown,
  fields: readonly Field[],
  byReason: ByReason<Field> = {},
): Rejection<Field> | undefined {
  if (error === null || error === undefined) return undefined;
  const message = error instanceof PageError ? error.message : messageOf(error);
  if (!(error instanceof ApiError)) return { field: undefined, message };
  const named = fields.find((field) => field === error.details["field"]);
  const known = error.reason === undefined ? undefined : byReason[error.reason];
  if (named !== undefined || known === undefined) return { field: named, message };
  return typeof known === "string" ? { field: known, message } : known;
}

/** What stands beside this field. */
export function errorAt<Field extends string>(
  rejection: Rejection<Field> | undefined,
  field: Field,
): string | undefined {
  return rejection?.field === field ? rejection.message : undefined;
}
