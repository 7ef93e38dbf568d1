/** The credential of an action: a session's kind, an API key, an app password, the command line, the program itself, or none. */
export const AUDIT_VIAS = ["web", "mobile", "key", "app", "cli", "system", "none"] as const;

/** One of {@link AUDIT_VIAS}. */
export type AuditVia = (typeof AUDIT_VIAS)[number];

/** `refused`: the caller had no permission; `failed`: the server could not do it. */
export const AUDIT_OUTCOMES = ["done", "refused", "failed"] as const;

/** One of {@link AUDIT_OUTCOMES}. */
type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** An account in the log: by its public id and its email at that time. */
export interface AuditPerson {
  /** Undefined if only an email was given, which may belong to no account. */
  readonly id: string | undefined;
  readonly email: string | undefined;
}

/** A new entry of the log. */
export interface AuditEntry {
  /** `sign_in`, `user.change`: the requested action; a dot separates thing and verb. */
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly reason?: string | undefined;
  /** The acting user; undefined if nobody was signed in. */
  readonly user?: AuditPerson | undefined;
  readonly via: AuditVia;
  /** Name of the device, id of the key, or the operating system's user of a command. */
  readonly viaName?: string | undefined;
  /** The affected account. */
  readonly subject?: AuditPerson | undefined;
  readonly target?: { readonly type: string; readonly id: string } | undefined;
  readonly clientAddress?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The number of repetitions; 1 for a single action. */
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

/** A filter of rows; absent fields match all. */
export interface AuditFilter {
  /** Public id or email of the acting user or the affected account. */
  readonly user?: string | undefined;
  /** Only entries about this account, by its public id. */
  readonly subjectId?: string | undefined;
  /** The action, or the part before its dot. */
  readonly action?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly clientAddress?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly toMs?: number | undefined;
}

/** Which actions on files are logged: none, destructive ones, all. */
export type AuditFiles = "off" | "changes" | "all";
