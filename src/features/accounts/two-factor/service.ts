import type { Database } from "bun:sqlite";
import { Secret, TOTP } from "otpauth";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import { checkedAddress } from "../users/password-line.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import { invalidCode } from "../auth/rejections.ts";
import type { SecondFactors } from "../auth/second-factors.ts";
import type { User } from "../users/types.ts";
import { type TwoFactorRow, twoFactorQueries } from "./queries.ts";
import { findRecoveryCode, hashRecoveryCode, newRecoveryCode, RECOVERY_CODES } from "./recovery-codes.ts";
import { openSecret, sealSecret } from "./sealed-secret.ts";
import { WrongCodes } from "./wrong-codes.ts";

/** Dependencies of {@link TwoFactorService}. */
interface TwoFactorServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: Events;
  /** Encrypts the secrets: 32 bytes that are stored outside the database. */
  readonly key: Uint8Array;
  /** Whether an account can sign in with a passkey too. */
  readonly hasPasskeys: (userId: number) => boolean;
  /** Whether an account is now signed in from this address. @param addressKey the address, or its /64 */
  readonly isSignedInFrom: (userId: number, addressKey: string) => boolean;
}

/** The second factor of an account as shown to its owner. */
interface TwoFactorState {
  readonly isEnabled: boolean;
  readonly recoveryCodesLeft: number;
}

/** RFC 6238 as implemented by every authenticator app. */
const ISSUER = "Larder";
const STEP_SECONDS = 30;
const DIGITS = 6;
/** A phone's clock may be half a minute off, and people type slowly (RFC 6238 §5.2). */
const STEPS_AROUND = 1;
/** RFC 4226 §4 recommends 160 bits. */
const SECRET_BYTES = 20;
/** After this time, an unfinished setup starts over. */
const SETUP_MS = 60 * 60 * 1000;

/**
 * Two-factor authentication: codes of an authenticator app and recovery codes, each valid once. Callers check the
 * password first.
 */
export class TwoFactorService implements SecondFactors {
  readonly #options: TwoFactorServiceOptions;
  readonly #queries: ReturnType<typeof twoFactorQueries>;
  readonly #wrongCodes: WrongCodes;

  constructor(options: TwoFactorServiceOptions) {
    this.#options = options;
    this.#queries = twoFactorQueries(options.sqlite);
    this.#wrongCodes = new WrongCodes(options.clock);
  }

