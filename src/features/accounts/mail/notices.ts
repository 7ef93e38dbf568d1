/** Mails that tell what happened. Listeners, inside the deed; `server/subscriptions.ts` says which event each hears. */
import type { Transaction } from "../../../db/transaction.ts";
import type { CredentialName, EventOf } from "../../../events/catalogue.ts";
import type { UserService } from "../users/service.ts";
import { readSettings } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { quoteName, writeLetter, type LetterContent } from "./letter.ts";
import type { MailService } from "./service.ts";
import type { MailCategory, MailKind } from "./types.ts";

/** What {@link MailNotices} works with. */
export interface MailNoticesOptions {
  readonly mail: MailService;
  readonly users: Pick<UserService, "findById" | "settingsJson">;
  /** Address of this server, without a slash at the end. */
  readonly baseUrl: string;
}

const NOT_YOU = "If that wasn't you, turn to whoever runs this server at once.";

/** What was changed of an account's further factors: subject and sentence. */
const FACTOR_CHANGES: Readonly<Record<Exclude<CredentialName, "password" | "email">, readonly [string, string]>> = {
  two_factor_on: ["Two-factor sign-in is on", "Two-factor sign-in was switched on for your Larder account."],
  two_factor_off: ["Two-factor sign-in is off", "Two-factor sign-in was switched off for your Larder account."],
  recovery_codes: ["Your recovery codes were replaced", "The recovery codes of your Larder account were replaced."],
  passkey_added: ["A passkey was added", "A passkey was added to your Larder account. Whoever has it gets in."],
  passkey_removed: ["A passkey was removed", "A passkey of your Larder account was removed. It no longer signs in."],
};

/** See the head of this file. */
export class MailNotices {
  readonly #options: MailNoticesOptions;

  constructor(options: MailNoticesOptions) {
    this.#options = options;
  }

