/**
 * Password reset by mail. A response must not show whether an account exists. So a request only stores the address,
 * known or not, in the same transaction and the same time. A background task then looks the account up.
 */
import type { Database } from "bun:sqlite";
import { timingSafeEqual } from "node:crypto";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import { checkNewPassword } from "../users/passwords.ts";
import type { AuthService } from "../auth/service.ts";
import { hashToken } from "../auth/token-hash.ts";
import { resetMail } from "../mail/mail-templates.ts";
import type { MailService } from "../mail/service.ts";
import type { CredentialRevoker } from "../profile/change-profile.ts";
import { emailKey } from "../users/email.ts";
import { checkLinkAccount } from "../users/link-account.ts";
import type { UserService } from "../users/service.ts";
import { readLanguage } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { resetQueries } from "./queries.ts";

/** Dependencies of {@link PasswordReset}. */
interface PasswordResetOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly users: UserService;
  readonly auth: Pick<AuthService, "endSessions">;
  readonly credentialRevoker: CredentialRevoker;
  readonly events: Events;
  readonly mail: MailService;
  /** Address of this server, for links; null if no mail is sent. */
  readonly publicUrl: string | null;
}

/** How long a link is valid. */
export const RESET_LIFETIME_MS = 30 * 60_000;
/**
 * Mails to one account within the lifetime of a link, so that nobody can flood a mailbox. The last link that was sent
 * stays valid.
 */
const MAILS_MAX = 3;
/** Queued requests. A flood fills this queue and nothing else. */
const REQUESTS_MAX = 1_000;
const REQUESTS_AT_ONCE = 20;

export class PasswordReset {
  readonly #options: PasswordResetOptions;
  readonly #queries: ReturnType<typeof resetQueries>;
  #isHandling = false;

  constructor(options: PasswordResetOptions) {
    this.#options = options;
    this.#queries = resetQueries(options.sqlite);
  }

  /** Whether a link can be requested by mail at all. */
  get isByMail(): boolean {
    return this.#options.mail.isConfigured;
  }

  /**
   * Records a request for a new password; durable when this returns, and the same for every address. If there is an
   * enabled account, a mail with a link follows, at most three within 30 minutes.
   */
  async request(email: string): Promise<void> {
    const { writer, clock } = this.#options;
    const key = emailKey(email);
    await writer.run(() => this.#queries.note.run(key, clock.nowMs(), REQUESTS_MAX));
    setImmediate(() => this.handleRequests());
  }

  /** Sends the requested links; also called at the start, for requests from before a crash. Never throws. */
  handleRequests(): void {
    if (this.#isHandling) return;
    this.#isHandling = true;
    void this.#handleAll()
      .catch((error: unknown) =>
        this.#options.log.error("Could not process password reset requests; will retry with the next request.", {
          error,
        }),
      )
      .finally(() => {
        this.#isHandling = false;
      });
  }

  /**
   * The token of a new link for an account; earlier ones end. It is valid once, for 30 minutes, and only until the
   * email or the password changes. In the caller's transaction.
   * @throws AppError not_found | account_disabled
   */
  issue(_tx: Transaction, userId: number): string {
    const { users, clock } = this.#options;
    checkLinkAccount(users, userId);
    const token = newSecretToken();
    const nowMs = clock.nowMs();
    this.#queries.put.run(userId, hashToken(token), this.#hashCredentials(userId), nowMs, nowMs + RESET_LIFETIME_MS);
    return token;
  }

  /** Whether a link is valid now. */
  isOpen(token: string): boolean {
    return this.#find(token) !== undefined;
  }

  /**
   * Sets a new password with a link; durable when this returns. All sessions end, including those of phones, and with
   * `endKeys` also the API keys and app passwords. Passkeys and the second factor stay.
   * @throws AppError invalid_field (the link stays valid) | invalid_token | overloaded
   */
  async reset(token: string, newPassword: string, endKeys: boolean): Promise<User> {
    checkNewPassword(newPassword, "newPassword");
    const { users, auth, credentialRevoker, events } = this.#options;
    const found = this.#find(token);
    if (found === undefined) throw invalidLink();
    return users.update(
      found.id,
      { password: newPassword },
      (tx, { id: accountId }) => {
        auth.endSessions(tx, accountId);
        if (endKeys) credentialRevoker.revokeAll(tx, accountId);
        events.emit(tx, "security.credentials_changed", { accountId, what: "password", deviceId: null });
      },
      // During hashing, the link may have been used, or the account may have changed.
      () => {
        if (this.#find(token)?.id !== found.id) throw invalidLink();
        this.#queries.remove.run(found.id);
      },
    );
  }

  /** Ends the link of an account, in the transaction that changes its password or email. */
  forget(tx: Transaction, accountId: number): void {
    this.#queries.remove.run(accountId);
    this.#options.mail.drop(tx, accountId, "password-reset");
  }

  /** Deletes at most `limit` expired links, in the caller's transaction. @returns how many */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs(), limit).changes;
  }

  async #handleAll(): Promise<void> {
    const { writer } = this.#options;
    while (await writer.run((tx) => this.#handleBatch(tx)));
  }

  /** @returns whether there may be more */
  #handleBatch(tx: Transaction): boolean {
    const { users, log } = this.#options;
    for (let count = 0; count < REQUESTS_AT_ONCE; count++) {
      const request = this.#queries.take.get();
      if (request === null) return false;
      const user = users.findByEmail(request.emailKey);
      if (user === undefined || user.disabledAtMs !== null) continue;
      try {
        this.#mailLink(tx, user);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // Skips only this account, so that the others do not wait behind it.
        log.error("Could not send a password reset email.", { user: user.publicId, error });
      }
    }
    return true;
  }

  #mailLink(tx: Transaction, user: User): void {
    const { mail, publicUrl, users, log } = this.#options;
    if (publicUrl === null) return;
    if (mail.countWithin(user.id, "password-reset", RESET_LIFETIME_MS) >= MAILS_MAX) {
      const text = "Password reset email not sent; the limit for this account within 30 minutes is reached.";
      log.info(text, { user: user.publicId });
      return;
    }
    // The earlier link ends, so its mail is no longer needed.
    mail.drop(tx, user.id, "password-reset");
    const language = readLanguage(users.settingsJson(user.id));
    mail.send(tx, {
      ...resetMail(language, resetLink(publicUrl, this.issue(tx, user.id)), RESET_LIFETIME_MS),
      to: user.email,
      kind: "password-reset",
      accountId: user.id,
      usefulMs: RESET_LIFETIME_MS,
    });
  }

  #find(token: string): User | undefined {
    const { users, clock } = this.#options;
    const row = this.#queries.byToken.get(hashToken(token));
    if (row === null || row.expiresAt <= clock.nowMs()) return undefined;
    const user = users.findById(row.userId);
    if (user === undefined || user.disabledAtMs !== null) return undefined;
    return timingSafeEqual(row.basis, this.#hashCredentials(user.id)) ? user : undefined;
  }

  /** The state that a link depends on: any change of the email or the password ends the link. */
  #hashCredentials(userId: number): Buffer {
    const row = this.#queries.credentials.get(userId);
    return hashToken(`${row?.emailKey ?? ""}\0${row?.passwordHash ?? ""}`);
  }
}

/** The address of the page on which a new password is set. The token opens only that. */
export function resetLink(baseUrl: string, token: string): string {
  return `${baseUrl}/reset-password?token=${token}`;
}

function invalidLink(): AppError {
  return new AppError("invalid_token", say`This link is not valid or has expired. Request a new one.`);
}
