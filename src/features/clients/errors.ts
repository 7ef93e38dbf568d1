/** Errors of the addresses for WebDAV and sync clients, as XML that these clients show to people. */
import { AppError, type Reason } from "../../errors.ts";
import { ERROR_RESPONSES } from "../../http/error-response.ts";
import { escapeXml } from "../../lib/escape-xml.ts";
import { type Message, say } from "../../translations/say.ts";

/** An error with a status that only WebDAV uses, or with a condition that names what was wrong (RFC 4918, section 16). */
export class WebDavError extends AppError {
  readonly status: number;
  /** An element of the namespace `DAV:` without attributes, such as `lock-token-submitted`. */
  readonly condition: string | undefined;
  /** The percent-encoded path of the item that violates the condition. */
  readonly href: string | undefined;

  constructor(status: number, text: Message, condition?: string, href?: string) {
    super(reasonOf(status), text);
    this.name = "WebDavError";
    this.status = status;
    this.condition = condition;
    this.href = href;
  }
}

/** Statuses that differ from those of the API (RFC 4918, section 11, and what the desktop clients expect). */
const STATUSES: Partial<Record<Reason, number>> = {
  locked: 423,
  quota_exceeded: 507,
  // Nothing is queued, and clients show the message of a 403.
  confirmation_required: 403,
  name_taken: 409,
  precondition_failed: 412,
};

/** The status of an error at these addresses. */
export function clientStatusOf(error: AppError): number {
  if (error instanceof WebDavError) return error.status;
  // 429 is an error of one file for the desktop clients. They end their run and return later only after a 503. They
  // must not return after too many wrong passwords.
  if (error.reason === "rate_limited") return error.details["resource"] === "signin" ? 429 : 503;
  return STATUSES[error.reason] ?? ERROR_RESPONSES[error.reason][0];
}

/**
 * The body of an error. The names of the exceptions are those of the server library that the desktop clients know:
 * they compare some of them.
 * @param message in the language of the client
 */
export function clientErrorXml(error: AppError, message: string): string {
  const status = clientStatusOf(error);
  const condition =
    error instanceof WebDavError ? error.condition : status === 423 ? "lock-token-submitted" : undefined;
  const href = error instanceof WebDavError ? error.href : undefined;
  const element = condition === undefined ? "" : conditionXml(condition, href);
  const exception = EXCEPTIONS[status] ?? (status >= 500 ? "Exception" : "BadRequest");
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">' +
    `${element}<s:exception>Sabre\\DAV\\Exception\\${exception}</s:exception>` +
    `<s:message>${escapeXml(message)}</s:message></d:error>`
  );
}

function conditionXml(condition: string, href: string | undefined): string {
  if (href === undefined) return `<d:${condition}/>`;
  return `<d:${condition}><d:href>${escapeXml(href)}</d:href></d:${condition}>`;
}

const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "NotAuthenticated",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  412: "PreconditionFailed",
  415: "UnsupportedMediaType",
  416: "RequestedRangeNotSatisfiable",
  423: "Locked",
  429: "TooManyRequests",
  501: "NotImplemented",
  503: "ServiceUnavailable",
  507: "InsufficientStorage",
};

function reasonOf(status: number): Reason {
  switch (status) {
    case 403:
      return "share_permission";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 412:
      return "precondition_failed";
    case 413:
      return "body_too_large";
    case 415:
      return "unsupported_media_type";
    case 423:
      return "locked";
    case 507:
      return "quota_exceeded";
    default:
      return "invalid_request";
  }
}

/** The error for an item that does not exist. */
export function notThere(): WebDavError {
  return new WebDavError(404, say`There is no file or folder at this address.`);
}

/** The folder above an address is missing (RFC 4918, section 9.7.1). */
export function missingFolder(): WebDavError {
  return new WebDavError(409, say`The folder above this address does not exist. Create it first.`);
}

/** "Shared with me" contains only received shares. */
export function sharesOnly(): WebDavError {
  return new WebDavError(
    403,
    say`This folder contains only what others share with you. Store the item in another folder.`,
  );
}

/** What the address names is another item than at the beginning of the request. */
export function movedAway(): WebDavError {
  return new WebDavError(409, say`The item or its folder changed during the request. Try again.`);
}
