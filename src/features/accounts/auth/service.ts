import { eq } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { users as userRows } from "../../../db/schema/users.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { emailKey } from "../users/email.ts";
import type { UserService } from "../users/service.ts";
import type { PlanName, User } from "../users/types.ts";
import { SignupTokens, signupClosed } from "./signup-tokens.ts";
import { DeviceSignIn } from "./device-sign-in.ts";
import { Identities } from "./identities.ts";
import type { PasswordHasher } from "../users/passwords.ts";
import type { ClientInfo, ListedSession, Session, SessionPrincipal } from "./principal.ts";
import { type Exchange, RefreshTokens } from "./refresh-tokens.ts";
import { accountDisabled, badCredentials, revokedToken, secondFactorRequired } from "./refusals.ts";
import type { SecondFactors } from "./second-factors.ts";
import { type PreparedSession, Sessions } from "./sessions.ts";
import type { TokenSigner } from "./tokens.ts";

export { DEVICE_TOKEN_LIFETIME_MS, type PreparedSession } from "./sessions.ts";

/** How long a confirmation of a session counts. */
export const CONFIRMED_MS = 10 * 60_000;

/** Dependencies of {@link AuthService}. */
export interface AuthServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly passwords: PasswordHasher;
  readonly tokens: TokenSigner;
  readonly secondFactors: SecondFactors;
  /** How long an access token opens anything. */
  readonly tokenLifetimeMs: number;
  readonly signup: "open" | "invite" | "closed";
  readonly defaultPlan: PlanName;
}

/** A signed-in token and whose it is. */
export interface SignedIn {
  readonly user: User;
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Somebody who has just given the right password, and the hash that it was checked against. */
export interface CheckedUser {
  readonly user: User;
  readonly passwordHash: string;
  /** A second factor was given too. */
  readonly hasSecondFactor?: boolean;
}

/**
 * Sign-up, sign-in and sessions: the only entry to the files of this folder. Every token names a session row, so ending
 * the row ends the token at once.
 */
export class AuthService {
  readonly #options: AuthServiceOptions;
  readonly #sessions: Sessions;
  readonly #identities: Identities;
  readonly #refreshTokens: RefreshTokens;
  readonly #devices: DeviceSignIn;
  readonly #signupTokens: SignupTokens;

  constructor(options: AuthServiceOptions) {
    this.#options = options;
    this.#sessions = new Sessions({ ...options, onEnded: () => this.dropCaches() });
    this.#identities = new Identities({ ...options, sessions: this.#sessions });
    this.#refreshTokens = new RefreshTokens(options.db.sqlite, options.clock);
    this.#devices = new DeviceSignIn(this.#sessions, this.#refreshTokens);
    this.#signupTokens = new SignupTokens(options);
    options.users.onChange(() => this.dropCaches());
  }

  /** Forgets who tokens belong to: something about accounts or sessions changed, here or in another process. */
  dropCaches(): void {
    this.#identities.dropCache();
  }

  /** Finds the user and session of a token. @throws AppError invalid_token | expired_token | revoked_token */
  identify(token: string): SessionPrincipal | Promise<SessionPrincipal> {
    return this.#identities.identify(token);
  }

  /**
   * The user as they are now whose request was begun earlier. A token that expired since then still counts while nobody
   * has ended the sign-in, and one that was refreshed counts as its successor does. Synchronous and uncached: may be
   * called inside a transaction.
   * @throws AppError revoked_token where the sign-in has ended, or the account is disabled or gone
   */
  confirmSignedIn({ user, session }: SessionPrincipal): User {
    const present = this.#options.users.findById(user.id);
    const isSignedIn = this.#sessions.isSignedIn(user.id, session.originId);
    if (present === undefined || present.disabledAtMs !== null || !isSignedIn) throw revokedToken();
    return present;
  }

