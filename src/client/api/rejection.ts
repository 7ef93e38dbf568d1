import { ApiError, messageOf } from "./http.ts";

/** An error that the page itself raises; its message is meant for people. */
export class PageError extends Error {}

/**
 * The message for a rejected form, and the field to show it at. `field` is undefined if the message concerns no single
 * field.
 */
export interface Rejection<Field extends string> {
  readonly field: Field | undefined;
  readonly message: string;
}

/** The field that an error reason concerns, with a better message than the server's if the form has one. */
type ByReason<Field extends string> = Readonly<Record<string, Field | { field: Field; message: string }>>;

/**
 * Reads the rejection of a form from an error.
 * @param byReason the fields for reasons with which the server names no field
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

/** The message to show at a field. */
export function errorAt<Field extends string>(
  rejection: Rejection<Field> | undefined,
  field: Field,
): string | undefined {
  return rejection?.field === field ? rejection.message : undefined;
}
