import type { Config } from "../../../config/settings.ts";
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import { say } from "../../../translations/say.ts";
import { SignupTokens, signupClosed } from "../auth/signup-tokens.ts";
import { hashToken } from "../auth/token-hash.ts";
import { inviteMail } from "../mail/mail-templates.ts";
import type { MailService } from "../mail/service.ts";
import { emailKey, parseEmail } from "../users/email.ts";
import type { UserService } from "../users/service.ts";
import { readLanguage } from "../users/settings.ts";
import type { User } from "../users/types.ts";
import { inviteQueries } from "./queries.ts";
import type { Invite, InviteState, NewInvite } from "./types.ts";

/** Dependencies of {@link InviteService}. */
interface InviteServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly mail: Pick<MailService, "send">;
  /** A `signup` of `closed` closes the page too. */
  readonly config: Pick<Config, "signup" | "defaultPlan">;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 7 * DAY_MS;
const LIFETIME_MS_MAX = 365 * DAY_MS;
/** How long the state of an invitation can be looked up. */
const RETENTION_MS = 90 * DAY_MS;

/** Invitations: each creates one account, with its role and plan. */
export class InviteService {
  readonly #options: InviteServiceOptions;
  readonly #queries: ReturnType<typeof inviteQueries>;
  readonly #signupTokens: SignupTokens;

  constructor(options: InviteServiceOptions) {
    this.#options = options;
    this.#queries = inviteQueries(options.db.sqlite);
    this.#signupTokens = new SignupTokens(options);
  }

  /**
   * Creates an invitation; durable when this returns. An invitation for an address is sent there if mail is configured.
   * @param linkOf the address of the page for a token
   * @param within runs in the same transaction
   * @returns the token, which is shown only here
   * @throws AppError invalid_field | email_taken
   */
  async add(
    newInvite: NewInvite,
    linkOf: (token: string) => string,
    within?: (tx: Transaction, invite: Invite) => void,
  ): Promise<{ invite: Invite; token: string; url: string; isMailed: boolean }> {
    const { writer, clock, users, mail } = this.#options;
    const nowMs = clock.nowMs();
    const email = newInvite.email === undefined ? undefined : parseEmail(newInvite.email);
    const expiresAtMs = newInvite.expiresAtMs ?? nowMs + LIFETIME_MS;
    if (expiresAtMs <= nowMs || expiresAtMs > nowMs + LIFETIME_MS_MAX) {
      throw invalidField("expiresAt", say`An invitation must expire within the next 365 days. Choose another time.`);
    }
    const token = newSecretToken();
    const url = linkOf(token);
    const publicId = newId("inv", nowMs);
    return writer.run((tx) => {
      if (email !== undefined && users.findByEmail(email) !== undefined) {
        throw new AppError(
          "email_taken",
          say`An account with this email already exists. It does not need an invitation.`,
          {
            field: "email",
          },
        );
      }
      if (email !== undefined && users.hasLookalike(email)) {
        throw new AppError(
          "email_taken",
          say`An account with a similar-looking email already exists. Use another email, or create the account yourself.`,
          { field: "email" },
        );
      }
      this.#queries.insert.run(
        publicId,
        hashToken(token),
        email ?? null,
        email === undefined ? null : emailKey(email),
        newInvite.role,
        newInvite.plan ?? null,
        nowMs,
        expiresAtMs,
        newInvite.by?.id ?? null,
      );
      const { by } = newInvite;
      // The language of the invited person is unknown.
      const language = by === undefined ? "en" : readLanguage(users.settingsJson(by.id));
      const mailMessage =
        email === undefined
          ? undefined
          : inviteMail(language, { link: url, expiresAtMs, ...(by !== undefined && { from: by.name }) });
      const isMailed =
        email !== undefined &&
        mailMessage !== undefined &&
        mail.send(tx, { to: email, kind: "invite", usefulMs: expiresAtMs - nowMs, ...mailMessage });
      const invite = this.#get(publicId);
      within?.(tx, invite);
      return { invite, token, url, isMailed };
    });
  }

  /** Open invitations and those of the last 90 days, newest first. */
  list(limit: number, offset: number): { invites: Invite[]; total: number } {
    return { invites: this.#queries.page.all(limit, offset), total: this.#queries.count.get()?.count ?? 0 };
  }

  /** Revokes an invitation, or deletes a used one; durable when this returns. @throws AppError not_found */
  async remove(publicId: string): Promise<void> {
    await this.#options.writer.run(() => {
      this.#get(publicId);
      this.#queries.remove.run(publicId);
    });
  }

  /** The state of an invitation. */
  stateOf({ usedAtMs, expiresAtMs }: Invite): InviteState {
    if (usedAtMs !== null) return "used";
    return expiresAtMs <= this.#options.clock.nowMs() ? "expired" : "open";
  }

  /** The folded address that a token is bound to, or null for any; undefined for an invalid token. */
  addressOf(token: string): string | null | undefined {
    if (this.#options.config.signup === "closed") return undefined;
    try {
      return this.#signupTokens.find(token, "invite").emailKey;
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  /**
   * Creates the account for a token; durable when this returns.
   * @throws AppError signup_closed | invalid_field | email_taken | overloaded
   */
  async accept(
    token: string,
    input: { email: string; password: string; name?: string; language?: string | undefined },
  ): Promise<User> {
    const { users, config } = this.#options;
    const { id, role, plan, emailKey: boundTo } = this.#signupTokens.find(token, "invite");
    if (boundTo !== null && boundTo !== emailKey(input.email)) {
      throw signupClosed(say`This invitation is for another email address. Use the address that it was sent to.`);
    }
    return users.add(
      // The address that the administrator named counts as confirmed.
      { ...input, role, plan: plan ?? config.defaultPlan, isEmailConfirmed: boundTo !== null },
      (tx, userId) => this.#signupTokens.use(tx, id, userId),
    );
  }

  /** Deletes at most `limit` invitations that ended 90 days ago. A transaction. @returns how many */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs() - RETENTION_MS, limit).changes;
  }

  #get(publicId: string): Invite {
    const invite = this.#queries.byPublicId.get(publicId);
    if (invite === null)
      throw new AppError("not_found", say`This invitation was not found. List the invitations to check its ID.`);
    return invite;
  }
}
