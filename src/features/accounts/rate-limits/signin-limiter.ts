/**
 * How often a password may be tried.
 *
 * | window  | counts                                           | limit         | length   | scaled, switched off |
 * |---------|--------------------------------------------------|---------------|----------|----------------------|
 * | slow    | wrong passwords for (address, account)           | 50            | 1 hour   | never                |
 * | ceiling | all sign-ins from this address                   | the ceiling   | 1 minute | yes                  |
 * | guesses | wrong passwords from this address                | 20            | 1 minute | never                |
 * | wrong   | wrong passwords for (address, account)           | free's        | 1 minute | never                |
 * | all     | sign-ins for (address, account)                  | the plan's    | 1 minute | yes                  |
 *
 * They are checked in this order, those of the address before any account is looked up. A rejection shows the limit and
 * the length of its window; if several reject, the latest reset. docs/limits.md ("How sign-ins are counted") gives
 * the reasons: nobody locks out another address, nothing shows whether an account exists, and a rejection says nothing
 * about the password.
 */
import { createHash } from "node:crypto";
import type { Limit, Plans } from "../plans/plans.ts";
import type { PlanName } from "../users/types.ts";
import { addressSubject, type CountKind, type RateLimitResult, WRONG_BY_HOUR } from "./counters.ts";
import type { RateLimiter } from "./limiter.ts";

/** A password that may be checked now. Call exactly one of its methods, also after an error. */
interface PasswordAttempt {
  /** The password was wrong, or there is no such account. Returns the result to show, with the numbers of `free`. */
  failed(): RateLimitResult;
  /** The password was right and its code was wrong. Returns the result to show, with the numbers of `free`. */
  failedByCode(): RateLimitResult;
  /**
   * The password was right (even if the account is disabled). Returns the result to show, with the numbers of the
   * account's plan.
   */
  succeeded(): RateLimitResult;
  /** The password was not checked: overloaded or aborted. Returns the numbers of `free`. Later calls change nothing. */
  abandoned(): RateLimitResult;
}

/** Whether a password may be checked. */
export type PasswordGate =
  | { readonly allowed: true; readonly attempt: PasswordAttempt }
  /** Respond with 429 and this result, without checking the password. */
  | { readonly allowed: false; readonly limitResult: RateLimitResult };

/** Dependencies of {@link SigninLimiter}. */
interface SigninLimiterOptions {
  readonly limiter: RateLimiter;
  readonly plans: Plans;
}

/** One window that an attempt must fit into. */
interface Window {
  readonly subject: string;
  readonly kind: CountKind;
  readonly limit: Limit;
}

/** An attempt to check a password. */
interface PasswordTry {
  readonly addressKey: string;
  /** The key of the address and the account. */
  readonly key: string;
  /** Undefined if the password is checked elsewhere than at a sign-in. */
  readonly signIn: { readonly plan: PlanName } | undefined;
}

/**
 * Attempts in progress of an address, or of an (address, account), and the requests that wait for one of them to end.
 */
interface TriesInProgress {
  tries: number;
  readonly waiting: (() => void)[];
}

/**
 * At most this many requests wait for others of the same subject. More are rejected as if all in progress were wrong.
 */
const WAITING_MAX = 100;
const CATEGORY = "signin";

/** Admits sign-ins and all other password checks. */
export class SigninLimiter {
  readonly #limiter: RateLimiter;
  readonly #plans: Plans;
  /** By the subject in which they count if they are wrong. */
  readonly #inProgress = new Map<string, TriesInProgress>();

  constructor(options: SigninLimiterOptions) {
    this.#limiter = options.limiter;
    this.#plans = options.plans;
  }

  /**
   * Admits a sign-in. May wait until other attempts from this address end.
   * @param addressKey the client address, or its /64
   * @param account the email in its compared form, whether there is such an account or not
   * @param plan the account's; undefined for an unknown account
   */
  async before(addressKey: string, account: string, plan: PlanName | undefined): Promise<PasswordGate> {
    return this.#admit({ addressKey, key: keyOf(addressKey, account), signIn: { plan: plan ?? "free" } });
  }

