/**
 * What a handler knows of a request beyond its first line and its response, for the audit log: kept beside the request,
 * so that handlers need not know the log.
 */

/** All optional; a later note of a request is added to the earlier ones. */
export interface AuditNote {
  /** In place of the action that the path stands for; makes the request audited where its path alone would not. */
  readonly action?: string;
  /** The email that was given, as it was given. */
  readonly email?: string;
  /** Public id of the user who signed in, if the response does not contain it. */
  readonly userId?: string;
  /** Public id of the account that it was done to, where it is not the caller's. */
  readonly subjectId?: string;
  readonly target?: { readonly type: string; readonly id: string };
  /** The reason of the rejection that is answered. */
  readonly reason?: string;
  /** What the path stands for was not done, or not yet: nothing is written of it. */
  readonly isNotDone?: boolean;
  /** Never a secret, never the name of a file or folder. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const notes = new WeakMap<Request, AuditNote>();

/** Adds to the audit entry of this request. */
export function noteAudit(request: Request, note: AuditNote): void {
  const before = notes.get(request);
  const details = { ...before?.details, ...note.details };
  notes.set(request, { ...before, ...note, ...(Object.keys(details).length > 0 && { details }) });
}

/** All that was noted of this request. */
export function auditNoteOf(request: Request): AuditNote {
  return notes.get(request) ?? {};
}
