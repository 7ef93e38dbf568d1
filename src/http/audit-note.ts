/**
 * Notes of handlers about a request, for its audit entry. They are attached to the request, so that handlers do not
 * depend on the audit log.
 */

/** A note; later notes of a request are merged into the earlier ones. */
export interface AuditNote {
  /** Replaces the action of the route. A request with it is audited even if its route is not. */
  readonly action?: string;
  /** The email, as the client sent it. */
  readonly email?: string;
  /** Public id of the user who signed in, if the response does not contain it. */
  readonly userId?: string;
  /** Public id of the affected account, if it is not the caller's. */
  readonly subjectId?: string;
  readonly target?: { readonly type: string; readonly id: string };
  /** The reason of the rejection. */
  readonly reason?: string;
  /** True if the action was not done, or not yet: no entry is written. */
  readonly isNotDone?: boolean;
  /** Never contains a secret, or the name of a file or folder. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const notes = new WeakMap<Request, AuditNote>();

/** Adds to the audit entry of this request. */
export function noteAudit(request: Request, note: AuditNote): void {
  const before = notes.get(request);
  const details = { ...before?.details, ...note.details };
  notes.set(request, { ...before, ...note, ...(Object.keys(details).length > 0 && { details }) });
}

/** All notes of this request. */
export function auditNoteOf(request: Request): AuditNote {
  return notes.get(request) ?? {};
}
