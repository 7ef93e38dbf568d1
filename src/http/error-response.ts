/** Maps each reason to a status and a code. The OpenAPI document uses the same table. */
import { AppError, type ErrorDetails, type Reason } from "../errors.ts";
import { translateMessage } from "../translations/error-texts.ts";
import { say } from "../translations/say.ts";
import { requestLanguage } from "./language.ts";

/** `error.code` of the API. */
type ErrorCode =
  | "VALIDATION_ERROR"
  | "AUTHENTICATION_FAILED"
  | "INSUFFICIENT_PERMISSIONS"
  | "RESOURCE_NOT_FOUND"
  | "INTERNAL_ERROR"
  | "DATABASE_ERROR"
  | "STORAGE_ERROR"
  | "SERVICE_UNAVAILABLE"
  | "RATE_LIMIT_EXCEEDED";

/** Status and code of every reason. A reason without an entry does not compile. */
export const ERROR_RESPONSES = {
  invalid_json: [400, "VALIDATION_ERROR"],
  invalid_field: [400, "VALIDATION_ERROR"],
  invalid_multipart: [400, "VALIDATION_ERROR"],
  invalid_path: [400, "VALIDATION_ERROR"],
  path_too_long: [400, "VALIDATION_ERROR"],
  invalid_request: [400, "VALIDATION_ERROR"],
  checksum_mismatch: [400, "VALIDATION_ERROR"],
  not_a_folder: [400, "VALIDATION_ERROR"],
  chunk_size: [400, "VALIDATION_ERROR"],
  chunk_checksum: [460, "VALIDATION_ERROR"],
  forbidden_target: [400, "VALIDATION_ERROR"],
  missing_token: [401, "AUTHENTICATION_FAILED"],
  invalid_token: [401, "AUTHENTICATION_FAILED"],
  expired_token: [401, "AUTHENTICATION_FAILED"],
  revoked_token: [401, "AUTHENTICATION_FAILED"],
  bad_credentials: [401, "AUTHENTICATION_FAILED"],
  password_required: [401, "AUTHENTICATION_FAILED"],
  second_factor_required: [401, "AUTHENTICATION_FAILED"],
  invalid_code: [401, "AUTHENTICATION_FAILED"],
  role: [403, "INSUFFICIENT_PERMISSIONS"],
  scope: [403, "INSUFFICIENT_PERMISSIONS"],
  share_permission: [403, "INSUFFICIENT_PERMISSIONS"],
  csrf: [403, "INSUFFICIENT_PERMISSIONS"],
  account_disabled: [403, "INSUFFICIENT_PERMISSIONS"],
  device_limit: [403, "INSUFFICIENT_PERMISSIONS"],
  signup_closed: [403, "INSUFFICIENT_PERMISSIONS"],
  email_unconfirmed: [403, "INSUFFICIENT_PERMISSIONS"],
  final_upload: [403, "INSUFFICIENT_PERMISSIONS"],
  not_found: [404, "RESOURCE_NOT_FOUND"],
  method_not_allowed: [405, "VALIDATION_ERROR"],
  email_taken: [409, "VALIDATION_ERROR"],
  name_taken: [409, "VALIDATION_ERROR"],
  locked: [409, "VALIDATION_ERROR"],
  folder_not_empty: [409, "VALIDATION_ERROR"],
  version_conflict: [409, "VALIDATION_ERROR"],
  idempotency_key: [409, "VALIDATION_ERROR"],
  last_admin: [409, "VALIDATION_ERROR"],
  upload_state: [409, "VALIDATION_ERROR"],
  import_state: [409, "VALIDATION_ERROR"],
  upload_offset: [409, "VALIDATION_ERROR"],
  deleted_by_you: [409, "VALIDATION_ERROR"],
  confirmation_required: [409, "VALIDATION_ERROR"],
  body_timeout: [408, "VALIDATION_ERROR"],
  upload_expired: [410, "RESOURCE_NOT_FOUND"],
  share_expired: [410, "RESOURCE_NOT_FOUND"],
  share_used_up: [410, "RESOURCE_NOT_FOUND"],
  precondition_failed: [412, "VALIDATION_ERROR"],
  file_too_large: [413, "VALIDATION_ERROR"],
  quota_exceeded: [413, "VALIDATION_ERROR"],
  body_too_large: [413, "VALIDATION_ERROR"],
  headers_too_large: [431, "VALIDATION_ERROR"],
  unsupported_media_type: [415, "VALIDATION_ERROR"],
  range_not_satisfiable: [416, "VALIDATION_ERROR"],
  rate_limited: [429, "RATE_LIMIT_EXCEEDED"],
  unexpected: [500, "INTERNAL_ERROR"],
  database_error: [500, "DATABASE_ERROR"],
  database_busy: [503, "SERVICE_UNAVAILABLE"],
  storage_error: [500, "STORAGE_ERROR"],
  content_missing: [500, "STORAGE_ERROR"],
  content_damaged: [500, "STORAGE_ERROR"],
  store_missing: [503, "SERVICE_UNAVAILABLE"],
  starting: [503, "SERVICE_UNAVAILABLE"],
  shutting_down: [503, "SERVICE_UNAVAILABLE"],
  overloaded: [503, "SERVICE_UNAVAILABLE"],
  provider_unavailable: [503, "SERVICE_UNAVAILABLE"],
  thumbnail_pending: [503, "SERVICE_UNAVAILABLE"],
  disk_full: [507, "STORAGE_ERROR"],
} as const satisfies Record<Reason, readonly [number, ErrorCode]>;

