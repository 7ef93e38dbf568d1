import { and, desc, eq, isNull, lt, ne, notInArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { devices, refreshTokens } from "../../../db/schema/devices.ts";
import { sessions } from "../../../db/schema/users.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { lazy } from "../../../lib/lazy.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../users/types.ts";
import type { ClientInfo, DeviceRef, ListedSession, Session } from "./principal.ts";
import type { TokenSigner } from "./tokens.ts";

/** Dependencies of {@link Sessions}. */
interface SessionsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly tokens: TokenSigner;
  /** How long an access token is valid; that of a device for {@link DEVICE_TOKEN_LIFETIME_MS}. */
  readonly tokenLifetimeMs: number;
  /** Called after each commit that ended sessions. */
  readonly onEnded: () => void;
}

/**
 * A session that has not begun yet, and the token that will name it. Signing takes time, and must not happen inside a
 * transaction.
 */
export interface PreparedSession {
  readonly token: string;
  readonly row: Omit<typeof sessions.$inferInsert, "id" | "deviceId" | "originId">;
}

/** A session and its user, as in its row. */
interface StoredSession {
  readonly userId: number;
  /** Row id of its device. */
  readonly deviceId: number | null;
  readonly session: Session;
  readonly confirmedUntilMs: number | null;
}

/** How long a device's access token is valid. */
export const DEVICE_TOKEN_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** How long expired sessions are stored: a request that began with a valid token may still send its bytes. */
const EXPIRED_RETENTION_MS = 24 * 60 * 60 * 1000;

