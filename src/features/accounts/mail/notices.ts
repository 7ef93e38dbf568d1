/**
 * Mails about events. Its methods are listeners, inside the transaction; `server/subscriptions.ts` connects events and
 * listeners.
 */
import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf } from "../../../events/catalogue.ts";
import { formatList } from "../../../translations/formats.ts";
import type { UserService } from "../users/service.ts";
import { readLanguage, readSettings } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { renderMail, safeName, type MailContent } from "./render-mail.ts";
import type { MailService } from "./service.ts";
import { mailTexts } from "./text.ts";
import type { MailCategory, MailKind } from "./types.ts";

/** Dependencies of {@link MailNotices}. */
export interface MailNoticesOptions {
  readonly mail: MailService;
  readonly users: Pick<UserService, "findById" | "findByPublicId" | "settingsJson">;
  /** Address of this server, without a slash at the end. */
  readonly baseUrl: string;
}

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

/** Writes a mail in the language of its recipient. */
type ToNotice = (text: ReturnType<typeof mailTexts>, language: string) => Notice;

/** Sends mails about events. */
export class MailNotices {
  readonly #options: MailNoticesOptions;

  constructor(options: MailNoticesOptions) {
    this.#options = options;
  }

  /** To the recipient of a share between accounts. */
  shareReceived(tx: Transaction, { accountId, share, ownerId, ownerName, isMailed }: EventOf<"share.received">): void {
    if (isMailed === false) return;
    const { baseUrl, users } = this.#options;
    const { type, name } = share.node;
    const values = { owner: safeName(ownerName), name: safeName(name) };
    this.#send(tx, accountId, "share-received", (text) => ({
      subject: text.shared(type),
      paragraphs: [text.sharedText(type, values)],
      link: { label: text.open, url: `${baseUrl}/` },
      causedBy: users.findByPublicId(ownerId)?.id,
    }));
  }

  /** To the owner of an account that is almost full. */
  storageWarning(tx: Transaction, { accountId, percentage: percent }: EventOf<"storage.warning">): void {
    this.#send(tx, accountId, "storage-warning", (text) =>
      percent === 100
        ? { subject: text.storageFull, paragraphs: [text.storageFullText, text.storageHint] }
        : { subject: text.storage({ percent }), paragraphs: [text.storageText({ percent }), text.storageHint] },
    );
  }

  /** To the owner of damaged files. */
  contentsDamaged(tx: Transaction, { accountId, files, names: some }: EventOf<"storage.damaged">): void {
    const more = files - some.length;
    this.#send(tx, accountId, "storage-damaged", (text, language) => {
      const quoted = some.map((name) => text.damagedName({ name: safeName(name) }));
      const names = formatList(language, quoted);
      const listed = more > 0 ? text.damagedTextMore({ names, more }) : text.damagedText({ names });
      return { subject: text.damaged({ n: files }), paragraphs: [listed, text.damagedHint] };
    });
  }

  /** To administrators. */
  serverDamaged(tx: Transaction, { accountId, contents, database }: EventOf<"server.damaged">): void {
    this.#send(tx, accountId, "server-damaged", (text) =>
      database
        ? { subject: text.database, paragraphs: [text.databaseText] }
        : { subject: text.blobs, paragraphs: [text.blobsText({ n: contents })] },
    );
  }

  /** To administrators. */
  bucketAway(tx: Transaction, { accountId, problem, contents }: EventOf<"server.bucket_away">): void {
    this.#send(tx, accountId, "bucket-away", (text) => ({
      subject: text.bucket,
      paragraphs: [problem, text.bucketText({ n: contents })],
    }));
  }

  /**
   * To the owner, regardless of their settings, because an attacker could turn this mail off. A change of the email
   * address is reported to the former address.
   */
  credentialsChanged(
    tx: Transaction,
    { accountId, what, emailBefore, byAdministrator }: EventOf<"security.credentials_changed">,
  ): void {
    const byOther = byAdministrator === true;
    if (what === "password") {
      this.#send(tx, accountId, "password-changed", (text) => ({
        subject: text.password,
        paragraphs: [byOther ? text.passwordTextByAdministrator : text.passwordText, text.notYou],
      }));
    } else if (what === "email") {
      const toContent: ToNotice = (text) => ({
        subject: text.email,
        paragraphs: [byOther ? text.emailTextByAdministrator : text.emailText, text.notYou],
      });
      this.#send(tx, accountId, "email-changed", toContent, emailBefore);
    } else {
      this.#send(tx, accountId, "sign-in-changed", (text) => ({
        subject: text.factors(what),
        paragraphs: [text.factorTexts(what), text.notYou],
      }));
    }
  }

  /** To the owner of a new API key. */
  apiKeyCreated(tx: Transaction, { accountId, name }: EventOf<"security.api_key_created">): void {
    this.#send(tx, accountId, "api-key-created", (text) => ({
      subject: text.apiKey,
      paragraphs: [text.apiKeyText({ name: safeName(name) }), text.apiKeyHint],
    }));
  }

  /** To the owner of a new app password. */
  appPasswordCreated(tx: Transaction, { accountId, name }: EventOf<"security.app_password_created">): void {
    this.#send(tx, accountId, "app-password-created", (text) => ({
      subject: text.appPassword,
      paragraphs: [text.appPasswordText({ name: safeName(name) }), text.appPasswordHint],
    }));
  }

  /**
   * To the owner of an account that an identity provider can now sign in to. Sent regardless of their settings, as
   * above.
   */
  signInLinked(tx: Transaction, accountId: number, providerName: string): void {
    this.#send(tx, accountId, "sign-in-linked", (text) => ({
      subject: text.signIn,
      paragraphs: [text.signInText({ name: safeName(providerName) }), text.notYou],
    }));
  }

  #send(tx: Transaction, accountId: number, kind: NoticeKind, toNotice: ToNotice, to?: string): void {
    const category = CATEGORIES[kind];
    const { mail, users } = this.#options;
    if (!mail.isConfigured) return;
    const user = this.#findRecipient(accountId);
    if (user === undefined) return;
    const settings = users.settingsJson(accountId);
    if (category !== "always" && !readSettings(settings).notifications[category]) return;
    // An unconfirmed address may be a stranger's: only mails about the sign-in itself are sent to it.
    if (user.isEmailUnconfirmed === true && category !== "always") return;
    const language = readLanguage(settings);
    const { causedBy, ...content } = toNotice(mailTexts(language), language);
    const message = { ...renderMail(language, content), to: to ?? user.email, kind, accountId };
    mail.send(tx, { ...message, ...(causedBy !== undefined && { causedBy }) });
  }

  #findRecipient(accountId: number): User | undefined {
    const user = this.#options.users.findById(accountId);
    const canReceive = user !== undefined && user.disabledAtMs === null && user.email !== "";
    return canReceive ? user : undefined;
  }
}
