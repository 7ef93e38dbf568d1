/**
 * Confirms email addresses with a link in a mail. With the setting mail.verify, an account with an unconfirmed address
 * can use its own files, but neither share files nor open shares for its address.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { EventOf } from "../../../events/catalogue.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import { plural, say } from "../../../translations/say.ts";
import { hashToken } from "../auth/token-hash.ts";
import { confirmationMail } from "../mail/mail-templates.ts";
import type { MailService } from "../mail/service.ts";
import { RateLimitedError } from "../rate-limits/headers.ts";
import { emailKey } from "../users/email.ts";
import type { UserService } from "../users/service.ts";
import { readLanguage } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { confirmationQueries } from "./queries.ts";

/** Dependencies of {@link EmailConfirmation}. */
interface EmailConfirmationOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly users: UserService;
  readonly mail: MailService;
  /** Address of this server, for links; null if no mail is sent. */
  readonly publicUrl: string | null;
}

const HOUR_MS = 60 * 60_000;
/** How long a link is valid. */
const LIFETIME_MS = 24 * HOUR_MS;
/** Mails per hour: for an account, and to an address from all accounts, so that nobody can flood a mailbox. */
const MAILS_MAX = 3;

export class EmailConfirmation {
  readonly #options: EmailConfirmationOptions;
  readonly #queries: ReturnType<typeof confirmationQueries>;

  constructor(options: EmailConfirmationOptions) {
    this.#options = options;
    this.#queries = confirmationQueries(options.sqlite);
  }

  /** Sends the first link to an unconfirmed address, in the transaction that stores the address. */
  sendFirstLink(tx: Transaction, { accountId }: EventOf<"user.email_unconfirmed">): void {
    const { mail, users, log } = this.#options;
    const user = users.findById(accountId);
    if (user === undefined || !mail.isConfigured) return;
    // Links to a former address are no longer valid.
    mail.drop(tx, accountId, "email-confirmation");
    if (this.#nextMailMs(user) === undefined) this.#mailLink(tx, user);
    else log.info("Confirmation email not sent; the limit of three per hour is reached.", { user: user.publicId });
  }

  /**
   * Sends another link to the address of an account; durable when this returns.
   * @returns false if the address is already confirmed
   * @throws AppError rate_limited above three mails an hour; invalid_request if the server sends no mail
   */
  async send(user: User): Promise<boolean> {
    const { writer, clock, mail } = this.#options;
    if (user.isEmailUnconfirmed !== true) return false;
    return writer.run((tx) => {
      const nextMs = this.#nextMailMs(user);
      if (nextMs !== undefined) throw tooManyMails(nextMs, clock.nowMs());
      if (mail.isConfigured && this.#mailLink(tx, user)) return true;
      throw new AppError(
        "invalid_request",
        say`The server can't send the email now. Ask your administrator to confirm your address.`,
      );
    });
  }

  /** The account whose address a link can confirm now; undefined for an invalid link. */
  find(token: string): User | undefined {
    const { users, clock } = this.#options;
    const row = this.#queries.byToken.get(hashToken(token));
    if (row === null || row.expiresAt <= clock.nowMs()) return undefined;
    const user = users.findById(row.userId);
    const isUsable = user !== undefined && user.disabledAtMs === null && emailKey(user.email) === row.emailKey;
    return isUsable ? user : undefined;
  }

  /**
   * Confirms the address that a link was sent to, and uses up the link. Durable when this returns.
   * @throws AppError invalid_token
   */
  async confirm(token: string): Promise<User> {
    const { writer, users, clock } = this.#options;
    return writer.run((tx) => {
      const found = this.find(token);
      if (found === undefined) throw invalidLink();
      this.#queries.end.run(found.id, clock.nowMs());
      return users.confirmEmail(tx, found.id);
    });
  }

  /** Deletes at most `limit` links that are more than a day old. In a transaction. @returns how many */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs() - LIFETIME_MS, limit).changes;
  }

  /** When the next mail may be sent; undefined if now. */
  #nextMailMs({ id, email }: User): number | undefined {
    const sinceMs = this.#options.clock.nowMs() - HOUR_MS;
    const times = [this.#queries.sentFor.all(id, sinceMs), this.#queries.sentTo.all(emailKey(email), sinceMs)];
    const blocking = times.flatMap((rows) => rows[MAILS_MAX - 1]?.createdAt ?? []);
    return blocking.length === 0 ? undefined : Math.max(...blocking) + HOUR_MS;
  }

  /** @returns whether the mail will be sent */
  #mailLink(tx: Transaction, user: User): boolean {
    const { mail, publicUrl, clock, users } = this.#options;
    if (publicUrl === null) return false;
    const token = newSecretToken();
    const nowMs = clock.nowMs();
    this.#queries.add.run(hashToken(token), user.id, emailKey(user.email), nowMs, nowMs + LIFETIME_MS);
    const language = readLanguage(users.settingsJson(user.id));
    return mail.send(tx, {
      ...confirmationMail(language, `${publicUrl}/confirm-email?token=${token}`),
      to: user.email,
      kind: "email-confirmation",
      accountId: user.id,
      usefulMs: LIFETIME_MS,
    });
  }
}

function tooManyMails(nextMs: number, nowMs: number): RateLimitedError {
  const minutes = Math.ceil((nextMs - nowMs) / 60_000);
  const limitResult = {
    allowed: false,
    category: "general",
    limit: MAILS_MAX,
    remaining: 0,
    resetAtMs: nextMs,
  } as const;
  return new RateLimitedError(
    { ...limitResult, windowSeconds: HOUR_MS / 1000 },
    nowMs,
    say`You have requested three emails within an hour. Check your spam folder, or try again in ${plural(minutes, { one: "# minute", other: "# minutes" })}.`,
  );
}

function invalidLink(): AppError {
  return new AppError("invalid_token", say`This link is not valid or has expired. Sign in and request a new one.`);
}
