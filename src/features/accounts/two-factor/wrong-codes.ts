/**
 * How often a wrong code may follow the right password. The windows of sign-in are per address; somebody who knows the
 * password and has many addresses could guess on in each of them. Somebody like that can use up an account's tries,
 * too: so addresses from which the account is signed in keep to the windows of sign-in, and don't count here. In
 * memory: a restart gives new tries.
 */
import type { Clock } from "../../../lib/clock.ts";
import { RateLimitedError } from "../rate-limits/headers.ts";

const WINDOW_MS = 60 * 60 * 1000;
/**
 * In any hour. Three codes of a million are right at a time: a day of guessing finds one in less than one of 600 tries.
 */
const WRONG_MAX = 20;
const ACCOUNTS_MAX = 10_000;

export class WrongCodes {
  readonly #clock: Clock;
  readonly #times = new Map<number, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws AppError rate_limited where the account has no tries left */
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
      `Too many wrong codes. Try again in ${minutes} minutes, or sign in with a passkey.`,
    );
  }

  /** Notes a wrong code. */
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
    // One to come was noted before the clock was set back: it would reject for as long as that was.
    return (this.#times.get(userId) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS && atMs <= nowMs);
  }
}
