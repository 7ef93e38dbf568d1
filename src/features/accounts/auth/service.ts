import type { Config } from "../../../config/settings.ts";
import { eq } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { users as userRows } from "../../../db/schema/users.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import { emailKey } from "../users/email.ts";
import type { UserService } from "../users/service.ts";
import type { NewUser, PlanName, User } from "../users/types.ts";
import { SignupTokens, signupClosed } from "./signup-tokens.ts";
import { DeviceSignIn } from "./device-sign-in.ts";
import { Identities } from "./identities.ts";
import type { PasswordHasher } from "../users/passwords.ts";
import type { ClientInfo, ListedSession, Session, SessionPrincipal } from "./principal.ts";
import { type Exchange, RefreshTokens } from "./refresh-tokens.ts";
import { accountDisabled, badCredentials, revokedToken, secondFactorRequired } from "./rejections.ts";
import type { SecondFactors } from "./second-factors.ts";
import { type PreparedSession, sessionNotFound, Sessions } from "./sessions.ts";
import type { TokenSigner } from "./tokens.ts";

export { DEVICE_TOKEN_LIFETIME_MS, type PreparedSession } from "./sessions.ts";

/** How long a confirmation of a session counts. */
const CONFIRMED_MS = 10 * 60_000;

/** Dependencies of {@link AuthService}. */
interface AuthServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly passwords: PasswordHasher;
  readonly tokens: TokenSigner;
  readonly secondFactors: SecondFactors;
  /** How long an access token is valid. */
  readonly tokenLifetimeMs: number;
  readonly config: Pick<Config, "signup" | "defaultPlan">;
}

/** A new token and its user. */
export interface SignedIn {
  readonly user: User;
  readonly token: string;
  readonly expiresAtMs: number;
}