  /**
   * Admits a password check at any other place: registering a phone, changing the profile, unlocking a share.
   * @param account the email in its compared form, or a name of the share that no email can have
   */
  async beforeElsewhere(addressKey: string, account: string): Promise<PasswordGate> {
    return this.#admit({ addressKey, key: keyOf(addressKey, account), signIn: undefined });
  }

  /**
   * The result to show for a sign-in before its body is read, or if its body names no account: the numbers of `free`,
   * within the ceiling of the address. Counts and rejects nothing: {@link before} and {@link malformed} do.
   */
  preview(addressKey: string): RateLimitResult {
    const ceiling = this.#limiter.peek(addressSubject(addressKey), CATEGORY, this.#plans.signinCeiling);
    return { ...this.#asFree(ceiling), allowed: true };
  }

  /**
   * Counts a sign-in that names no account (invalid JSON, not an email address). It tries no password, so it counts
   * only in the ceiling of the address. Shows the numbers of `free`; rejected when the ceiling is reached.
   */
  malformed(addressKey: string): RateLimitResult {
    const ceiling = this.#limiter.check(addressSubject(addressKey), CATEGORY, this.#plans.signinCeiling);
    return ceiling.allowed ? this.#asFree(ceiling) : ceiling;
  }

  /** Sign-ins of this account from this address in the last minute, for its own usage record. */
  subjectOf(addressKey: string, account: string): string {
    return allSubject(keyOf(addressKey, account));
  }

  async #admit(attempted: PasswordTry): Promise<PasswordGate> {
    for (;;) {
      const rejection = this.#findRejection(attempted);
      if (rejection !== undefined) return rejection;
      const blocking = this.#findBlocking(attempted);
      if (blocking === undefined) return { allowed: true, attempt: this.#begin(attempted) };
      if (blocking.waiting.length >= WAITING_MAX) {
        return this.#reject(allSubject(attempted.key), { ...this.#peekWrong(attempted), allowed: false, remaining: 0 });
      }
      await new Promise<void>((resolve) => blocking.waiting.push(resolve));
    }
  }

  /** The windows of an attempt, in the order of the table above. */
  #windowsOf({ addressKey, key, signIn }: PasswordTry): Window[] {
    const { signinCeiling, wrongPasswords } = this.#plans;
    const slow = { subject: wrongSubject(key), kind: WRONG_BY_HOUR, limit: wrongPasswords.perHour } as const;
    const guesses = {
      subject: wrongSubject(addressKey),
      kind: CATEGORY,
      limit: wrongPasswords.perMinuteOfAddress,
    } as const;
    const wrong = { subject: wrongSubject(key), kind: CATEGORY, limit: wrongPasswords.perMinute } as const;
    if (signIn === undefined) return [slow, guesses, wrong];
    const ceiling = { subject: addressSubject(addressKey), kind: CATEGORY, limit: signinCeiling } as const;
    const all = { subject: allSubject(key), kind: CATEGORY, limit: this.#plans[signIn.plan].limits.signin } as const;
    return [slow, ceiling, guesses, wrong, all];
  }

  #findRejection(attempted: PasswordTry): PasswordGate | undefined {
    const rejecting = this.#windowsOf(attempted)
      .map((window) => ({ window, limitResult: this.#peek(window) }))
      .filter(({ limitResult }) => !limitResult.allowed);
    const [first] = rejecting;
    if (first === undefined) return undefined;
    const resetAtMs = Math.max(...rejecting.map(({ limitResult }) => limitResult.resetAtMs));
    // In the statistics of the account, only a rejection by its own windows counts.
    const isOfAddress = first.window.subject === addressSubject(attempted.addressKey);
    return this.#reject(isOfAddress ? first.window.subject : allSubject(attempted.key), {
      ...first.limitResult,
      resetAtMs,
    });
  }

  /** The attempts in progress that must end before this one, since all of them may be wrong; undefined if none. */
  #findBlocking(attempted: PasswordTry): TriesInProgress | undefined {
    const freeTries = new Map<string, number>();
    for (const window of this.#windowsOf(attempted)) {
      const progress =
        window.subject === wrongSubject(attempted.addressKey) ? window.subject : wrongSubject(attempted.key);
      if (window.subject === addressSubject(attempted.addressKey)) continue;
      freeTries.set(progress, Math.min(freeTries.get(progress) ?? Infinity, this.#peek(window).remaining ?? Infinity));
    }
    for (const [subject, free] of freeTries) {
      const inProgress = this.#inProgress.get(subject);
      if (inProgress !== undefined && inProgress.tries >= free) return inProgress;
    }
    return undefined;
  }

  #begin({ addressKey, key, signIn }: PasswordTry): PasswordAttempt {
    if (signIn !== undefined) this.#limiter.check(addressSubject(addressKey), CATEGORY, this.#plans.signinCeiling);
    const subjects = [wrongSubject(addressKey), wrongSubject(key)];
    for (const subject of subjects) this.#enter(subject);
    let hasEnded = false;
    const end = (wrong: "password" | "code" | undefined, isCounted: boolean): void => {
      if (hasEnded) return;
      hasEnded = true;
      // Without a limit: there was room when it began, and the password has been tried.
      if (wrong !== undefined) {
        this.#limiter.check(wrongSubject(key), CATEGORY, null);
        this.#limiter.check(wrongSubject(key), WRONG_BY_HOUR, null);
      }
      if (wrong === "password") this.#limiter.check(wrongSubject(addressKey), CATEGORY, null);
      if (isCounted) this.#limiter.check(allSubject(key), CATEGORY, null);
      for (const subject of subjects) this.#leave(subject);
    };
    const wrongNumbers = () => ({ ...this.#peekWrong({ key }), allowed: true });
    return {
      failed: () => {
        end("password", true);
        return wrongNumbers();
      },
      failedByCode: () => {
        end("code", true);
        return wrongNumbers();
      },
      succeeded: () => {
        end(undefined, signIn !== undefined);
        const limit = this.#plans[signIn?.plan ?? "free"].limits.signin;
        return { ...this.#limiter.peek(allSubject(key), CATEGORY, limit), allowed: true };
      },
      abandoned: () => {
        // Not even in `all`: there it would fill the window of an unknown account, but not that of a larger plan.
        end(undefined, false);
        return wrongNumbers();
      },
    };
  }

  #enter(subject: string): void {
    const inProgress = this.#inProgress.get(subject) ?? { tries: 0, waiting: [] };
    inProgress.tries++;
    this.#inProgress.set(subject, inProgress);
  }

  #leave(subject: string): void {
    const inProgress = this.#inProgress.get(subject);
    if (inProgress === undefined) return;
    inProgress.tries--;
    if (inProgress.tries === 0) this.#inProgress.delete(subject);
    for (const admit of inProgress.waiting.splice(0)) admit();
  }

  #peek({ subject, kind, limit }: Window): RateLimitResult {
    return this.#limiter.peek(subject, kind, limit);
  }

  #peekWrong({ key }: Pick<PasswordTry, "key">): RateLimitResult {
    return this.#limiter.peek(wrongSubject(key), CATEGORY, this.#plans.wrongPasswords.perMinute);
  }

  #asFree(ceiling: RateLimitResult): RateLimitResult {
    const limit = this.#plans.wrongPasswords.perMinute;
    if (limit === null) return { ...ceiling, limit, remaining: null };
    return { ...ceiling, limit, remaining: Math.min(limit, ceiling.remaining ?? limit) };
  }

  #reject(subject: string, limitResult: RateLimitResult): PasswordGate {
    this.#limiter.countRejected(subject, CATEGORY);
    return { allowed: false, limitResult };
  }
}

function keyOf(addressKey: string, account: string): string {
  return `${addressKey}|${createHash("sha256").update(account).digest("base64url").slice(0, 22)}`;
}

function allSubject(key: string): string {
  return `s:${key}`;
}

/** @param key of an (address, account), or an address */
function wrongSubject(key: string): string {
  return `w:${key}`;
}
