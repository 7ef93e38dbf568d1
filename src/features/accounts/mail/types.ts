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
  | "app-password-created"
  | "sign-in-changed"
  | "sign-in-linked";

/** Categories of messages that users can turn on and off. */
export type MailCategory = Exclude<keyof NotificationPreferences, "quietHours">;

/** The text of a mail, in both forms. */
export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail to be sent. */
export interface OutgoingMail {
  /** One email address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as a page; made from the text if absent. */
  readonly html?: string;
  /** Default: `other`. */
  readonly kind?: MailKind;
  /** The recipient's account, if there is one. */
  readonly accountId?: number;
  /** The account whose action caused it, if its owner could cause many: see {@link MailService.send}. */
  readonly causedBy?: number;
  /** How long delivery is tried before the mail is dropped. At most, and by default, 48 h. */
  readonly usefulMs?: number;
}

/** A mail as it is passed to the mail server. */
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
 * The result of an attempt: `sent`; `refused`, permanently; `retry`, this mail later; `unreachable`, the server takes
 * no mail now. `why` holds only codes: nothing of the mail, and no credentials.
 */
export type MailOutcome =
  | { readonly state: "sent" }
  | { readonly state: "refused" | "retry" | "unreachable"; readonly why: string };

/** The connection to the mail server. */
export interface MailTransport {
  /** One attempt; never throws. */
  deliver(mail: StoredMail): Promise<MailOutcome>;
  /** Checks whether the server can be reached and accepts the credentials. @returns the problem, or undefined */
  probe(): Promise<string | undefined>;
}
