import type { Transaction } from "../../../db/transaction.ts";
import { type Exchange, type RefreshTokens } from "./refresh-tokens.ts";
import type { PreparedSession, Sessions } from "./sessions.ts";

/**
 * Most valid access tokens of one device. A refresh leaves the former token valid, because requests with it may be in
 * progress. A device that refreshes often has no more than these.
 */
const DEVICE_SESSIONS_MAX = 4;

/** Sessions and refresh tokens of devices, which begin and end together. Call everything here inside a transaction. */
export class DeviceSignIn {
  readonly #sessions: Sessions;
  readonly #refreshTokens: RefreshTokens;

  constructor(sessions: Sessions, refreshTokens: RefreshTokens) {
    this.#sessions = sessions;
    this.#refreshTokens = refreshTokens;
  }

  /**
   * Signs a device in and ends its former session.
   * @param deviceId row id
   * @returns its refresh token
   */
  begin(tx: Transaction, deviceId: number, prepared: PreparedSession): string {
    this.end(tx, deviceId);
    this.#sessions.begin(prepared, deviceId);
    return this.#refreshTokens.issue(deviceId, prepared.row.publicId);
  }

  /**
   * Exchanges a refresh token and begins the session. A reused token ends all sessions and tokens of the device. Any
   * other rejection changes nothing.
   */
  refresh(tx: Transaction, deviceId: number, refreshToken: string, prepared: PreparedSession): Exchange {
    const exchange = this.#refreshTokens.exchange(refreshToken, prepared.row.publicId);
    if (exchange.outcome === "reused") this.end(tx, deviceId);
    if (exchange.outcome !== "exchanged") return exchange;
    const originId = this.#sessions.findOriginOfDevice(deviceId);
    if (exchange.lostSessionId !== undefined) this.#sessions.end(tx, exchange.lostSessionId);
    this.#sessions.begin(prepared, deviceId, originId);
    this.#sessions.endOfDevice(tx, deviceId, DEVICE_SESSIONS_MAX);
    return exchange;
  }

  /** Ends all sessions and refresh tokens of a device: it must sign in again. */
  end(tx: Transaction, deviceId: number): void {
    this.#sessions.endOfDevice(tx, deviceId);
    this.#refreshTokens.endOfDevice(deviceId);
  }
}
