import { type Message, say, size } from "./translations/say.ts";

/**
 * The stable snake_case reasons that the API returns in `error.details.reason`. Only `http/error-response.ts` maps them
 * to a status and a code.
 */
export const REASONS = [
  "invalid_json",
  "invalid_field",
  "invalid_multipart",
  "invalid_path",
  "path_too_long",
  "invalid_request",
  "checksum_mismatch",
  "not_a_folder",
  "chunk_size",
  "chunk_checksum",
  "forbidden_target",
  "missing_token",
  "invalid_token",
  "expired_token",
  "revoked_token",
  "bad_credentials",
  "password_required",
  "second_factor_required",
  "invalid_code",
  "role",
  "scope",
  "share_permission",
  "csrf",
  "account_disabled",
  "device_limit",
  "signup_closed",
  "email_unconfirmed",
  "not_found",
  "method_not_allowed",
  "email_taken",
  "name_taken",
  "locked",
  "folder_not_empty",
  "version_conflict",
  "idempotency_key",
  "last_admin",
  "upload_state",
  "import_state",
  "upload_offset",
  "final_upload",
  "deleted_by_you",
  "confirmation_required",
  "upload_expired",
  "share_expired",
  "share_used_up",
  "precondition_failed",
  "file_too_large",
  "quota_exceeded",
  "body_too_large",
  "body_timeout",
  "headers_too_large",
  "unsupported_media_type",
  "range_not_satisfiable",
  "rate_limited",
  "unexpected",
  "database_error",
  "database_busy",
  "storage_error",
  "content_missing",
  "content_damaged",
  "store_missing",
  "starting",
  "shutting_down",
  "overloaded",
  "provider_unavailable",
  "thumbnail_pending",
  "disk_full",
] as const;

/** One of {@link REASONS}. */
export type Reason = (typeof REASONS)[number];

/** Values that an error returns next to its message: the invalid field, limits, expected and actual values. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * An error whose message is sent to the client: what happened, then what to do. `message` is the English text, for logs
 * and the command line. Only the log contains `cause`; it never leaves the server.
 */
export class AppError extends Error {
  readonly reason: Reason;
  /** The message in a form that can be translated. */
  readonly text: Message;
  readonly details: ErrorDetails;

  constructor(reason: Reason, text: Message, details: ErrorDetails = {}, cause?: unknown) {
    super(text.english, cause === undefined ? undefined : { cause });
    this.name = "AppError";
    this.reason = reason;
    this.text = text;
    this.details = details;
  }
}

/** An {@link AppError} for one request field, which `details.field` names. */
export function invalidField(field: string, text: Message, details: ErrorDetails = {}): AppError {
  return new AppError("invalid_field", text, { field, ...details });
}

/** The same error for what does not exist and for what belongs to another account, so that it reveals no existence. */
export function notFound(what: Message): AppError {
  return new AppError("not_found", say`${what} Check the ID, or reload the list.`);
}

/** The message for content that would exceed the storage limit. @param freeBytes negative if more is stored already */
export function needsMoreSpace(requiredBytes: number, freeBytes: number, limitBytes: number): Message {
  const leftBytes = Math.max(0, freeBytes);
  return say`This needs ${size(requiredBytes)}, but you have ${size(leftBytes, `${leftBytes}`)} of ${size(limitBytes)} left. Delete files, or ask your administrator for more storage.`;
}

/** The error for an address that no route has. */
export function unknownAddress(): AppError {
  return new AppError("not_found", say`This address does not exist. See /docs for a list of addresses.`);
}

/** Adds the plan to a quota error; returns any other error unchanged. */
export function withPlan<E>(error: E, plan: string): E | AppError {
  if (!(error instanceof AppError) || error.reason !== "quota_exceeded") return error;
  return new AppError(error.reason, error.text, { ...error.details, plan });
}
