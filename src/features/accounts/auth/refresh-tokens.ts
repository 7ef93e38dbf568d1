/**
 * Refresh tokens. Each is exchanged once, for the next one.
 * A token that comes a second time may be stolen, so all tokens of its device end. But a lost response must not sign a
 * phone out. So for half a minute, and while the next token is unused, the last token can be exchanged once more. The
 * token that was lost then ends.
 */
import type { Database } from "bun:sqlite";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import { hashToken } from "./token-hash.ts";

/** How long a device may be away without being signed out. */
const REFRESH_LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;
/** How long a lost response can be requested again. */
const LOST_RESPONSE_MS = 30_000;

/**
 * Most used tokens of one device that are stored, so that a reuse is noticed. They cover years for a phone that
 * refreshes now and then, and a device that refreshes in a loop can't fill the table.
 */
const REMEMBERED_MAX = 1_000;

/** The device and session of a refresh token. */
interface RefreshTokenOwner {
  /** Row id of the device. */
  readonly deviceId: number;
}

/** The result of exchanging a token. */
export type Exchange =
  /** The next token. `lostSessionId`: the session issued with the lost token, to be ended. */
  | { readonly outcome: "exchanged"; readonly token: string; readonly lostSessionId: string | undefined }
  /** `reused`: it came a second time, and all sessions and tokens of the device must end. The others change nothing. */
  | { readonly outcome: "unknown" | "expired" | "replaced" | "reused" };

interface Row {
  readonly id: number;
  readonly deviceId: number;
  readonly sessionId: string;
  readonly expiresAtMs: number;
  readonly usedAtMs: number | null;
  readonly successorId: number | null;
}

const COLUMNS = `id, device_id AS deviceId, session_id AS sessionId, expires_at AS expiresAtMs, used_at AS usedAtMs,
  successor_id AS successorId`;

/** The rows of `refresh_tokens`. Call the methods that write inside a transaction. */
export class RefreshTokens {
  readonly #clock: Clock;
  readonly #statements: ReturnType<typeof statements>;

  constructor(sqlite: Database, clock: Clock) {
    this.#clock = clock;
    this.#statements = statements(sqlite);
  }

  /** The device that received a token, valid or not. Undefined for an unknown token. */
  findOwner(token: string): RefreshTokenOwner | undefined {
    return this.#statements.byHash.get(hashToken(token)) ?? undefined;
  }

  /** A first token for a device without tokens. @param sessionId public id of the session that is issued with it */
  issue(deviceId: number, sessionId: string): string {
    return this.#insert(deviceId, sessionId).token;
  }

  /** Exchanges a token for the next. @param sessionId public id of the session that is issued with the next one */
  exchange(token: string, sessionId: string): Exchange {
    const row = this.#statements.byHash.get(hashToken(token));
    if (row === null) return { outcome: "unknown" };
    const nowMs = this.#clock.nowMs();
    if (row.expiresAtMs <= nowMs) return { outcome: "expired" };
    if (row.successorId === null) {
      const next = this.#insert(row.deviceId, sessionId);
      this.#statements.markUsed.run(row.id, next.id, nowMs);
      this.#statements.forgetOld.run(row.deviceId, REMEMBERED_MAX);
      return { outcome: "exchanged", token: next.token, lostSessionId: undefined };
    }
    const successor = this.#statements.byId.get(row.successorId);
    const isSuccessorUnused = successor?.successorId === null;
    if (!isSuccessorUnused) return { outcome: "reused" };
    // It was replaced unused. The client that repeated the request has the other token, and may be the same phone.
    if (row.usedAtMs === null) return { outcome: "replaced" };
    const wasReissued = this.#statements.others.get(successor.id, row.id) !== null;
    if (wasReissued || nowMs - row.usedAtMs > LOST_RESPONSE_MS) return { outcome: "reused" };
    const next = this.#insert(row.deviceId, sessionId);
    this.#statements.replace.run(successor.id, next.id);
    this.#statements.replace.run(row.id, next.id);
    return { outcome: "exchanged", token: next.token, lostSessionId: successor.sessionId };
  }

  /** Records that a session replaces another one that was issued with a token. */
  moveSession(deviceId: number, sessionId: string, newSessionId: string): void {
    this.#statements.moveSession.run(deviceId, sessionId, newSessionId);
  }

  /** Ends all tokens of a device. */
  endOfDevice(deviceId: number): void {
    this.#statements.endOfDevice.run(deviceId);
  }

  /** Ends all tokens of a user's devices, except those of one device if given. */
  endOfUser(userId: number, exceptDeviceId: number | undefined): void {
    this.#statements.endOfUser.run(userId, exceptDeviceId ?? -1);
  }

  /** Removes tokens that have expired, at most `limit`. Index refresh_tokens_expiry. @returns how many */
  sweep(limit: number): number {
    return this.#statements.sweep.run(this.#clock.nowMs(), limit).changes;
  }

  #insert(deviceId: number, sessionId: string): { id: number; token: string } {
    const token = newSecretToken(256);
    const nowMs = this.#clock.nowMs();
    const { lastInsertRowid } = this.#statements.insert.run(
      deviceId,
      hashToken(token),
      sessionId,
      nowMs,
      nowMs + REFRESH_LIFETIME_MS,
    );
    return { id: Number(lastInsertRowid), token };
  }
}

function statements(sqlite: Database) {
  return {
    /** Index refresh_tokens_token. */
    byHash: sqlite.prepare<Row, [Uint8Array]>(`SELECT ${COLUMNS} FROM refresh_tokens WHERE token_hash = ?1`),
    byId: sqlite.prepare<Row, [number]>(`SELECT ${COLUMNS} FROM refresh_tokens WHERE id = ?1`),
    /** Index refresh_tokens_successor. */
    others: sqlite.prepare<{ id: number }, [number, number]>(
      "SELECT id FROM refresh_tokens WHERE successor_id = ?1 AND id <> ?2 LIMIT 1",
    ),
    insert: sqlite.prepare<void, [number, Uint8Array, string, number, number]>(
      `INSERT INTO refresh_tokens (device_id, token_hash, session_id, created_at, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5)`,
    ),
    markUsed: sqlite.prepare<void, [number, number, number]>(
      "UPDATE refresh_tokens SET successor_id = ?2, used_at = ?3 WHERE id = ?1",
    ),
    /** Index refresh_tokens_device: the oldest go first, so that no token outlives its successor. */
    forgetOld: sqlite.prepare<void, [number, number]>(
      `DELETE FROM refresh_tokens WHERE device_id = ?1 AND id <=
         (SELECT id FROM refresh_tokens WHERE device_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
    ),
    replace: sqlite.prepare<void, [number, number]>("UPDATE refresh_tokens SET successor_id = ?2 WHERE id = ?1"),
    /** Index refresh_tokens_device. */
    moveSession: sqlite.prepare<void, [number, string, string]>(
      "UPDATE refresh_tokens SET session_id = ?3 WHERE device_id = ?1 AND session_id = ?2",
    ),
    endOfDevice: sqlite.prepare<void, [number]>("DELETE FROM refresh_tokens WHERE device_id = ?1"),
    endOfUser: sqlite.prepare<void, [number, number]>(
      "DELETE FROM refresh_tokens WHERE device_id IN (SELECT id FROM devices WHERE user_id = ?1 AND id <> ?2)",
    ),
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM refresh_tokens WHERE id IN
         (SELECT id FROM refresh_tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)`,
    ),
  };
}
