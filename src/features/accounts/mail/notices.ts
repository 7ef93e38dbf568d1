/**
 * Mails about events. Its methods are listeners, inside the transaction; `server/subscriptions.ts` connects events and
 * listeners.
 */
import type { Transaction } from "../../../db/transaction.ts";
import type { CredentialName, EventOf } from "../../../events/catalogue.ts";
import type { UserService } from "../users/service.ts";
import { readSettings } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { quoteName, renderMail, type MailContent } from "./render-mail.ts";
import type { MailService } from "./service.ts";
import type { MailCategory, MailKind } from "./types.ts";

/** Dependencies of {@link MailNotices}. */
export interface MailNoticesOptions {
  readonly mail: MailService;
  readonly users: Pick<UserService, "findById" | "findByPublicId" | "settingsJson">;
  /** Address of this server, without a slash at the end. */
  readonly baseUrl: string;
}

const NOT_YOU = "If this wasn't you, contact your administrator immediately.";

/** Subject and sentence for each change of a second factor. */
const FACTOR_CHANGES: Readonly<Record<Exclude<CredentialName, "password" | "email">, readonly [string, string]>> = {
  two_factor_on: [
    "Two-factor authentication is on",
    "Two-factor authentication was turned on for your Larder account.",
  ],
  two_factor_off: [
    "Two-factor authentication is off",
    "Two-factor authentication was turned off for your Larder account.",
  ],
  recovery_codes: ["Your recovery codes were replaced", "The recovery codes of your Larder account were replaced."],
  passkey_added: ["A passkey was added", "A passkey was added to your Larder account. Anyone who has it can sign in."],
  passkey_removed: [
    "A passkey was removed",
    "A passkey was removed from your Larder account. You can no longer sign in with it.",
  ],
};

/** The setting by which users turn each mail off; `always` for mails that nobody can turn off. */
const CATEGORIES = {
  "share-received": "shares",
  "storage-warning": "storage",
  "storage-damaged": "storage",
  "server-damaged": "security",
  "bucket-away": "security",
  "api-key-created": "security",
  "app-password-created": "security",
  "password-changed": "always",
  "email-changed": "always",
  "sign-in-changed": "always",
  "sign-in-linked": "always",
} as const satisfies Partial<Record<MailKind, MailCategory | "always">>;

type NoticeKind = keyof typeof CATEGORIES;

interface Notice extends MailContent {
  /** The account whose action caused it; undefined if that is the recipient or the server. */
  readonly causedBy?: number | undefined;
}

/** Sends mails about events. */
export class MailNotices {
  readonly #options: MailNoticesOptions;

  constructor(options: MailNoticesOptions) {
    this.#options = options;
  }

