/**
 * How often a password may be tried (contract §3, D58).
 *
 * Counted per (address, account named): every sign-in against the limit of the account's plan, and of these the wrong
 * ones also against the limit of `free`; and per address, over all accounts, up to a ceiling. Three windows of a minute:
 *
 * | window  | counts                                    | limit           | what a refusal by it shows |
 * |---------|-------------------------------------------|-----------------|----------------------------|
 * | address | all sign-ins from this address            | the ceiling     | the ceiling                |
 * | wrong   | wrong passwords for (address, account)    | free's          | free's                     |
 * | all     | sign-ins for (address, account)           | the plan's      | the plan's                 |
 *
 * Why so:
 * - Nobody locks out another address: every window is of one address. Somebody who guesses at an account from
 *   elsewhere doesn't touch the window of its owner.
 * - Nothing tells whether an account exists or what plan it has. Who knows no password only ever makes wrong tries;
 *   all these see is `wrong`, whose limit and numbers are free's for every name. An unknown name is held to free's limit
 *   in `all` too, where it has the same number of tries as in `wrong`: `wrong` is asked first, so it is always the one
 *   that refuses. A plan's own numbers are shown to the right password, and where right passwords used up `all`, from
 *   the same address and within the same minute. The address's ceiling asks before any account is looked at.
 * - A pro account has 10 tries a minute; but after 5 wrong ones each further one is refused before the password is
 *   looked at, the right one too. So a refusal tells nothing about the password, and costs no hashing.
 * - Tries that run side by side: a password takes tens of milliseconds to check, in which others arrive. If all were
 *   let through, a burst would make more wrong tries than the limit. If each were counted as wrong until proven
 *   right, a pro account with 10 right sign-ins at once would see half of them refused. So at most as many are checked
 *   at once as there may still be wrong ones; the others wait for their result, whether the account exists or not.
 * - Passwords asked elsewhere (registering a phone, changing the profile, unlocking a share) count in `wrong` and `all`
 *   when they are wrong, so that no other door gives more tries, and are refused when `wrong` is full. Right ones there
 *   are no sign-ins. The address's ceiling is for sign-ins; elsewhere the category of the request bounds guesses over
 *   many accounts below it (`general` allows an address 1,000 an hour, the ceiling 1,200).
 * - A refused try counts nowhere but in statistics: after Reset the next one is let through.
 *
 * Account names are kept as digests: people type passwords into the wrong field, and those must not reach the disk.
 */
import { createHash } from "node:crypto";
import type { Plans } from "../plans/plans.ts";
import type { PlanName } from "../users/types.ts";
import { addressSubject, type RateLimiter, type Verdict } from "./limiter.ts";

/** A password that may be checked now. Exactly one of its methods must be called, also after an error. */
export interface PasswordAttempt {
  /** The password was wrong, or there is no such account. Gives what to show: free's numbers. */
  failed(): Verdict;
  /** The password was right (also that of a disabled account). Gives what to show: the numbers of the account's plan. */
  succeeded(): Verdict;
  /** The password was not checked after all: overloaded, aborted. Gives free's numbers. Later calls change nothing. */
  abandoned(): Verdict;
}

/** Whether a password may be checked. */
export type PasswordGate =
  | { readonly allowed: true; readonly attempt: PasswordAttempt }
  /** Answer 429 with this verdict, and don't look at the password. */
  | { readonly allowed: false; readonly verdict: Verdict };

/** What {@link SigninLimiter} works with. */
export interface SigninLimiterOptions {
  readonly limiter: RateLimiter;
  readonly plans: Plans;
}

/** Tries under way for one (address, account), and who waits for one of them to end. */
interface UnderWay {
  tries: number;
  readonly waiting: (() => void)[];
}

/** So many requests wait for others of the same (address, account); more are refused as if all under way were wrong. */
const WAITING_MAX = 100;
const CATEGORY = "signin";

