/**
 * Limits how often a wrong code may follow the right password. The windows of sign-in are per address, so somebody who
 * knows the password and has many addresses could guess from each of them. That person could also use up the attempts
 * of an account. Addresses from which the account is signed in therefore have only the windows of sign-in, and don't
 * count here. In memory: a restart gives new attempts.
 */
import type { Clock } from "../../../lib/clock.ts";
import { plural, say } from "../../../translations/say.ts";
import { RateLimitedError } from "../rate-limits/headers.ts";

const WINDOW_MS = 60 * 60 * 1000;
/**
 * Per hour. Three of a million codes are valid at a time, so a day of guessing succeeds with a probability below 1/600.
 */
const WRONG_MAX = 20;
const ACCOUNTS_MAX = 10_000;

export class WrongCodes {
  readonly #clock: Clock;
  readonly #times = new Map<number, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws AppError rate_limited if the account has no attempts left */
  check(userId: number): void {
    const times = this.#recent(userId);
    const oldestMs = times[0];
    if (oldestMs === undefined || times.length < WRONG_MAX) return;
    const nowMs = this.#clock.nowMs();
    const resetAtMs = oldestMs + WINDOW_MS;
    const minutes = Math.ceil((resetAtMs - nowMs) / 60_000);
    throw new RateLimitedError(
      {
        allowed: false,
        category: "signin",
        limit: WRONG_MAX,
        remaining: 0,
        resetAtMs,
        windowSeconds: WINDOW_MS / 1000,
      },
      nowMs,
      say`Too many wrong codes. Try again in ${plural(minutes, { one: "# minute", other: "# minutes" })}, or sign in with a passkey.`,
    );
  }

  /** Records a wrong code. */
  note(userId: number): void {
    const times = this.#recent(userId);
    times.push(this.#clock.nowMs());
    this.#times.delete(userId);
    if (this.#times.size >= ACCOUNTS_MAX) {
      const oldest = this.#times.keys().next();
      if (!oldest.done) this.#times.delete(oldest.value);
    }
    this.#times.set(userId, times);
  }

  #recent(userId: number): number[] {
    const nowMs = this.#clock.nowMs();
    // An attempt in the future was recorded before the clock was set back. It would block the account for that time.
    return (this.#times.get(userId) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS && atMs <= nowMs);
  }
}
