/** Finds the owner of a token, and caches it, so that a request needs no signature check and no lookup. */
import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { devices } from "../../../db/schema/devices.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { UserService } from "../users/service.ts";
import type { DeviceRef, SessionPrincipal } from "./principal.ts";
import { expiredToken, revokedToken } from "./rejections.ts";
import type { Sessions } from "./sessions.ts";
import type { TokenSigner } from "./tokens.ts";

/** Dependencies of {@link Identities}. */
export interface IdentitiesOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly sessions: Sessions;
  readonly tokens: TokenSigner;
}

/** Limit of the cache; the oldest are dropped first. */
const CACHED_TOKENS_MAX = 10_000;
/** A session's "last seen" is written at most this often. */
const LAST_SEEN_MS = 60_000;

export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #cache = new Map<string, SessionPrincipal>();

  constructor(options: IdentitiesOptions) {
    this.#options = options;
  }

  /** Clears the cache. */
  dropCache(): void {
    this.#cache.clear();
  }

  /** See {@link AuthService.identify}. */
  identify(token: string): SessionPrincipal | Promise<SessionPrincipal> {
    const cached = this.#cache.get(token);
    if (cached === undefined) return this.#identifyUncached(token);
    if (cached.session.expiresAtMs <= this.#options.clock.nowMs()) throw expiredToken();
    this.#noteSeen(token, cached);
    return cached;
  }

  async #identifyUncached(token: string): Promise<SessionPrincipal> {
    const { tokens, clock, sessions, users } = this.#options;
    const claims = await tokens.read(token);
    if (claims === undefined) {
      throw new AppError("invalid_token", say`The access token is not valid. Sign in again.`);
    }
    if (claims.exp * 1000 <= clock.nowMs()) throw expiredToken();
    const stored = sessions.find(claims.sid);
    const user = stored && users.findById(stored.userId);
    if (stored === undefined || user === undefined || user.disabledAtMs !== null || user.publicId !== claims.sub) {
      throw revokedToken();
    }
    const { session, deviceId } = stored;
    if (session.expiresAtMs <= clock.nowMs()) throw expiredToken();
    const device = deviceId === null ? undefined : this.#findDevice(deviceId);
    if (session.kind === "mobile" && device === undefined) throw revokedToken();
    const principal = { user: device === undefined ? user : { ...user, viaDeviceId: device.id }, session, device };
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

  #noteSeen(token: string, principal: SessionPrincipal): void {
    const { writer, clock, sessions } = this.#options;
    const nowMs = clock.nowMs();
    const { session, device } = principal;
    if (nowMs - session.lastSeenAtMs < LAST_SEEN_MS) return;
    this.#cache.set(token, { ...principal, session: { ...session, lastSeenAtMs: nowMs } });
    // Only a date in a list: nobody waits for it, and failures show in the requests that write.
    writer.run(() => sessions.noteSeen(session, device, nowMs)).catch(() => this.#cache.delete(token));
  }
}
