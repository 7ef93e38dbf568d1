/**
 * Writes audit entries around the application: when the response is known, the audited action of its route is recorded.
 * It wraps the application instead of being one of its hooks, so that it sees the status of every response, including
 * rejections. Requests that are not audited cost only a check of the method.
 */
import { type AuditNote, auditNoteOf } from "../../../http/audit-note.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { Log } from "../../../lib/log.ts";
import { identityOf } from "../../accounts/auth/guard.ts";
import type { Caller } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import type { DeclaredRoute } from "../../accounts/routing/declaration.ts";
import { type AuditedAction, auditedAction } from "./actions.ts";
import type { AuditLog } from "./service.ts";
import type { AuditEntry, AuditFiles, AuditPerson, AuditVia } from "./types.ts";

/** Dependencies of {@link auditRecorder}. */
interface AuditRecorderOptions {
  readonly audit: AuditLog;
  readonly log: Log;
  readonly files: AuditFiles;
  /** The route of a request; undefined if no route matches. */
  readonly routeOf: (method: string, path: string) => DeclaredRoute | undefined;
  readonly users: {
    findByEmail(email: string): User | undefined;
    findByPublicId(publicId: string): User | undefined;
  };
}

/** Rejections that are audited: attempts to use what belongs to others. Malformed requests and unknown ids are not. */
const REJECTED = new Set([
  "bad_credentials",
  "invalid_code",
  "invalid_token",
  "revoked_token",
  "role",
  "scope",
  "csrf",
  "account_disabled",
  "device_limit",
  "signup_closed",
  "last_admin",
  "share_permission",
]);

/** Only for a refresh token. Elsewhere, requests without any token could fill the log. */
const REJECTED_TOKENS = new Set(["invalid_token", "revoked_token"]);

/**
 * Writes an audited request to the log when its response is known.
 * @returns a function from a request and its pending response to the response to be sent
 */
export function auditRecorder(options: AuditRecorderOptions) {
  return (request: Request, response: Response | Promise<Response>): Response | Promise<Response> => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    // Most requests are reads that are not audited: their responses do not wait.
    if (isRead && findAuditedAction(options, request) === undefined) return response;
    return response instanceof Promise
      ? response.then((resolved) => afterResponse(options, request, resolved))
      : afterResponse(options, request, response);
  };
}

/** How a request is audited, by its route. */
function findAuditedAction({ routeOf, files }: AuditRecorderOptions, request: Request): AuditedAction | undefined {
  const { path } = requestContextOf(request);
  const route = routeOf(request.method, path);
  return route && auditedAction(route, path, files);
}

/** @returns the response, when the audit entry is as durable as required */
function afterResponse(
  options: AuditRecorderOptions,
  request: Request,
  response: Response,
): Response | Promise<Response> {
  const note = auditNoteOf(request);
  // HEAD performs no audited action, unless its handler says so.
  const found = request.method === "HEAD" ? undefined : findAuditedAction(options, request);
  // An action from the handler overrides the action of the route.
  const audited =
    note.action === undefined ? found : { ...explicit(note.action), ...found, write: "security" as const };
  if (audited === undefined) return response;
  const { status } = response;
  if (status < 400 && note.isNotDone === true) return response;
  if (status < 400) {
    return audited.write === "rejections" ? response : recordDone(options, request, response, audited, note);
  }
  const outcome = outcomeOf(status, note.reason, audited);
  if (outcome !== undefined) options.audit.note({ ...makeEntry(options, request, audited, note), ...outcome });
  return response;
}

async function recordDone(
  options: AuditRecorderOptions,
  request: Request,
  response: Response,
  audited: AuditedAction,
  note: AuditNote,
): Promise<Response> {
  try {
    const responseIds =
      request.method === "GET" ? { userId: note.userId, madeId: undefined } : await readResponse(response, note);
    const entry = { ...makeEntry(options, request, audited, note, responseIds), outcome: "done" as const };
    if (audited.write === "deferred") options.audit.note(entry);
    else await options.audit.record(entry);
  } catch (error) {
    // The action was performed, and the response must say so. Only the operator's log reports that its entry is
    // missing.
    options.log.error("Could not write to the audit log.", { action: audited.action, error });
  }
  return response;
}

