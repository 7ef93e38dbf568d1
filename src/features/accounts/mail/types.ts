import type { NotificationPreferences } from "../users/settings.ts";

/** The kind of a mail. Users request the first four; the others report events. */
export type MailKind =
  | "password-reset"
  | "email-confirmation"
  | "invite"
  | "other"
  | "share-received"
  | "storage-warning"
  | "storage-damaged"
  | "server-damaged"
  | "bucket-away"
  | "password-changed"
  | "email-changed"
  | "api-key-created"
  | "sign-in-changed"
  | "sign-in-linked";

/** Categories of messages, as people want them or not. */
export type MailCategory = Exclude<keyof NotificationPreferences, "quietHours">;

/** Words for a mail, in both forms. */
export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail that is to be sent. */
export interface OutgoingMail {
  /** One email address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as a page; made from the text where it is left out. */
  readonly html?: string;
  /** Default: `other`. */
  readonly kind?: MailKind;
  /** The recipient's account, if there is one. */
  readonly accountId?: number;
  /** For so long it is of use; what could not be delivered by then is given up. At most, and by default, 48 h. */
  readonly usefulMs?: number;
}

/** A mail as it goes to the mail server. */
export interface StoredMail {
  readonly id: number;
  readonly kind: string;
  readonly recipient: string;
  readonly recipientKey: string;
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attempts: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * The result of an attempt: `sent`; `rejected`, permanently; `retry`, this mail later; `unreachable`, the server takes
 * no mail now. `why` holds only codes: nothing of the mail, and no credentials.
 */
export type MailOutcome =
  | { readonly state: "sent" }
  | { readonly state: "refused" | "retry" | "unreachable"; readonly why: string };

/** The way to the mail server. */
export interface MailTransport {
  /** One attempt; never throws. */
  deliver(mail: StoredMail): Promise<MailOutcome>;
  /** Whether the server can be reached and lets us in. @returns what is wrong, or undefined */
  probe(): Promise<string | undefined>;
}
