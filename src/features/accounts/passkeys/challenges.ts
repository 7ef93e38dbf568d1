/**
 * The random numbers that authenticators sign (WebAuthn §13.4.3). Each is valid for five minutes and one response,
 * accepted or not. They are in memory only: after a restart, users start over.
 */
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";

const LIFETIME_MS = 5 * 60 * 1000;
const CHALLENGE_BITS = 256;
/** Limit on stored challenges; the oldest are dropped first, because a request for one costs nothing. */
const CHALLENGES_MAX = 50_000;

/** The purpose of a challenge: to sign in; or, only in one session, to add a passkey or to confirm the session. */
export type Purpose = "sign-in" | `add:${string}` | `confirm:${string}`;

export class Challenges {
  readonly #clock: Clock;
  readonly #open = new Map<string, { readonly purpose: Purpose; readonly expiresAtMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new challenge, base64url. */
  issue(purpose: Purpose): string {
    this.#forgetExpired();
    const challenge = newSecretToken(CHALLENGE_BITS);
    this.#open.set(challenge, { purpose, expiresAtMs: this.#clock.nowMs() + LIFETIME_MS });
    return challenge;
  }

  /** Whether this challenge was open for this purpose. It no longer is. */
  take(challenge: string, purpose: Purpose): boolean {
    const found = this.#open.get(challenge);
    this.#open.delete(challenge);
    return found !== undefined && found.purpose === purpose && found.expiresAtMs > this.#clock.nowMs();
  }

  /** All have the same lifetime, so the oldest expire first. */
  #forgetExpired(): void {
    const nowMs = this.#clock.nowMs();
    for (const [challenge, { expiresAtMs }] of this.#open) {
      if (expiresAtMs > nowMs && this.#open.size < CHALLENGES_MAX) return;
      this.#open.delete(challenge);
    }
  }
}
