import { and, desc, eq, isNull, lt, ne, notInArray, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { devices, refreshTokens } from "../../db/schema/devices.ts";
import { invites, sessions, users as userRows } from "../../db/schema/users.ts";
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId, newSecretToken } from "../../lib/id.ts";
import { emailKey } from "../users/email.ts";
import type { UserService } from "../users/service.ts";
import type { PlanName, Role, User } from "../users/types.ts";
import type { PasswordHasher } from "./passwords.ts";
import type { ClientInfo, DeviceRef, ListedSession, Principal, Session } from "./principal.ts";
import { type Exchange, RefreshTokens } from "./refresh-tokens.ts";
import { hashToken } from "./token-hash.ts";
import type { TokenSigner } from "./tokens.ts";

/** What {@link AuthService} works with. */
export interface AuthServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly passwords: PasswordHasher;
  readonly tokens: TokenSigner;
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
}

/** A session that is not begun yet, and the token that will name it. Signing takes a moment, which no deed may wait. */
export interface PreparedSession {
  readonly token: string;
  readonly row: Omit<typeof sessions.$inferInsert, "id" | "deviceId">;
}

/** How long a device's access token opens anything (api.md, Authentication). */
export const DEVICE_TOKEN_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * Access tokens of one device that are good at once. A refresh leaves the former one as it is, because requests with it
 * may be under way; but a device that refreshes often keeps no more than these.
 */
const DEVICE_SESSIONS_MAX = 4;

/** Who a token belongs to, remembered so that a request costs no signature check; bounded, oldest out first. */
const CACHED_TOKENS_MAX = 10_000;
/** A session's "last seen" is written at most this often. */
const LAST_SEEN_MS = 60_000;
const SETUP_LINK_MS = 24 * 60 * 60 * 1000;

/** Sign-up, sign-in and sessions. Every token names a session row, so whatever ends the row ends the token at once (D57). */
export class AuthService {
  readonly #options: AuthServiceOptions;
  readonly #cache = new Map<string, Principal>();
  readonly #refreshTokens: RefreshTokens;
  readonly #sessionByPublicId;

  constructor(options: AuthServiceOptions) {
    this.#options = options;
    this.#refreshTokens = new RefreshTokens(options.db.sqlite, options.clock);
    this.#sessionByPublicId = options.db.orm
      .select()
      .from(sessions)
      .where(eq(sessions.publicId, sql.placeholder("publicId")))
      .prepare();
    options.users.onChange(() => this.dropCaches());
  }

  /** Forgets who tokens belong to: something about accounts or sessions changed, here or in another process. */
  dropCaches(): void {
    this.#cache.clear();
  }