  /**
   * Creates an account, as far as the configuration allows, and signs it in.
   * @throws AppError signup_closed | invalid_field | email_taken | overloaded
   */
  async signUp(
    input: { email: string; password: string; name?: string | undefined; invite?: string | undefined },
    client: ClientInfo,
  ): Promise<SignedIn> {
    const { signup, users, defaultPlan } = this.#options;
    if (signup === "closed")
      throw signupClosed("You can't create an account on this server. Ask your administrator for one.");
    // Where anybody may sign up, an unknown invitation is ignored. A used or expired one is an error.
    const isInvited = signup === "invite" || this.#signupTokens.isInvite(input.invite);
    const invite = isInvited ? this.#signupTokens.find(input.invite, "invite") : undefined;
    if (invite?.emailKey && invite.emailKey !== emailKey(input.email)) {
      throw signupClosed("This invitation is for another email address. Use the address that it was sent to.");
    }
    const user = await users.add(
      {
        email: input.email,
        password: input.password,
        ...(input.name !== undefined && { name: input.name }),
        role: invite?.role ?? "user",
        plan: invite?.plan ?? defaultPlan,
        // The administrator who invites names the address.
        isEmailConfirmed: typeof invite?.emailKey === "string",
      },
      invite && ((tx, userId) => this.#signupTokens.use(tx, invite.id, userId)),
    );
    return this.#startSession(user, "web", client);
  }

  /**
   * Checks the password of an enabled account. Unknown accounts and wrong passwords take the same time and give the
   * same error. Only the right password learns that an account is disabled.
   * @throws AppError bad_credentials | account_disabled | overloaded
   */
  async checkPassword(email: string, password: string): Promise<CheckedUser> {
    const found = this.#options.users.findCredentials(email);
    const isRight = await this.#options.passwords.verify(password, found?.passwordHash);
    if (!isRight || found === undefined) throw badCredentials();
    if (found.user.disabledAtMs !== null) throw accountDisabled();
    return found;
  }

  /**
   * Checks everything that a sign-in needs: the password and, if the account has one, the second factor. The code is
   * used up in any case. Only the right password learns that a code is needed.
   * @throws AppError bad_credentials | account_disabled | overloaded | second_factor_required | invalid_code
   */
  async checkCredentials(email: string, password: string, code: string | undefined): Promise<CheckedUser> {
    const checked = await this.checkPassword(email, password);
    const { secondFactors } = this.#options;
    const methods = secondFactors.methodsOf(checked.user.id);
    if (methods.length === 0) return checked;
    if (code === undefined || code === "") throw secondFactorRequired(methods);
    await secondFactors.use(checked.user.id, code);
    return { ...checked, hasSecondFactor: true };
  }

  /**
   * The user as of the caller's transaction. A password that was replaced during its check has no effect.
   * @throws AppError bad_credentials | account_disabled
   */
  confirmPassword(_tx: Transaction, { user, passwordHash }: CheckedUser): User {
    const stored = this.#options.db.orm
      .select({ passwordHash: userRows.passwordHash })
      .from(userRows)
      .where(eq(userRows.id, user.id))
      .get();
    const present = this.#options.users.findById(user.id);
    if (present === undefined || stored?.passwordHash !== passwordHash) throw badCredentials();
    if (present.disabledAtMs !== null) throw accountDisabled();
    return present;
  }

  /**
   * The same for a sign-in: nobody begins a session without the second factor that the account asks for by now.
   * @throws AppError bad_credentials | account_disabled | second_factor_required
   */
  confirm(tx: Transaction, checked: CheckedUser): User {
    const present = this.confirmPassword(tx, checked);
    const methods = checked.hasSecondFactor === true ? [] : this.#options.secondFactors.methodsOf(present.id);
    if (methods.length > 0) throw secondFactorRequired(methods);
    return present;
  }

  /**
   * Signs a user in whose credentials have just been checked. Durable when this returns.
   * @throws AppError bad_credentials | account_disabled | second_factor_required where that changed during the check
   */
  async signIn(checked: CheckedUser, client: ClientInfo): Promise<SignedIn> {
    return this.#beginSession(checked.user, client, (tx) => this.confirm(tx, checked));
  }

  /**
   * Signs a user in who proved otherwise who they are: by a passkey, to another service that vouches for them, or
   * because they have made the account just now. No password and no second factor is asked. Durable when this returns.
   * @param within runs in the same transaction, before the session begins: for what proves it (a counter, a used ticket)
   * @throws AppError bad_credentials where the account is gone | account_disabled; what `within` throws
   */
  async signInConfirmed(user: User, client: ClientInfo, within?: (tx: Transaction) => void): Promise<SignedIn> {
    return this.#beginSession(user, client, (tx) => {
      const present = this.#options.users.findById(user.id);
      if (present === undefined) throw badCredentials();
      if (present.disabledAtMs !== null) throw accountDisabled();
      within?.(tx);
      return present;
    });
  }