function outcomeOf(status: number, reason: string | undefined, audited: AuditedAction) {
  if (status >= 500) return status === 500 ? { outcome: "failed" as const, reason } : undefined;
  if (status === 429) return audited.isGuess ? { outcome: "refused" as const, reason } : undefined;
  // A rejection that was rendered as a page has no reason here.
  const isPage = reason === undefined && (status === 401 || status === 403) && audited.isGuess;
  if (isPage) return { outcome: "refused" as const, reason };
  if (reason === undefined || !REJECTED.has(reason)) return undefined;
  if (REJECTED_TOKENS.has(reason) && audited.action !== "device.refresh") return undefined;
  return { outcome: "refused" as const, reason };
}

/** The user and the target in a response: who signed in, what was created. */
interface ResponseIds {
  readonly userId: string | undefined;
  readonly madeId: string | undefined;
}

/** Responses to changes are read if they are JSON, which is small; only ids are taken from them. */
async function readResponse(response: Response, note: AuditNote): Promise<ResponseIds> {
  const nothing = { userId: note.userId, madeId: undefined };
  if (!/^application\/json(;|$)/.test(response.headers.get("content-type") ?? "")) return nothing;
  const body: unknown = await response.clone().json();
  if (typeof body !== "object" || body === null) return nothing;
  return {
    userId: note.userId ?? ("user" in body ? idOf(body.user) : undefined),
    madeId: response.status === 201 && "data" in body ? idOf(body.data) : undefined,
  };
}

function idOf(value: unknown): string | undefined {
  const isRecord = typeof value === "object" && value !== null && "id" in value;
  return isRecord && typeof value.id === "string" ? value.id : undefined;
}

function makeEntry(
  options: AuditRecorderOptions,
  request: Request,
  audited: AuditedAction,
  note: AuditNote,
  responseIds?: ResponseIds,
): Omit<AuditEntry, "outcome"> {
  const { users } = options;
  const { principal } = identityOf(request);
  const signedIn = responseIds?.userId === undefined ? undefined : users.findByPublicId(responseIds.userId);
  const given = note.email === undefined ? undefined : users.findByEmail(note.email);
  // A successful sign-in with an email belongs to that account. A failed one may come from anybody.
  const user =
    toPerson(principal?.user ?? signedIn ?? (responseIds === undefined ? undefined : given)) ??
    unknownPerson(note.email);
  const subjectId = note.subjectId ?? audited.subjectId;
  const subject =
    subjectId === undefined
      ? (toPerson(principal?.user ?? signedIn ?? given) ?? undefined)
      : (toPerson(users.findByPublicId(subjectId)) ?? { id: subjectId, email: undefined });
  const targetId = responseIds?.madeId ?? audited.target?.id;
  const target =
    note.target ??
    (audited.target === undefined || targetId === undefined
      ? undefined
      : { type: audited.target.type, id: decoded(targetId) });
  return {
    action: note.action ?? audited.action,
    user,
    ...describeCredential(principal),
    subject,
    target,
    clientAddress: requestContextOf(request).clientAddress,
    userAgent: request.headers.get("user-agent") ?? undefined,
    details: note.details,
  };
}

function describeCredential(principal: Caller | undefined): { via: AuditVia; viaName?: string | undefined } {
  if (principal === undefined) return { via: "none" };
  if (principal.key !== undefined) return { via: "key", viaName: principal.key.publicId };
  if (principal.appPassword !== undefined) return { via: "app", viaName: principal.appPassword.publicId };
  return { via: principal.session.kind, viaName: principal.device?.name };
}

function toPerson(user: User | undefined): AuditPerson | undefined {
  return user && { id: user.publicId, email: user.email || undefined };
}

function unknownPerson(email: string | undefined): AuditPerson | undefined {
  return email === undefined ? undefined : { id: undefined, email };
}

function explicit(action: string): AuditedAction {
  return { action, target: undefined, subjectId: undefined, write: "security", isGuess: true };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // invalid percent-encoding is left unchanged
  }
}