  /**
   * Whose token this is.
   * @throws AppError invalid_token | expired_token | revoked_token
   */
  identify(token: string): Principal | Promise<Principal> {
    const cached = this.#cache.get(token);
    if (cached === undefined) return this.#identifyAnew(token);
    if (cached.session.expiresAtMs <= this.#options.clock.nowMs()) throw expiredToken();
    this.#noteSeen(token, cached);
    return cached;
  }

  /**
   * Makes an account for whoever asks, as far as the configuration lets them, and signs it in.
   * @throws AppError signup_closed | invalid_field | email_taken | overloaded
   */
  async signUp(
    input: { email: string; password: string; name?: string | undefined; invite?: string | undefined },
    client: ClientInfo,
  ): Promise<SignedIn> {
    const { signup, users, defaultPlan } = this.#options;
    if (signup === "closed") throw signupClosed("Sign-up is closed here. Ask the administrator for an account.");
    const invite = signup === "invite" ? this.#findInvite(input.invite, "invite") : undefined;
    if (invite?.emailKey && invite.emailKey !== emailKey(input.email)) {
      throw signupClosed("This invitation is for another e-mail address. Use the one that it was sent to.");
    }
    const user = await users.add(
      {
        email: input.email,
        password: input.password,
        ...(input.name !== undefined && { name: input.name }),
        role: invite?.role ?? "user",
        plan: invite?.plan ?? defaultPlan,
      },
      invite && ((tx) => this.#useInvite(tx, invite.id)),
    );
    return this.#startSession(user, "web", client);
  }

  /**
   * Whether this is the right password of an enabled account. Unknown accounts and wrong passwords take the same time
   * and give the same error; that an account is disabled is told to the right password alone.
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
   * The user as they stand in the caller's deed. Checking a password takes a while, and a deed may wait: whoever gave
   * one that was replaced meanwhile gets no session that outlives the change.
   * @throws AppError bad_credentials | account_disabled
   */
  confirm(_tx: Transaction, { user, passwordHash }: CheckedUser): User {
    const { db, users } = this.#options;
    const stored = db.orm
      .select({ passwordHash: userRows.passwordHash })
      .from(userRows)
      .where(eq(userRows.id, user.id))
      .get();
    const present = users.findById(user.id);
    if (present === undefined || stored?.passwordHash !== passwordHash) throw badCredentials();
    if (present.disabledAtMs !== null) throw accountDisabled();
    return present;
  }

  /**
   * Signs a user in who has just given their password. Durable on return.
   * @throws AppError bad_credentials | account_disabled where that changed meanwhile
   */
  async signIn(checked: CheckedUser, client: ClientInfo): Promise<SignedIn> {
    const { db, writer } = this.#options;
    const { token, row } = await this.#prepare(checked.user, "web", client);
    const user = await writer.run((tx) => {
      const confirmed = this.confirm(tx, checked);
      db.orm.insert(sessions).values(row).run();
      return confirmed;
    });
    return { user, token, expiresAtMs: row.expiresAt };
  }

  /** A session for a device of this user, to be begun by {@link signInDevice} or {@link refreshDevice}. */
  async prepareDeviceSession(user: User, client: ClientInfo): Promise<PreparedSession> {
    return this.#prepare(user, "mobile", client);
  }

  /**
   * Signs a device in, in the caller's deed: whatever it was signed in by before ends.
   * @returns its refresh token
   */
  signInDevice(tx: Transaction, deviceId: number, { row }: PreparedSession): string {
    this.endDevice(tx, deviceId);
    this.#options.db.orm
      .insert(sessions)
      .values({ ...row, deviceId })
      .run();
    return this.#refreshTokens.issue(deviceId, row.publicId);
  }

  /** Row id of the device that a refresh token was given to, whatever the token is worth now. */
  findRefreshedDevice(refreshToken: string): number | undefined {
    return this.#refreshTokens.findOwner(refreshToken)?.deviceId;
  }

  /**
   * Exchanges a device's refresh token and begins the session, in the caller's deed. A token that comes a second time
   * ends everything of the device; every other refusal changes nothing.
   */
  refreshDevice(tx: Transaction, deviceId: number, refreshToken: string, { row }: PreparedSession): Exchange {
    const exchange = this.#refreshTokens.exchange(refreshToken, row.publicId);
    if (exchange.outcome === "reused") this.endDevice(tx, deviceId);
    if (exchange.outcome !== "exchanged") return exchange;
    if (exchange.lostSessionId !== undefined) this.#endSessions(tx, eq(sessions.publicId, exchange.lostSessionId));
    const { orm } = this.#options.db;
    orm
      .insert(sessions)
      .values({ ...row, deviceId })
      .run();
    const ofDevice = eq(sessions.deviceId, deviceId);
    const newest = orm
      .select({ id: sessions.id })
      .from(sessions)
      .where(ofDevice)
      .orderBy(desc(sessions.id))
      .limit(DEVICE_SESSIONS_MAX);
    this.#endSessions(tx, and(ofDevice, notInArray(sessions.id, newest)));
    return exchange;
  }

  /** Ends all sessions and refresh tokens of a device, in the caller's deed: it must sign in again. */
  endDevice(tx: Transaction, deviceId: number): void {
    this.#endSessions(tx, eq(sessions.deviceId, deviceId));
    this.#refreshTokens.endOfDevice(deviceId);
  }

  /** A token for scripts, as `larder user token` gives it. @param kind where it is shown in the list of sessions */
  async issueToken(user: User, kind: Session["kind"]): Promise<{ token: string; expiresAtMs: number }> {
    return this.#startSession(user, kind);
  }

  /** A new session in place of this one, whose token is dead at once. A device's stays the device's. */
  async refresh(principal: Principal, client: ClientInfo): Promise<SignedIn> {
    const { db, writer } = this.#options;
    const { session, user, device } = principal;
    const { token, row } = await this.#prepare(user, session.kind, client);
    await writer.run((tx) => {
      // Two refreshes of one token at the same time: only one of them may live on.
      if (this.#endSessions(tx, isSession(session)) === 0) throw revokedToken();
      db.orm
        .insert(sessions)
        .values({ ...row, deviceId: device?.id ?? null })
        .run();
      if (device !== undefined) this.#refreshTokens.moveSession(device.id, session.publicId, row.publicId);
    });
    return { user, token, expiresAtMs: row.expiresAt };
  }

  /**
   * Ends this session, or all of the user's. A device is signed in as a whole: with one of its sessions end all of them,
   * and its refresh tokens.
   */
  async signOut(principal: Principal, everywhere: boolean): Promise<void> {
    const { user, session, device } = principal;
    await this.#options.writer.run((tx) => {
      if (everywhere) this.endSessions(tx, user.id);
      else if (device !== undefined) this.endDevice(tx, device.id);
      else this.#endSessions(tx, isSession(session));
    });
  }

  /**
   * Ends all sessions of a user, and the refresh tokens of all devices, also of those that are away; but, where given,
   * for one session and its device's refresh tokens. In the caller's deed.
   */
  endSessions(tx: Transaction, userId: number, except?: Session): void {
    const staying = except && this.#sessionByPublicId.get({ publicId: except.publicId });
    const ofUser = eq(sessions.userId, userId);
    this.#endSessions(tx, except === undefined ? ofUser : and(ofUser, ne(sessions.publicId, except.publicId)));
    this.#refreshTokens.endOfUser(userId, staying?.deviceId ?? undefined);
  }

  /**
   * Ends one session of a user; a device's with everything that the device is signed in by.
   * @throws AppError not_found for unknown ones and for those of others
   */
  async endSession(userId: number, publicId: string): Promise<void> {
    await this.#options.writer.run((tx) => {
      const row = this.#sessionByPublicId.get({ publicId });
      if (row?.userId !== userId) {
        throw new AppError("not_found", "This session does not exist. It may have ended already.");
      }
      if (row.deviceId === null) this.#endSessions(tx, eq(sessions.publicId, publicId));
      else this.endDevice(tx, row.deviceId);
    });
  }

  /**
   * Where a user is signed in, newest first. A device is listed once, by the session that asks or else its newest, and
   * as long as it may come back by its refresh token: a lost phone can be signed out after its access token has expired.
   * Index sessions_user.
   */
  listSessions(userId: number, asking?: Session): ListedSession[] {
    const nowMs = this.#options.clock.nowMs();
    const found = this.#options.db.orm
      .select({
        session: sessions,
        device: { id: devices.id, publicId: devices.publicId, name: devices.name },
        refreshableUntil: refreshTokens.expiresAt,
      })
      .from(sessions)
      .leftJoin(devices, eq(devices.id, sessions.deviceId))
      .leftJoin(refreshTokens, isRefreshable())
      .where(eq(sessions.userId, userId))
      .orderBy(desc(sessions.createdAt), desc(sessions.id))
      .all()
      .map(({ session, device, refreshableUntil }) => ({
        ...toSession(session),
        expiresAtMs: Math.max(session.expiresAt, refreshableUntil ?? 0),
        device: device ?? undefined,
      }))
      .filter((session) => session.expiresAtMs > nowMs);
    const shown = new Map<string | number, ListedSession>();
    for (const session of found) {
      const key = session.device?.id ?? session.publicId;
      if (!shown.has(key) || session.publicId === asking?.publicId) shown.set(key, session);
    }
    return [...shown.values()];
  }

  /**
   * Removes sessions and refresh tokens that have expired, so many of each at most; but not the session by which a
   * device is listed that may come back. Indexes sessions_expiry, refresh_tokens_expiry. @returns how many
   */
  async sweepSessions(limit: number): Promise<number> {
    const { db, writer, clock } = this.#options;
    return writer.run(() => {
      const tokens = this.#refreshTokens.sweep(limit);
      const expired = db.orm
        .select({ id: sessions.id })
        .from(sessions)
        .leftJoin(refreshTokens, isRefreshable())
        .where(and(lt(sessions.expiresAt, clock.nowMs()), isNull(refreshTokens.id)))
        .limit(limit)
        .all();
      for (const { id } of expired) db.orm.delete(sessions).where(eq(sessions.id, id)).run();
      return tokens + expired.length;
    });
  }

  /**
   * A new one-time token for the set-up page, valid for a day; earlier ones die (D56).
   * @returns undefined where somebody has an account already
   */
  async newSetupToken(): Promise<string | undefined> {
    const { db, writer, clock, users } = this.#options;
    if (users.hasAny()) return undefined;
    const token = newSecretToken();
    const nowMs = clock.nowMs();
    await writer.run(() => {
      db.orm.delete(invites).where(eq(invites.kind, "setup")).run();
      db.orm
        .insert(invites)
        .values({
          publicId: newId("inv", nowMs),
          tokenHash: hashToken(token),
          kind: "setup",
          role: "admin",
          createdAt: nowMs,
          expiresAt: nowMs + SETUP_LINK_MS,
        })
        .run();
    });
    return token;
  }

  /** Whether this token opens the set-up page now. */
  isSetupToken(token: string): boolean {
    if (this.#options.users.hasAny()) return false;
    try {
      return this.#findInvite(token, "setup") !== undefined;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** Makes the first administrator. @throws AppError signup_closed | invalid_field | overloaded */
  async setUp(token: string, input: { email: string; password: string; name?: string }, plan: PlanName): Promise<User> {
    const invite = this.#findInvite(token, "setup");
    return this.#options.users.add({ ...input, role: "admin", plan }, (tx) => this.#useInvite(tx, invite.id));
  }

  /** A new session, and the token that names it. */
  async #startSession(user: User, kind: Session["kind"], client?: ClientInfo): Promise<SignedIn> {
    const { db, writer } = this.#options;
    const { token, row } = await this.#prepare(user, kind, client);
    await writer.run(() => db.orm.insert(sessions).values(row).run());
    return { user, token, expiresAtMs: row.expiresAt };
  }

  async #identifyAnew(token: string): Promise<Principal> {
    const claims = await this.#options.tokens.read(token);
    if (claims === undefined) {
      throw new AppError("invalid_token", "The access token is not one of this server. Sign in again.");
    }
    if (claims.exp * 1000 <= this.#options.clock.nowMs()) throw expiredToken();
    const row = this.#sessionByPublicId.get({ publicId: claims.sid });
    const user = row && this.#options.users.findById(row.userId);
    if (row === undefined || user === undefined || user.disabledAtMs !== null || user.publicId !== claims.sub) {
      throw revokedToken();
    }
    if (row.expiresAt <= this.#options.clock.nowMs()) throw expiredToken();
    const device = row.deviceId === null ? undefined : this.#findDevice(row.deviceId);
    if (row.kind === "mobile" && device === undefined) throw revokedToken();
    const principal = {
      user: device === undefined ? user : { ...user, viaDeviceId: device.id },
      session: toSession(row),
      device,
    };
    if (this.#cache.size >= CACHED_TOKENS_MAX) {
      const oldest = this.#cache.keys().next();
      if (!oldest.done) this.#cache.delete(oldest.value);
    }
    this.#cache.set(token, principal);
    this.#noteSeen(token, principal);
    return principal;
  }

  #findDevice(id: number): DeviceRef | undefined {
    return this.#options.db.orm
      .select({ id: devices.id, publicId: devices.publicId, name: devices.name })
      .from(devices)
      .where(and(eq(devices.id, id), isNull(devices.removedAt)))
      .get();
  }

  #noteSeen(token: string, principal: Principal): void {
    const nowMs = this.#options.clock.nowMs();
    const { session, device } = principal;
    if (nowMs - session.lastSeenAtMs < LAST_SEEN_MS) return;
    this.#cache.set(token, { ...principal, session: { ...session, lastSeenAtMs: nowMs } });
    const { db, writer } = this.#options;
    // Only a date for a list: nobody waits for it, and a failure shows in the requests that write.
    writer
      .run(() => {
        db.orm.update(sessions).set({ lastSeenAt: nowMs }).where(isSession(session)).run();
        if (device !== undefined) {
          db.orm.update(devices).set({ lastActiveAt: nowMs }).where(eq(devices.id, device.id)).run();
        }
      })
      .catch(() => this.#cache.delete(token));
  }

  /** A new session and its token; a device's lasts longer. */
  async #prepare(user: User, kind: Session["kind"], client: ClientInfo | undefined): Promise<PreparedSession> {
    const row = this.#newSession(user, kind, client);
    return { row, token: await this.#sign(user, row) };
  }

  #newSession(user: User, kind: Session["kind"], client: ClientInfo | undefined): PreparedSession["row"] {
    const nowMs = this.#options.clock.nowMs();
    const lifetimeMs = kind === "mobile" ? DEVICE_TOKEN_LIFETIME_MS : this.#options.tokenLifetimeMs;
    return {
      publicId: newId("ses", nowMs),
      userId: user.id,
      kind,
      userAgent: client?.userAgent?.slice(0, 300) ?? null,
      clientAddress: client?.address ?? null,
      createdAt: nowMs,
      // Whole seconds, because that is what a token can say.
      expiresAt: Math.floor((nowMs + lifetimeMs) / 1000) * 1000,
      lastSeenAt: nowMs,
    };
  }

  #sign(user: User, row: { publicId: string; expiresAt: number }): Promise<string> {
    return this.#options.tokens.sign({ sub: user.publicId, sid: row.publicId, exp: row.expiresAt / 1000 });
  }

  #endSessions(tx: Transaction, condition: ReturnType<typeof and>): number {
    const ended = this.#options.db.orm.delete(sessions).where(condition).returning({ id: sessions.id }).all();
    tx.afterCommit(() => this.dropCaches());
    return ended.length;
  }

  #findInvite(token: string | undefined, kind: "setup" | "invite") {
    if (token === undefined) throw signupClosed("Sign-up needs an invitation here. Ask the administrator for one.");
    const row = this.#options.db.orm
      .select()
      .from(invites)
      .where(eq(invites.tokenHash, hashToken(token)))
      .get();
    const isGood =
      row !== undefined && row.kind === kind && row.usedAt === null && row.expiresAt > this.#options.clock.nowMs();
    if (!isGood) throw signupClosed("This invitation is used, expired or unknown. Ask for a new one.");
    return row as typeof row & { role: Role; plan: PlanName | null };
  }

  #useInvite(_tx: Transaction, id: number): void {
    const { db, clock } = this.#options;
    const used = db.sqlite
      .query("UPDATE invites SET used_at = ?2 WHERE id = ?1 AND used_at IS NULL")
      .run(id, clock.nowMs());
    if (used.changes === 0) throw signupClosed("This invitation has just been used. Ask for a new one.");
  }
}

