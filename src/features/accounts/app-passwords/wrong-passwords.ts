/**
 * Limits wrong app passwords. They are counted apart from wrong account passwords: a laptop with an outdated app password
 * must not prevent its owner from signing in. No setting changes these limits.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { RateLimitResult } from "../rate-limits/counters.ts";
import { RateLimitedError } from "../rate-limits/headers.ts";
import type { RateLimiter } from "../rate-limits/limiter.ts";
import { emailKey } from "../users/email.ts";

/** Wrong app passwords per minute, address and user name. */
const PER_USERNAME = 20;
/** Wrong app passwords per minute and address, for any user names. */
const PER_ADDRESS = 60;
/** The kind of count whose window is a minute long. */
const KIND = "signin";

/** Counts wrong app passwords. */
export class WrongAppPasswords {
  readonly #limiter: RateLimiter;
  readonly #clock: Clock;

  constructor({ limiter, clock }: { readonly limiter: RateLimiter; readonly clock: Clock }) {
    this.#limiter = limiter;
    this.#clock = clock;
  }

  /**
   * Rejects another wrong app password when a limit is reached.
   * @param addressKey the client address, or its /64
   * @param username as given, whether it belongs to an account or not
   * @throws AppError rate_limited
   */
  reject(addressKey: string, username: string): void {
    const full = [
      this.#limiter.peek(usernameSubject(addressKey, username), KIND, PER_USERNAME),
      this.#limiter.peek(addressSubject(addressKey), KIND, PER_ADDRESS),
    ].filter(({ allowed }) => !allowed);
    const latest = full.toSorted((a, b) => b.resetAtMs - a.resetAtMs)[0];
    if (latest === undefined) return;
    const limitResult: RateLimitResult = { ...latest, category: KIND };
    throw new RateLimitedError(
      limitResult,
      this.#clock.nowMs(),
      say`Too many wrong app passwords. Correct the password in the program, then try again in a minute.`,
    );
  }

  /** Counts a wrong app password. */
  note(addressKey: string, username: string): void {
    this.#limiter.check(usernameSubject(addressKey, username), KIND, null);
    this.#limiter.check(addressSubject(addressKey), KIND, null);
  }
}

function addressSubject(addressKey: string): string {
  return `p:${addressKey}`;
}

function usernameSubject(addressKey: string, username: string): string {
  const digest = createHash("sha256").update(emailKey(username)).digest("base64url");
  return `p:${addressKey}|${digest.slice(0, 22)}`;
}