  /**
   * Lets a session count as confirmed from now on, for {@link CONFIRMED_MS}, in the caller's transaction. It ends with
   * the session, and with a new password or second factor.
   * @returns until when
   */
  confirmSession(_tx: Transaction, { publicId }: Session): number {
    const untilMs = this.#options.clock.nowMs() + CONFIRMED_MS;
    this.#sessions.confirm(publicId, untilMs);
    return untilMs;
  }

  /** Until when a session counts as confirmed, where it does now. */
  confirmedUntil({ publicId }: Session): number | undefined {
    const untilMs = this.#sessions.find(publicId)?.confirmedUntilMs ?? 0;
    const leftMs = untilMs - this.#options.clock.nowMs();
    // A clock that was set back must not make it longer.
    return leftMs > 0 && leftMs <= CONFIRMED_MS ? untilMs : undefined;
  }

  /** A session that has not been ended; it may have expired. */
  findSession(publicId: string): Session | undefined {
    return this.#sessions.find(publicId)?.session;
  }

  /** No session of this user counts as confirmed any longer. In the caller's transaction. */
  endConfirmations(_tx: Transaction, userId: number): void {
    this.#sessions.endConfirmations(userId);
  }

  /** A session for a device of this user, to be begun by {@link signInDevice} or {@link refreshDevice}. */
  async prepareDeviceSession(user: User, client: ClientInfo): Promise<PreparedSession> {
    return this.#sessions.prepare(user, "mobile", client);
  }

  /** Signs a device in, in the caller's transaction, and ends its former session. @returns its refresh token */
  signInDevice(tx: Transaction, deviceId: number, prepared: PreparedSession): string {
    return this.#devices.begin(tx, deviceId, prepared);
  }

  /** Row id of the device that received a refresh token, valid or not. */
  findRefreshedDevice(refreshToken: string): number | undefined {
    return this.#refreshTokens.findOwner(refreshToken)?.deviceId;
  }

  /**
   * Exchanges a device's refresh token and begins the session, in the caller's transaction. A token that comes a second
   * time ends everything of the device; every other rejection changes nothing.
   */
  refreshDevice(tx: Transaction, deviceId: number, refreshToken: string, prepared: PreparedSession): Exchange {
    return this.#devices.refresh(tx, deviceId, refreshToken, prepared);
  }

  /** Ends all sessions and refresh tokens of a device, in the caller's transaction: it must sign in again. */
  endDevice(tx: Transaction, deviceId: number): void {
    this.#devices.end(tx, deviceId);
  }

  /** A token for scripts, as `larder user token` gives it. @param kind where it is shown in the list of sessions */
  async issueToken(user: User, kind: Session["kind"]): Promise<{ token: string; expiresAtMs: number }> {
    return this.#startSession(user, kind);
  }

  /** A new session in place of this one, whose token is dead at once. A device's stays the device's. */
  async refresh(principal: SessionPrincipal, client: ClientInfo): Promise<SignedIn> {
    const { session, user, device } = principal;
    const prepared = await this.#sessions.prepare(user, session.kind, client);
    await this.#options.writer.run((tx) => {
      // Two refreshes of one token at the same time: only one of them may live on.
      if (!this.#sessions.end(tx, session.publicId)) throw revokedToken();
      this.#sessions.begin(prepared, device?.id, session.originId);
      if (device !== undefined) {
        this.#refreshTokens.moveSession(device.id, session.publicId, prepared.row.publicId);
      }
    });
    return { user, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }

  /**
   * Ends this session, or all of the user's. A device is signed in as a whole: with one of its sessions end all of
   * them, and its refresh tokens.
   */
  async signOut(principal: SessionPrincipal, everywhere: boolean): Promise<void> {
    const { user, session, device } = principal;
    await this.#options.writer.run((tx) => {
      if (everywhere) this.endSessions(tx, user.id);
      else if (device !== undefined) this.endDevice(tx, device.id);
      else this.#sessions.end(tx, session.publicId);
    });
  }

  /**
   * Ends all sessions of a user, and the refresh tokens of all devices, also of those that are away; but, where given,
   * for one session and its device's refresh tokens. API keys stay. In the caller's transaction.
   */
  endSessions(tx: Transaction, userId: number, except?: Session): void {
    const staying = except && this.#sessions.find(except.publicId);
    this.#sessions.endOfUser(tx, userId, except);
    this.#refreshTokens.endOfUser(userId, staying?.deviceId ?? undefined);
  }

  /**
   * Ends one session of a user; a device's with everything that the device is signed in by.
   * @param check runs first in the same transaction; what it throws undoes it
   * @throws AppError not_found for unknown ones and for those of others
   */
  async endSession(userId: number, publicId: string, check?: (tx: Transaction) => unknown): Promise<void> {
    await this.#options.writer.run((tx) => {
      check?.(tx);
      const stored = this.#sessions.find(publicId);
      if (stored?.userId !== userId) {
        throw new AppError("not_found", "This session was not found. It may already have ended.");
      }
      if (stored.deviceId === null) this.#sessions.end(tx, publicId);
      else this.endDevice(tx, stored.deviceId);
    });
  }

  /**
   * The sessions of a user, newest first. A device is listed once: by the caller's session, otherwise by its newest
   * one. It stays listed while its refresh token is valid, so that a lost phone can be signed out after its access
   * token has expired.
   */
  listSessions(userId: number, asking?: Session): ListedSession[] {
    return this.#sessions.list(userId, asking);
  }

  /**
   * Removes sessions and refresh tokens that have expired, so many of each at most; but not the session by which a
   * device is listed that may come back. Indexes sessions_expiry, refresh_tokens_expiry. @returns how many
   */
  async sweepSessions(limit: number): Promise<number> {
    return this.#options.writer.run(() => this.#refreshTokens.sweep(limit) + this.#sessions.sweep(limit));
  }

  /**
   * A new one-time token for the set-up page, valid for a day; earlier ones die.
   * @returns undefined where there is an administrator already
   */
  async newSetupToken(): Promise<string | undefined> {
    return this.#options.users.hasAdministrator() ? undefined : this.#signupTokens.newSetupToken();
  }

  /** Whether this token opens the set-up page now: until there is an administrator, also where other accounts exist. */
  isSetupToken(token: string): boolean {
    if (this.#options.users.hasAdministrator()) return false;
    try {
      return this.#signupTokens.find(token, "setup").id > 0;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** Makes the first administrator. @throws AppError signup_closed | invalid_field | email_taken | overloaded */
  async setUp(token: string, input: { email: string; password: string; name?: string }, plan: PlanName): Promise<User> {
    const { users } = this.#options;
    const { id } = this.#signupTokens.find(token, "setup");
    return users.add(
      { ...input, role: "admin", plan, isEmailConfirmed: true },
      (tx, userId) => this.#signupTokens.use(tx, id, userId),
      // Another administrator may have been made while the password was hashed.
      () => {
        if (users.hasAdministrator())
          throw signupClosed("This server already has an administrator. Sign in to that account.");
      },
    );
  }

  /** A new session, and the token that names it. */
  async #startSession(user: User, kind: Session["kind"], client?: ClientInfo): Promise<SignedIn> {
    const prepared = await this.#sessions.prepare(user, kind, client);
    await this.#options.writer.run(() => this.#sessions.begin(prepared));
    return { user, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }

  /** The same for whom `confirm` lets in: in the same transaction. */
  async #beginSession(user: User, client: ClientInfo, confirm: (tx: Transaction) => User): Promise<SignedIn> {
    const prepared = await this.#sessions.prepare(user, "web", client);
    const present = await this.#options.writer.run((tx) => {
      const confirmed = confirm(tx);
      this.#sessions.begin(prepared);
      return confirmed;
    });
    return { user: present, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }
}