  /** Whether sign-in requires a second factor, and how many recovery codes are left. */
  state(userId: number): TwoFactorState {
    const isEnabled = this.#findEnabled(userId) !== undefined;
    return { isEnabled, recoveryCodesLeft: isEnabled ? this.#queries.codes.all(userId).length : 0 };
  }

  /** @throws AppError invalid_request if it is already on, so that no proof is requested */
  checkOff(userId: number): void {
    if (this.#findEnabled(userId) !== undefined) throw isOnAlready();
  }

  methodsOf(userId: number): readonly string[] {
    if (this.#findEnabled(userId) === undefined) return [];
    return ["totp", "recovery_code", ...(this.#options.hasPasskeys(userId) ? ["passkey"] : [])];
  }

  /**
   * Begins the setup with a new secret, which becomes active when {@link enable} receives a code made from it. An
   * earlier unfinished setup is dropped. Durable when this returns.
   * @param checkProof runs first in the same transaction; what it throws undoes it
   * @throws AppError invalid_request if it is already on; what `checkProof` throws
   */
  async setUp(
    user: User,
    checkProof: TransactionCheck,
  ): Promise<{ readonly secret: string; readonly otpauthUrl: string }> {
    const { writer, clock, key } = this.#options;
    const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
    await writer.run((tx) => {
      checkProof(tx);
      if (this.#findEnabled(user.id) !== undefined) throw isOnAlready();
      this.#queries.begin.run(user.id, sealSecret(key, user.id, bytes), clock.nowMs());
    });
    const totp = makeTotp(bytes, user.email);
    return { secret: totp.secret.base32, otpauthUrl: totp.toString() };
  }

  /**
   * Turns the second factor on; durable when this returns.
   * @returns the recovery codes, shown only here
   * @throws AppError invalid_code; invalid_request if no setup is in progress, or if it is already on
   */
  async enable(user: User, code: string, checkProof: TransactionCheck): Promise<readonly string[]> {
    return this.#options.writer.run((tx) => {
      checkProof(tx);
      const row = this.#queries.find.get(user.id);
      if (row?.enabledAtMs !== null && row !== null) throw isOnAlready();
      const nowMs = this.#options.clock.nowMs();
      if (row === null || row.createdAtMs + SETUP_MS <= nowMs) {
        throw new AppError(
          "invalid_request",
          say`The two-factor setup has expired or was not started. Start it again.`,
        );
      }
      const step = this.#findStep(user.id, row, code);
      if (step === undefined) throw invalidCode();
      this.#queries.enable.run(user.id, nowMs, step);
      this.#emitChange(tx, user, "two_factor_on");
      return this.#renewCodes(user.id);
    });
  }

  /**
   * Uses up a code of the app or a recovery code. Of several requests with the same code, one succeeds.
   * @throws AppError invalid_code | rate_limited
   */
  async use(userId: number, code: string): Promise<void> {
    const address = checkedAddress();
    // Another person who knows the password can't use up the attempts of an address from which the owner is signed in.
    const isOwners = address !== undefined && this.#options.isSignedInFrom(userId, address);
    await this.#options.writer.run(() => {
      // In the transaction, so that each of many concurrent attempts sees those before it.
      if (!isOwners) this.#wrongCodes.check(userId);
      try {
        this.#use(userId, code);
      } catch (error) {
        const isWrong = error instanceof AppError && error.reason === "invalid_code";
        if (isWrong && !isOwners) this.#wrongCodes.note(userId);
        throw error;
      }
    });
  }

  /**
   * Replaces all recovery codes; durable when this returns.
   * @throws AppError invalid_request if two-factor authentication is off
   */
  async renewRecoveryCodes(user: User, checkProof: TransactionCheck): Promise<readonly string[]> {
    return this.#options.writer.run((tx) => {
      checkProof(tx);
      if (this.#findEnabled(user.id) === undefined) throw isOff();
      this.#emitChange(tx, user, "recovery_codes");
      return this.#renewCodes(user.id);
    });
  }

  /**
   * Turns the second factor off and deletes the recovery codes, in the caller's transaction: for its owner,
   * administrators and the command line.
   * @returns whether it was on
   */
  disable(tx: Transaction, user: Pick<User, "id" | "viaDeviceId">): boolean {
    const wasOn = this.#findEnabled(user.id) !== undefined;
    this.#queries.remove.run(user.id);
    this.#queries.removeCodes.run(user.id);
    if (wasOn) this.#emitChange(tx, user, "two_factor_off");
    return wasOn;
  }

  /** Turns it off for its owner, in its own transaction. @throws AppError invalid_request if it is already off */
  async switchOff(user: User, checkProof: TransactionCheck): Promise<void> {
    await this.#options.writer.run((tx) => {
      checkProof(tx);
      if (!this.disable(tx, user)) throw isOff();
    });
  }

  #use(userId: number, code: string): void {
    const row = this.#findEnabled(userId);
    if (row === undefined) throw invalidCode();
    const step = this.#findStep(userId, row, code);
    if (step !== undefined) {
      this.#queries.useStep.run(userId, step);
      return;
    }
    const hash = findRecoveryCode(
      code,
      this.#queries.codes.all(userId).map(({ codeHash }) => codeHash),
    );
    if (hash === undefined) throw invalidCode();
    this.#queries.removeCode.run(userId, hash);
  }

  /** The time step of a code of the app; undefined for wrong, old and used codes (RFC 6238 §5.2). */
  #findStep(userId: number, row: TwoFactorRow, code: string): number | undefined {
    const token = code.replaceAll(/\s/g, "");
    if (!/^\d{6}$/.test(token)) return undefined;
    const secret = openSecret(this.#options.key, userId, row.sealedSecret);
    if (secret === undefined) {
      throw new AppError(
        "invalid_code",
        say`Codes from your app no longer work. Use a recovery code, or ask your administrator to turn off two-factor authentication.`,
      );
    }
    const nowMs = this.#options.clock.nowMs();
    const delta = makeTotp(secret, "").validate({ token, timestamp: nowMs, window: STEPS_AROUND });
    if (delta === null) return undefined;
    const step = Math.floor(nowMs / 1000 / STEP_SECONDS) + delta;
    return step > row.lastStep ? step : undefined;
  }

  #findEnabled(userId: number): TwoFactorRow | undefined {
    const row = this.#queries.find.get(userId);
    return row === null || row.enabledAtMs === null ? undefined : row;
  }

  #renewCodes(userId: number): readonly string[] {
    this.#queries.removeCodes.run(userId);
    const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode());
    for (const code of codes) this.#queries.addCode.run(userId, hashRecoveryCode(code));
    return codes;
  }

  #emitChange(
    tx: Transaction,
    { id: accountId, viaDeviceId }: Pick<User, "id" | "viaDeviceId">,
    what: "two_factor_on" | "two_factor_off" | "recovery_codes",
  ): void {
    this.#options.events.emit(tx, "security.credentials_changed", {
      accountId,
      what,
      deviceId: viaDeviceId ?? null,
    });
  }
}

function makeTotp(secret: Uint8Array, label: string): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: "SHA1",
    digits: DIGITS,
    period: STEP_SECONDS,
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
  });
}

function isOnAlready(): AppError {
  return new AppError(
    "invalid_request",
    say`Two-factor authentication is already on. Turn it off, then set it up again.`,
  );
}

function isOff(): AppError {
  return new AppError("invalid_request", say`Two-factor authentication is off. Set it up first.`);
}