/** The rows of `sessions`. Call the methods that write inside a transaction. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byPublicId;
  readonly #ofSignIn;
  readonly #originOfDevice;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#byPublicId = lazy(() =>
      options.db.orm
        .select()
        .from(sessions)
        .where(eq(sessions.publicId, sql.placeholder("publicId")))
        .prepare(),
    );
    const { sqlite } = options.db;
    /** Index sessions_user. */
    this.#ofSignIn = sqlite.prepare<{ id: number }, [number, string]>(
      `SELECT id FROM sessions INDEXED BY sessions_user
       WHERE user_id = ?1 AND coalesce(origin_id, public_id) = ?2 LIMIT 1`,
    );
    /** Index sessions_device. */
    this.#originOfDevice = sqlite.prepare<{ originId: string }, [number]>(
      `SELECT coalesce(origin_id, public_id) AS originId FROM sessions INDEXED BY sessions_device
       WHERE device_id = ?1 LIMIT 1`,
    );
  }

  /** A new session and its token; that of a device is valid longer. */
  async prepare(user: User, kind: Session["kind"], client: ClientInfo | undefined): Promise<PreparedSession> {
    const row = this.#newRow(user, kind, client);
    const claims = { sub: user.publicId, sid: row.publicId, exp: row.expiresAt / 1000 };
    return { row, token: await this.#options.tokens.sign(claims) };
  }

  /**
   * Begins a session: its token is valid from now on.
   * @param deviceId row id of its device, if it has one
   * @param originId the sign-in that it continues; a new one if absent
   */
  begin({ row }: PreparedSession, deviceId: number | null = null, originId: string | null = null): void {
    this.#options.db.orm
      .insert(sessions)
      .values({ ...row, deviceId, originId })
      .run();
  }

  /** Whether a sign-in is still open through any of its tokens, including expired ones. */
  isSignedIn(userId: number, originId: string): boolean {
    return this.#ofSignIn.get(userId, originId) !== null;
  }

  /** The sign-in of a device, to which all its sessions belong; null if it has none. @param deviceId row id */
  findOriginOfDevice(deviceId: number): string | null {
    return this.#originOfDevice.get(deviceId)?.originId ?? null;
  }

  /** A session that has not ended; it may have expired. */
  find(publicId: string): StoredSession | undefined {
    const row = this.#byPublicId().get({ publicId });
    if (row === undefined) return undefined;
    const { userId, deviceId, confirmedUntil } = row;
    return { userId, deviceId, session: toSession(row), confirmedUntilMs: confirmedUntil };
  }

  /** Records until when a session is confirmed. */
  confirm(publicId: string, untilMs: number): void {
    const { orm } = this.#options.db;
    orm.update(sessions).set({ confirmedUntil: untilMs }).where(eq(sessions.publicId, publicId)).run();
  }

  /** Ends the confirmations of all sessions of this user. Index sessions_user. */
  endConfirmations(userId: number): void {
    this.#options.db.orm.update(sessions).set({ confirmedUntil: null }).where(eq(sessions.userId, userId)).run();
  }

  /** Ends one session. By its public id, because row ids are reused. @returns whether it existed */
  end(tx: Transaction, publicId: string): boolean {
    return this.#end(tx, eq(sessions.publicId, publicId)) > 0;
  }

  /** Ends the sessions of a user, except one if given. */
  endOfUser(tx: Transaction, userId: number, except: Session | undefined): void {
    const ofUser = eq(sessions.userId, userId);
    this.#end(tx, except === undefined ? ofUser : and(ofUser, ne(sessions.publicId, except.publicId)));
  }

  /** Ends the sessions of a device, except the newest ones. @param deviceId row id */
  endOfDevice(tx: Transaction, deviceId: number, keep = 0): void {
    const ofDevice = eq(sessions.deviceId, deviceId);
    if (keep === 0) {
      this.#end(tx, ofDevice);
      return;
    }
    const newest = this.#options.db.orm
      .select({ id: sessions.id })
      .from(sessions)
      .where(ofDevice)
      .orderBy(desc(sessions.id))
      .limit(keep);
    this.#end(tx, and(ofDevice, notInArray(sessions.id, newest)));
  }

  /** Records when a session, and its device, were last seen. */
  noteSeen(session: Session, device: DeviceRef | undefined, nowMs: number): void {
    const { orm } = this.#options.db;
    orm.update(sessions).set({ lastSeenAt: nowMs }).where(eq(sessions.publicId, session.publicId)).run();
    if (device === undefined) return;
    orm.update(devices).set({ lastActiveAt: nowMs }).where(eq(devices.id, device.id)).run();
  }

  /** See {@link AuthService.listSessions}. Index sessions_user. */
  list(userId: number, current?: Session): ListedSession[] {
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
      if (!shown.has(key) || session.publicId === current?.publicId) shown.set(key, session);
    }
    return [...shown.values()];
  }

  /**
   * Removes at most `limit` sessions that expired a day ago. Keeps the session that lists a device with a valid refresh
   * token. Index sessions_expiry.
   * @returns how many
   */
  sweep(limit: number): number {
    const { db, clock } = this.#options;
    const expired = db.orm
      .select({ id: sessions.id })
      .from(sessions)
      .leftJoin(refreshTokens, isRefreshable())
      .where(and(lt(sessions.expiresAt, clock.nowMs() - EXPIRED_RETENTION_MS), isNull(refreshTokens.id)))
      .limit(limit)
      .all();
    for (const { id } of expired) db.orm.delete(sessions).where(eq(sessions.id, id)).run();
    return expired.length;
  }

  #newRow(user: User, kind: Session["kind"], client: ClientInfo | undefined): PreparedSession["row"] {
    const nowMs = this.#options.clock.nowMs();
    const lifetimeMs = kind === "mobile" ? DEVICE_TOKEN_LIFETIME_MS : this.#options.tokenLifetimeMs;
    return {
      publicId: newId("ses", nowMs),
      userId: user.id,
      kind,
      userAgent: client?.userAgent?.slice(0, 300) ?? null,
      clientAddress: client?.address ?? null,
      createdAt: nowMs,
      // In whole seconds, as in tokens.
      expiresAt: Math.floor((nowMs + lifetimeMs) / 1000) * 1000,
      lastSeenAt: nowMs,
    };
  }

  #end(tx: Transaction, condition: ReturnType<typeof and>): number {
    const ended = this.#options.db.orm.delete(sessions).where(condition).returning({ id: sessions.id }).all();
    tx.afterCommit(() => this.#options.onEnded());
    return ended.length;
  }
}

function toSession(row: typeof sessions.$inferSelect): Session {
  return {
    publicId: row.publicId,
    originId: row.originId ?? row.publicId,
    kind: row.kind,
    createdAtMs: row.createdAt,
    expiresAtMs: row.expiresAt,
    lastSeenAtMs: row.lastSeenAt,
    userAgent: row.userAgent,
    clientAddress: row.clientAddress,
  };
}

/** Joins to a session the refresh token that was issued with it, if that can still be exchanged. */
function isRefreshable() {
  return and(
    eq(refreshTokens.deviceId, sessions.deviceId),
    eq(refreshTokens.sessionId, sessions.publicId),
    isNull(refreshTokens.successorId),
  );
}

/** A session that has ended, or belongs to another account. */
export function sessionNotFound(): AppError {
  return new AppError("not_found", say`This session was not found. It may already have ended.`);
}