function toSession(row: typeof sessions.$inferSelect): Session {
  return {
    publicId: row.publicId,
    kind: row.kind,
    createdAtMs: row.createdAt,
    expiresAtMs: row.expiresAt,
    lastSeenAtMs: row.lastSeenAt,
    userAgent: row.userAgent,
    clientAddress: row.clientAddress,
  };
}

/** By its public id: row ids are given again, and what was known of a session may be older than its end. */
function isSession(session: Session) {
  return eq(sessions.publicId, session.publicId);
}

/** Joins to a session the refresh token that was given along with it, where that may still be exchanged. */
function isRefreshable() {
  return and(
    eq(refreshTokens.deviceId, sessions.deviceId),
    eq(refreshTokens.sessionId, sessions.publicId),
    isNull(refreshTokens.successorId),
  );
}

function badCredentials(): AppError {
  return new AppError("bad_credentials", "The e-mail or the password is wrong. Check both and try again.");
}

function accountDisabled(): AppError {
  return new AppError("account_disabled", "This account is disabled. Ask the administrator to enable it.");
}

function expiredToken(): AppError {
  return new AppError("expired_token", "The access token has expired. Sign in again.");
}

function revokedToken(): AppError {
  return new AppError("revoked_token", "This sign-in has ended. Sign in again.");
}

function signupClosed(message: string): AppError {
  return new AppError("signup_closed", message);
}
