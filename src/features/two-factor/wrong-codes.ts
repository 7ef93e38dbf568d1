/**
 * How often a wrong code may follow the right password. The windows of sign-in are per address; somebody who knows the
 * password and has many addresses could guess on in each of them. Only who knows the password gets here, so nobody else
 * can use an account's tries up. In memory: a restart gives new ones.
 */
import { AppError } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";

const WINDOW_MS = 60 * 60 * 1000;
/** In any hour. Three codes of a million are right at a time: a day of guessing finds one in less than one of 600 tries. */
const WRONG_MAX = 20;
const ACCOUNTS_MAX = 10_000;

/** See the head of this file. */
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
    const retryAfter = Math.max(1, Math.ceil((oldestMs + WINDOW_MS - this.#clock.nowMs()) / 1000));
    throw new AppError(
      "rate_limited",
      `Too many wrong codes. Try again in ${Math.ceil(retryAfter / 60)} minutes, or sign in with a passkey.`,
      { resource: "signin", limit: WRONG_MAX, retryAfter },
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
    const sinceMs = this.#clock.nowMs() - WINDOW_MS;
    return (this.#times.get(userId) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