/** Seconds until a retry makes sense, for reasons with status 503 whose error sets no `retryAfter`. */
const RETRY_AFTER_S: Partial<Record<Reason, number>> = {
  database_busy: 1,
  thumbnail_pending: 2,
  overloaded: 2,
  starting: 5,
  shutting_down: 10,
  store_missing: 30,
  provider_unavailable: 30,
};

/** The default for reasons that {@link RETRY_AFTER_S} does not list. */
export const DEFAULT_RETRY_AFTER_S = 5;

/** The failure envelope of the API. */
interface ErrorBody {
  readonly success: false;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails };
}

/** An error as the client sees it: never a stack, a path or SQL. */
interface ErrorResponse {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** The message of an error that may contain secrets. */
export const UNEXPECTED = say`Something went wrong on the server. Try again. If this keeps happening, contact your administrator.`;

/** The message of an error in the language of the request. */
export function errorText({ text }: AppError, request: Request): string {
  return translateMessage(text, requestLanguage(request));
}

/**
 * The response for an error. Anything that is not an {@link AppError} becomes `unexpected`, without its message.
 * @param request by which the language of the message is chosen; English without one
 */
export function errorResponseOf(error: unknown, requestId: string, request?: Request): ErrorResponse {
  const known = error instanceof AppError ? error : new AppError("unexpected", UNEXPECTED);
  const [status, code] = ERROR_RESPONSES[known.reason];
  const message = request === undefined ? known.message : errorText(known, request);
  const details = { ...detailsOf(known), ...(status >= 500 && { requestId }) };
  return {
    status,
    body: { success: false, error: { code, message, details } },
    headers: headersOf(known),
  };
}

/** An error inside a response that lists a result for each item (move, copy). */
export function errorItem(error: AppError, request: Request): ErrorBody["error"] {
  const [, code] = ERROR_RESPONSES[error.reason];
  return { code, message: errorText(error, request), details: detailsOf(error) };
}

/** Adds `retryAfter` to a 503: under /api only a 429 has the header `Retry-After`. */
function detailsOf({ reason, details }: AppError): ErrorDetails {
  const isUnavailable = ERROR_RESPONSES[reason][0] === 503;
  return { reason, ...(isUnavailable && { retryAfter: RETRY_AFTER_S[reason] ?? DEFAULT_RETRY_AFTER_S }), ...details };
}

/** Headers that belong to a reason (RFC 9110 §15.5.2, §15.5.6, §15.5.17; RFC 6585 §4). */
function headersOf(error: AppError): Record<string, string> {
  const { details } = error;
  switch (ERROR_RESPONSES[error.reason][0]) {
    case 401:
      return { "WWW-Authenticate": 'Bearer realm="Larder"' };
    case 405:
      return { Allow: Array.isArray(details["allow"]) ? details["allow"].join(", ") : "" };
    case 408:
      // The server does not wait for the rest of the body (RFC 9110, section 15.5.9).
      return { Connection: "close" };
    case 416:
      return { "Content-Range": `bytes */${String(details["sizeBytes"])}` };
    case 429:
      return {
        "Retry-After": String(details["retryAfter"]),
        ...(details["resource"] === "bodies" && { Connection: "close" }),
      };
    default:
      return {};
  }
}