  /** To the recipient of a share between accounts. */
  shareReceived(tx: Transaction, { accountId, share, ownerId, ownerName, isMailed }: EventOf<"share.received">): void {
    if (isMailed === false) return;
    const { type } = share.node;
    const one = type === "album" ? "An album" : `A ${type}`;
    this.#send(tx, accountId, "share-received", {
      subject: `${one} was shared with you`,
      paragraphs: [
        `${quoteName(ownerName)} shared the ${type} ${quoteName(share.node.name)} with you. To open it, sign in and go to ` +
          "“Shared with me”.",
      ],
      link: { label: "Open Larder", url: `${this.#options.baseUrl}/` },
      causedBy: this.#options.users.findByPublicId(ownerId)?.id,
    });
  }

  /** To the owner of an account that is almost full. */
  storageWarning(tx: Transaction, { accountId, percentage }: EventOf<"storage.warning">): void {
    const isFull = percentage === 100;
    this.#send(tx, accountId, "storage-warning", {
      subject: isFull ? "Your storage is full" : `Your storage is ${percentage}% full`,
      paragraphs: [
        isFull
          ? "Your storage is full. You can't upload files until you free up space."
          : `Your storage is ${percentage}% full.`,
        "Delete files you don't need, or ask your administrator for more storage.",
      ],
    });
  }

  /** To the owner of damaged files. */
  contentsDamaged(tx: Transaction, { accountId, files, names }: EventOf<"storage.damaged">): void {
    const listed = names.map(quoteName).join(", ");
    this.#send(tx, accountId, "storage-damaged", {
      subject: files === 1 ? "A file is damaged on the server" : `${files} files are damaged on the server`,
      paragraphs: [
        `These files are damaged or missing on the server and can't be opened: ` +
          `${listed}${files > names.length ? ` and ${files - names.length} more` : ""}.`,
        "Upload your own copies of the same files again to repair them.",
      ],
    });
  }

  /** To administrators. */
  serverDamaged(tx: Transaction, { accountId, contents, database }: EventOf<"server.damaged">): void {
    this.#send(tx, accountId, "server-damaged", {
      subject: database ? "The database is damaged" : "Stored files are damaged",
      paragraphs: [
        database
          ? "The nightly check found damage in the database. Stop the server, then run: larder verify"
          : `${contents === 1 ? "1 blob is" : `${contents} blobs are`} damaged or missing in the store. Check the disk. ` +
            "To list the affected files, run: larder verify. To restore good copies, run: larder heal --from BACKUP",
      ],
    });
  }

  /** To administrators. */
  bucketAway(tx: Transaction, { accountId, problem, contents }: EventOf<"server.bucket_away">): void {
    this.#send(tx, accountId, "bucket-away", {
      subject: "The bucket is unavailable",
      paragraphs: [
        problem,
        `${contents === 1 ? "1 blob is" : `${contents} blobs are`} stored only on the server's disk until the bucket is ` +
          "available again. Files stored only in the bucket can't be opened until then.",
      ],
    });
  }

  /**
   * To the owner, regardless of their settings, because an attacker could turn this mail off. A change of the email
   * address is reported to the former address.
   */
  credentialsChanged(
    tx: Transaction,
    { accountId, what, emailBefore, byAdministrator }: EventOf<"security.credentials_changed">,
  ): void {
    const by = byAdministrator === true ? " by an administrator" : "";
    if (what === "password") {
      const sentence = `The password of your Larder account was changed${by}. Sign in again in your browsers.`;
      const content = { subject: "Your password was changed", paragraphs: [sentence, NOT_YOU] };
      this.#send(tx, accountId, "password-changed", content);
    } else if (what === "email") {
      const sentence = `The email address of your Larder account was changed${by}. You can no longer sign in with this address.`;
      const content = { subject: "Your email address was changed", paragraphs: [sentence, NOT_YOU] };
      this.#send(tx, accountId, "email-changed", content, emailBefore);
    } else {
      const [subject, sentence] = FACTOR_CHANGES[what];
      this.#send(tx, accountId, "sign-in-changed", { subject, paragraphs: [sentence, NOT_YOU] });
    }
  }

  /** To the owner of a new API key. */
  apiKeyCreated(tx: Transaction, { accountId, name }: EventOf<"security.api_key_created">): void {
    this.#send(tx, accountId, "api-key-created", {
      subject: "A new API key was created",
      paragraphs: [
        `The API key ${quoteName(name)} was created for your Larder account. It works without a password.`,
        "If you did not create it, delete it and change your password.",
      ],
    });
  }

  /** To the owner of a new app password. */
  appPasswordCreated(tx: Transaction, { accountId, name }: EventOf<"security.app_password_created">): void {
    this.#send(tx, accountId, "app-password-created", {
      subject: "A new app password was created",
      paragraphs: [
        `The app password ${quoteName(name)} was created for your Larder account. A program can use it to open your files.`,
        "If you did not create it, end its access in Settings, under Devices, and change your password.",
      ],
    });
  }

  /**
   * To the owner of an account that an identity provider can now sign in to. Sent regardless of their settings, as
   * above.
   */
  signInLinked(tx: Transaction, accountId: number, providerName: string): void {
    this.#send(tx, accountId, "sign-in-linked", {
      subject: "A sign-in method was added",
      paragraphs: [`You can now sign in to your Larder account with ${quoteName(providerName)}.`, NOT_YOU],
    });
  }

  #send(tx: Transaction, accountId: number, kind: NoticeKind, notice: Notice, to?: string): void {
    const category = CATEGORIES[kind];
    const { mail } = this.#options;
    if (!mail.isConfigured) return;
    const user = this.#findRecipient(accountId);
    if (user === undefined || !this.#isEnabled(user, category)) return;
    // An unconfirmed address may be a stranger's: only mails about the sign-in itself are sent to it.
    if (user.isEmailUnconfirmed === true && category !== "always") return;
    const { causedBy, ...content } = notice;
    const message = { ...renderMail(content), to: to ?? user.email, kind, accountId };
    mail.send(tx, { ...message, ...(causedBy !== undefined && { causedBy }) });
  }

  #findRecipient(accountId: number): User | undefined {
    const user = this.#options.users.findById(accountId);
    const canReceive = user !== undefined && user.disabledAtMs === null && user.email !== "";
    return canReceive ? user : undefined;
  }

  #isEnabled({ id }: User, category: MailCategory | "always"): boolean {
    return category === "always" || readSettings(this.#options.users.settingsJson(id)).notifications[category];
  }
}
