/**
 * By which credential something was done: a session's kind, an API key, the command line, the program itself, nothing.
 */
export const AUDIT_VIAS = ["web", "mobile", "key", "cli", "system", "none"] as const;

/** One of {@link AUDIT_VIAS}. */
export type AuditVia = (typeof AUDIT_VIAS)[number];

/** `rejected`: the caller might not; `failed`: the server could not. */
export const AUDIT_OUTCOMES = ["done", "refused", "failed"] as const;

/** One of {@link AUDIT_OUTCOMES}. */
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** An account as the log names it: by its public id and its email at that time. */
export interface AuditPerson {
  /** Undefined where only an email was given, that of no account perhaps. */
  readonly id: string | undefined;
  readonly email: string | undefined;
}

/** Something to be written into the log. */
export interface AuditEntry {
  /** `sign_in`, `user.change`: what was asked for, in words with a dot between thing and transaction. */
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly reason?: string | undefined;
  /** Who did it; undefined where nobody was signed in. */
  readonly user?: AuditPerson | undefined;
  readonly via: AuditVia;
  /** Name of the device, id of the key, or the system's user of a command. */
  readonly viaName?: string | undefined;
  /** The account that it was done to. */
  readonly subject?: AuditPerson | undefined;
  readonly target?: { readonly type: string; readonly id: string } | undefined;
  readonly clientAddress?: string | undefined;
  readonly userAgent?: string | undefined;
  /** How often; 1 unless it was repeated. */
  readonly times?: number;
  /** Never a secret, never the name of a file or folder. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A row of the log. */
export interface AuditRow {
  readonly id: number;
  readonly at: number;
  readonly userId: string | null;
  readonly email: string | null;
  readonly via: AuditVia;
  readonly viaName: string | null;
  readonly action: string;
  readonly subjectId: string | null;
  readonly subjectEmail: string | null;
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly outcome: AuditOutcome;
  readonly reason: string | null;
  readonly clientAddress: string | null;
  readonly userAgent: string | null;
  readonly times: number;
  /** JSON. */
  readonly details: string;
}

/** Which rows are wanted; absent fields ask for nothing. */
export interface AuditFilter {
  /** Public id or email: who did it, or whom it was done to. */
  readonly user?: string | undefined;
  /** Only what was done to this account, by its public id. */
  readonly subjectId?: string | undefined;
  /** The action, or what stands before its dot. */
  readonly action?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly clientAddress?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly toMs?: number | undefined;
}

/** How much of what is done to files is written: nothing, what destroys, everything. */
export type AuditFiles = "off" | "changes" | "all";