  /** To the recipient of a share between accounts. */
  shareReceived(tx: Transaction, { accountId, share, ownerName }: EventOf<"share.received">): void {
    const what = share.node.type === "file" ? "the file" : "the folder";
    this.#tell(tx, accountId, "share-received", "shares", {
      subject: "Something was shared with you",
      paragraphs: [
        `${quoteName(ownerName)} shared ${what} ${quoteName(share.node.name)} with you. Sign in to see it among what is ` +
          "shared with you.",
      ],
      link: { label: "Open Larder", url: `${this.#options.baseUrl}/` },
    });
  }

  /** To the owner of an account that fills up. */
  storageWarning(tx: Transaction, { accountId, percentage }: EventOf<"storage.warning">): void {
    const isFull = percentage === 100;
    this.#tell(tx, accountId, "storage-warning", "storage", {
      subject: isFull ? "Your storage is full" : `Your storage is ${percentage} % full`,
      paragraphs: [
        isFull
          ? "Your storage is full. New files are refused until there is room."
          : `Your storage is ${percentage} % full.`,
        "Delete what you don't need, or ask whoever runs this server for more room.",
      ],
    });
  }

  /** To the owner of files whose contents are damaged. */
  contentsDamaged(tx: Transaction, { accountId, files, names }: EventOf<"storage.damaged">): void {
    const listed = names.map(quoteName).join(", ");
    this.#tell(tx, accountId, "storage-damaged", "storage", {
      subject: files === 1 ? "A file is damaged on the server" : `${files} files are damaged on the server`,
      paragraphs: [
        `The stored contents of ${listed}${files > names.length ? ` and ${files - names.length} more` : ""} are damaged ` +
          "or missing. The files stay listed, and can't be opened.",
        "Upload the same files again from where you still have them, and they are whole again.",
      ],
    });
  }

  /** To administrators. */
  serverDamaged(tx: Transaction, { accountId, contents, database }: EventOf<"server.damaged">): void {
    this.#tell(tx, accountId, "server-damaged", "security", {
      subject: database ? "The database is damaged" : "Stored contents are damaged",
      paragraphs: [
        database
          ? "The nightly look through the database found damage. Stop the server, and run: larder verify"
          : `${contents} stored contents are damaged or missing. Check the disk; larder verify tells which files they ` +
            "are, and larder heal --from BACKUP puts good copies back.",
      ],
    });
  }

  /** To administrators. */
  bucketAway(tx: Transaction, { accountId, problem, contents }: EventOf<"server.bucket_away">): void {
    this.#tell(tx, accountId, "bucket-away", "security", {
      subject: "The bucket can't be used",
      paragraphs: [
        problem,
        `${contents} contents lie on the server's disk alone, and go to the bucket when it works again. Files that lie in ` +
          "the bucket alone can't be opened until then.",
      ],
    });
  }

  /**
   * To the owner, whatever they prefer: whoever took an account over could turn it off. Of a changed e-mail address, the
   * former one hears.
   */
  credentialsChanged(
    tx: Transaction,
    { accountId, what, emailBefore, byAdministrator }: EventOf<"security.credentials_changed">,
  ): void {
    const by = byAdministrator === true ? " by an administrator" : "";
    if (what === "password") {
      const sentence = `The password of your Larder account was changed${by}. Phones and browsers have to sign in again.`;
      const content = { subject: "Your password was changed", paragraphs: [sentence, NOT_YOU] };
      this.#tell(tx, accountId, "password-changed", "always", content);
    } else if (what === "email") {
      const sentence = `The e-mail address of your Larder account was changed${by}. This one no longer signs in to it.`;
      const content = { subject: "Your e-mail address was changed", paragraphs: [sentence, NOT_YOU] };
      this.#tell(tx, accountId, "email-changed", "always", content, emailBefore);
    } else {
      const [subject, sentence] = FACTOR_CHANGES[what];
      this.#tell(tx, accountId, "sign-in-changed", "always", { subject, paragraphs: [sentence, NOT_YOU] });
    }
  }

  /** To the owner of a new API key. */
  apiKeyCreated(tx: Transaction, { accountId, name }: EventOf<"security.api_key_created">): void {
    this.#tell(tx, accountId, "api-key-created", "security", {
      subject: "A new API key was made",
      paragraphs: [
        `An API key named ${quoteName(name)} was made for your Larder account. Whoever has it gets in without a password.`,
        "If that wasn't you, delete it and change your password.",
      ],
    });
  }

  /** To the owner of an account that somebody can now enter by an identity provider. Whatever they prefer, as above. */
  signInLinked(tx: Transaction, accountId: number, providerName: string): void {
    this.#tell(tx, accountId, "sign-in-linked", "always", {
      subject: "A new way to sign in was added",
      paragraphs: [`Your Larder account can now be entered by ${quoteName(providerName)}.`, NOT_YOU],
    });
  }

  #tell(
    tx: Transaction,
    accountId: number,
    kind: MailKind,
    category: MailCategory | "always",
    content: LetterContent,
    to?: string,
  ): void {
    const { mail } = this.#options;
    if (!mail.isConfigured) return;
    const user = this.#findRecipient(accountId);
    if (user === undefined || !this.#isWanted(user, category)) return;
    // An address that nobody has confirmed may be a stranger's: only what concerns the sign-in itself is sent there.
    if (user.isEmailUnconfirmed === true && category !== "always") return;
    mail.send(tx, { ...writeLetter(content), to: to ?? user.email, kind, accountId });
  }

  #findRecipient(accountId: number): User | undefined {
    const user = this.#options.users.findById(accountId);
    const isThere = user !== undefined && user.disabledAtMs === null && user.email !== "";
    return isThere ? user : undefined;
  }

  #isWanted({ id }: User, category: MailCategory | "always"): boolean {
    return category === "always" || readSettings(this.#options.users.settingsJson(id)).notifications[category];
  }
}