/** A user who has just given the right password, and the hash that it was checked against. */
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

  /** Drops the cached owners of tokens: something about accounts or sessions changed, here or in another process. */
  dropCaches(): void {
    this.#identities.dropCache();
  }

  /** Finds the user and session of a token. @throws AppError invalid_token | expired_token | revoked_token */
  identify(token: string): SessionPrincipal | Promise<SessionPrincipal> {
    return this.#identities.identify(token);
  }

  /**
   * The current state of the user whose request began earlier. A token that expired since then counts until the sign-in
   * ends; a refreshed one counts like its successor. Synchronous and uncached: may be called inside a transaction.
   * @throws AppError revoked_token if the sign-in has ended, or the account is disabled or deleted
   */
  confirmSignedIn({ user, session }: SessionPrincipal): User {
    const present = this.#options.users.findById(user.id);
    const isSignedIn = this.#sessions.isSignedIn(user.id, session.originId);
    if (present === undefined || present.disabledAtMs !== null || !isSignedIn) throw revokedToken();
    return present;
  }

  /**
   * Creates an account, if the configuration allows it, and signs it in.
   * @throws AppError signup_closed | invalid_field | email_taken | overloaded
   */
  async signUp(
    input: { email: string; password: string; name?: string | undefined; invite?: string | undefined },
    client: ClientInfo,
  ): Promise<SignedIn> {
    const { users, config } = this.#options;
    const { signup, defaultPlan } = config;
    if (signup === "closed")
      throw signupClosed(say`You can't create an account on this server. Ask your administrator for one.`);
    // If anyone may sign up, an unknown invitation is ignored. A used or expired one is an error.
    const isInvited = signup === "invite" || this.#signupTokens.isInvite(input.invite);
    const invite = isInvited ? this.#signupTokens.find(input.invite, "invite") : undefined;
    if (invite?.emailKey && invite.emailKey !== emailKey(input.email)) {
      throw signupClosed(say`This invitation is for another email address. Use the address that it was sent to.`);
    }
    const user = await users.add(
      {
        email: input.email,
        password: input.password,
        ...(input.name !== undefined && { name: input.name }),
        language: client.language,
        role: invite?.role ?? "user",
        plan: invite?.plan ?? defaultPlan,
        // The inviting administrator has named the address.
        isEmailConfirmed: typeof invite?.emailKey === "string",
      },
      invite && ((tx, userId) => this.#signupTokens.use(tx, invite.id, userId)),
    );
    return this.#startSession(user, "web", client);
  }

  /**
   * Checks the password of an enabled account. Unknown accounts and wrong passwords take the same time and give the
   * same error. That an account is disabled is revealed only with the right password.
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
   * Checks the password and, if the account has one, the second factor. The code is used up in any case. That a code is
   * needed is revealed only with the right password.
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
   * The user in the state of the caller's transaction. A password that was replaced during its check is rejected.
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
   * Like {@link confirm}, for a sign-in: rejects it if the account has got a second factor in the meantime.
   * @throws AppError bad_credentials | account_disabled | second_factor_required
   */
  confirm(tx: Transaction, checked: CheckedUser): User {
    const present = this.confirmPassword(tx, checked);
    const methods = checked.hasSecondFactor === true ? [] : this.#options.secondFactors.methodsOf(present.id);
    if (methods.length > 0) throw secondFactorRequired(methods);
    return present;
  }

  /**
   * Signs in a user whose credentials have just been checked. Durable when this returns.
   * @throws AppError bad_credentials | account_disabled | second_factor_required if that changed during the check
   */
  async signIn(checked: CheckedUser, client: ClientInfo): Promise<SignedIn> {
    return this.#beginSession(checked.user, client, (tx) => this.confirm(tx, checked));
  }

  /**
   * Signs in a user who was authenticated in another way: with a passkey, by a provider, or by creating the account.
   * Requires no password and no second factor. Durable when this returns.
   * @param within runs in the same transaction, before the session begins: records the authentication (a counter, a
   *   used ticket)
   * @throws AppError bad_credentials if the account was deleted | account_disabled; what `within` throws
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
   * Confirms a session for {@link CONFIRMED_MS} from now on, in the caller's transaction. The confirmation ends with
   * the session, and with a new password or second factor.
   * @returns until when
   */
  confirmSession(_tx: Transaction, { publicId }: Session): number {
    const untilMs = this.#options.clock.nowMs() + CONFIRMED_MS;
    this.#sessions.confirm(publicId, untilMs);
    return untilMs;
  }

  /** Until when a session is confirmed; undefined if it is not. */
  confirmedUntil({ publicId }: Session): number | undefined {
    const untilMs = this.#sessions.find(publicId)?.confirmedUntilMs ?? 0;
    const leftMs = untilMs - this.#options.clock.nowMs();
    // A clock that was set back must not extend it.
    return leftMs > 0 && leftMs <= CONFIRMED_MS ? untilMs : undefined;
  }

  /** A session that has not ended; it may have expired. */
  findSession(publicId: string): Session | undefined {
    return this.#sessions.find(publicId)?.session;
  }

  /** Ends the confirmations of all sessions of this user. In the caller's transaction. */
  endConfirmations(_tx: Transaction, userId: number): void {
    this.#sessions.endConfirmations(userId);
  }

  /** A new session for a device of this user, which {@link signInDevice} or {@link refreshDevice} begins. */
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
   * Exchanges a device's refresh token and begins the session, in the caller's transaction. A reused token ends all
   * sessions and tokens of the device. Any other rejection changes nothing.
   */
  refreshDevice(tx: Transaction, deviceId: number, refreshToken: string, prepared: PreparedSession): Exchange {
    return this.#devices.refresh(tx, deviceId, refreshToken, prepared);
  }

  /** Ends all sessions and refresh tokens of a device, in the caller's transaction: it must sign in again. */
  endDevice(tx: Transaction, deviceId: number): void {
    this.#devices.end(tx, deviceId);
  }

  /** A token for scripts, for `larder user token`. @param kind shown in the list of sessions */
  async issueToken(user: User, kind: Session["kind"]): Promise<{ token: string; expiresAtMs: number }> {
    return this.#startSession(user, kind);
  }

  /** A new session in place of this one, whose token ends immediately. The new session belongs to the same device. */
  async refresh(principal: SessionPrincipal, client: ClientInfo): Promise<SignedIn> {
    const { session, user, device } = principal;
    const prepared = await this.#sessions.prepare(user, session.kind, client);
    await this.#options.writer.run((tx) => {
      // Before the other ends: what belongs to a sign-in is deleted with its last session.
      this.#sessions.begin(prepared, device?.id, session.originId);
      // If the same token is refreshed twice at the same time, only one of the two new ones remains valid.
      if (!this.#sessions.end(tx, session.publicId)) throw revokedToken();
      if (device !== undefined) {
        this.#refreshTokens.moveSession(device.id, session.publicId, prepared.row.publicId);
      }
    });
    return { user, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }

  /** Ends this session, or all of the user's. For a device, ends all its sessions and refresh tokens. */
  async signOut(principal: SessionPrincipal, everywhere: boolean): Promise<void> {
    const { user, session, device } = principal;
    await this.#options.writer.run((tx) => {
      if (everywhere) this.endSessions(tx, user.id);
      else if (device !== undefined) this.endDevice(tx, device.id);
      else this.#sessions.end(tx, session.publicId);
    });
  }

  /**
   * Ends all sessions of a user and the refresh tokens of all devices, except one session and the refresh tokens of its
   * device if given. API keys stay. In the caller's transaction.
   */
  endSessions(tx: Transaction, userId: number, except?: Session): void {
    const staying = except && this.#sessions.find(except.publicId);
    this.#sessions.endOfUser(tx, userId, except);
    this.#refreshTokens.endOfUser(userId, staying?.deviceId ?? undefined);
  }

  /**
   * Ends one session of a user; for a device, also everything else that signs it in.
   * @param check runs first in the same transaction; what it throws undoes it
   * @throws AppError not_found for unknown sessions and those of others
   */
  async endSession(userId: number, publicId: string, check?: (tx: Transaction) => unknown): Promise<void> {
    await this.#options.writer.run((tx) => {
      check?.(tx);
      const stored = this.#sessions.find(publicId);
      if (stored?.userId !== userId) {
        throw sessionNotFound();
      }
      if (stored.deviceId === null) this.#sessions.end(tx, publicId);
      else this.endDevice(tx, stored.deviceId);
    });
  }

  /**
   * The sessions of a user, newest first. A device is listed once: with the caller's session, otherwise with its newest
   * one. It stays listed while its refresh token is valid, so that a lost phone can be signed out after its access
   * token has expired.
   */
  listSessions(userId: number, current?: Session): ListedSession[] {
    return this.#sessions.list(userId, current);
  }

  /**
   * Removes at most `limit` expired sessions and as many expired refresh tokens. Keeps the session that lists a device
   * with a valid refresh token. Indexes sessions_expiry, refresh_tokens_expiry.
   * @returns how many
   */
  async sweepSessions(limit: number): Promise<number> {
    return this.#options.writer.run(() => this.#refreshTokens.sweep(limit) + this.#sessions.sweep(limit));
  }

  /**
   * A new one-time token for the setup page, valid for a day. Earlier ones end.
   * @returns undefined if there is an administrator already
   */
  async newSetupToken(): Promise<string | undefined> {
    return this.#options.users.hasAdministrator() ? undefined : this.#signupTokens.newSetupToken();
  }

  /** Whether this token opens the setup page now: until there is an administrator, even if other accounts exist. */
  isSetupToken(token: string): boolean {
    if (this.#options.users.hasAdministrator()) return false;
    try {
      return this.#signupTokens.find(token, "setup").id > 0;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** Creates the first administrator. @throws AppError signup_closed | invalid_field | email_taken | overloaded */
  async setUp(token: string, input: Omit<NewUser, "role" | "plan">, plan: PlanName): Promise<User> {
    const { users } = this.#options;
    const { id } = this.#signupTokens.find(token, "setup");
    return users.add(
      { ...input, role: "admin", plan, isEmailConfirmed: true },
      (tx, userId) => this.#signupTokens.use(tx, id, userId),
      // Another administrator may have been created while the password was hashed.
      () => {
        if (users.hasAdministrator())
          throw signupClosed(say`This server already has an administrator. Sign in to that account.`);
      },
    );
  }

  /** A new session, and the token that names it. */
  async #startSession(user: User, kind: Session["kind"], client?: ClientInfo): Promise<SignedIn> {
    const prepared = await this.#sessions.prepare(user, kind, client);
    await this.#options.writer.run(() => this.#sessions.begin(prepared));
    return { user, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }

  /** Begins a session for the user that `confirm` returns in the same transaction. */
  async #beginSession(user: User, client: ClientInfo, confirm: (tx: Transaction) => User): Promise<SignedIn> {
    const prepared = await this.#sessions.prepare(user, "web", client);
    const present = await this.#options.writer.run((tx) => {
      const confirmed = confirm(tx);
      this.#sessions.begin(prepared);
      if (client.language !== undefined) this.#options.users.setFirstLanguage(tx, confirmed.id, client.language);
      return confirmed;
    });
    return { user: present, token: prepared.token, expiresAtMs: prepared.row.expiresAt };
  }
}