/** Decides on sign-ins and on every other check of a password. */
export class SigninLimiter {
  readonly #limiter: RateLimiter;
  readonly #plans: Plans;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(options: SigninLimiterOptions) {
    this.#limiter = options.limiter;
    this.#plans = options.plans;
  }

  /**
   * Asks for a sign-in. May wait for other sign-ins from this address to this account to end.
   * @param addressKey the client address, or its /64
   * @param account the e-mail in its compared form, whether there is such an account or not
   * @param plan the account's; undefined for an unknown account
   */
  async before(addressKey: string, account: string, plan: PlanName | undefined): Promise<PasswordGate> {
    const key = keyOf(addressKey, account);
    const ceilingSubject = addressSubject(addressKey);
    const planLimit = this.#plans[plan ?? "free"].limits.signin;
    const ceilingLimit = this.#plans.signinCeiling;
    for (;;) {
      const ceiling = this.#limiter.peek(ceilingSubject, CATEGORY, ceilingLimit);
      if (!ceiling.allowed) return this.#refuse(ceilingSubject, ceiling);
      const place = this.#place(key, planLimit);
      if (place === undefined) {
        this.#limiter.check(ceilingSubject, CATEGORY, ceilingLimit);
        return { allowed: true, attempt: this.#begin(key, plan ?? "free", false) };
      }
      if (!(place instanceof Promise)) return this.#refuse(allSubject(key), place);
      await place;
    }
  }

  /**
   * Asks for the check of a password at any other place: registering a phone, changing the profile, unlocking a share.
   * @param account the e-mail in its compared form, or a name of the share that no e-mail can be
   */
  async beforeElsewhere(addressKey: string, account: string): Promise<PasswordGate> {
    const key = keyOf(addressKey, account);
    for (;;) {
      const place = this.#place(key, null);
      if (place === undefined) return { allowed: true, attempt: this.#begin(key, "free", true) };
      if (!(place instanceof Promise)) return this.#refuse(allSubject(key), place);
      await place;
    }
  }

  /**
   * What to show of a sign-in before its body is read, or when its body names no account: free's numbers, as far as the
   * address's ceiling leaves them. Counts nothing, and refuses nothing: {@link before} or {@link malformed} does.
   */
  preview(addressKey: string): Verdict {
    const ceiling = this.#limiter.peek(addressSubject(addressKey), CATEGORY, this.#plans.signinCeiling);
    return { ...this.#asFree(ceiling), allowed: true };
  }

  /**
   * A sign-in that names no account (not JSON, not an e-mail address). No password is tried by it; it counts in the
   * address's ceiling alone. Shows free's numbers; refused when the ceiling is reached.
   */
  malformed(addressKey: string): Verdict {
    const ceiling = this.#limiter.check(addressSubject(addressKey), CATEGORY, this.#plans.signinCeiling);
    return ceiling.allowed ? this.#asFree(ceiling) : ceiling;
  }

  /** Sign-ins of this account from this address in the last minute, for its own usage record. */
  subjectOf(addressKey: string, account: string): string {
    return allSubject(keyOf(addressKey, account));
  }

  /** Room for one more try: undefined; none: the refusal; none before one under way has ended: when to ask again. */
  #place(key: string, planLimit: number | null): Verdict | Promise<void> | undefined {
    const wrong = this.#limiter.peek(wrongSubject(key), CATEGORY, this.#plans.free.limits.signin);
    if (!wrong.allowed) return wrong;
    const all = this.#limiter.peek(allSubject(key), CATEGORY, planLimit);
    if (!all.allowed) return all;
    const underWay = this.#underWay.get(key);
    const room = Math.min(wrong.remaining ?? Infinity, all.remaining ?? Infinity);
    if (underWay === undefined || underWay.tries < room) return undefined;
    if (underWay.waiting.length >= WAITING_MAX) return { ...wrong, allowed: false, remaining: 0 };
    return new Promise((resolve) => underWay.waiting.push(resolve));
  }

  #begin(key: string, plan: PlanName, isElsewhere: boolean): PasswordAttempt {
    const underWay = this.#underWay.get(key) ?? { tries: 0, waiting: [] };
    underWay.tries++;
    this.#underWay.set(key, underWay);
    let hasEnded = false;
    const end = (isWrong: boolean, isCounted: boolean): void => {
      if (hasEnded) return;
      hasEnded = true;
      // Without a limit: room was there when it began, and by now the password has been tried.
      if (isWrong) this.#limiter.check(wrongSubject(key), CATEGORY, null);
      if (isCounted) this.#limiter.check(allSubject(key), CATEGORY, null);
      underWay.tries--;
      if (underWay.tries === 0) this.#underWay.delete(key);
      for (const ask of underWay.waiting.splice(0)) ask();
    };
    const wrongNumbers = () => ({
      ...this.#limiter.peek(wrongSubject(key), CATEGORY, this.#plans.free.limits.signin),
      allowed: true,
    });
    return {
      failed: () => {
        end(true, true);
        return wrongNumbers();
      },
      succeeded: () => {
        end(false, !isElsewhere);
        return { ...this.#limiter.peek(allSubject(key), CATEGORY, this.#plans[plan].limits.signin), allowed: true };
      },
      abandoned: () => {
        // Not even in `all`: there it would fill an unknown name's window, and not that of a larger plan.
        end(false, false);
        return wrongNumbers();
      },
    };
  }

  #asFree(ceiling: Verdict): Verdict {
    const limit = this.#plans.free.limits.signin;
    if (limit === null) return { ...ceiling, limit, remaining: null };
    return { ...ceiling, limit, remaining: Math.min(limit, ceiling.remaining ?? limit) };
  }

  #refuse(subject: string, verdict: Verdict): PasswordGate {
    this.#limiter.countRejected(subject, CATEGORY);
    return { allowed: false, verdict };
  }
}

function keyOf(addressKey: string, account: string): string {
  return `${addressKey}|${createHash("sha256").update(account).digest("base64url").slice(0, 22)}`;
}

function allSubject(key: string): string {
  return `s:${key}`;
}

function wrongSubject(key: string): string {
  return `w:${key}`;
}
