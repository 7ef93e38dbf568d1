/**
 * Limits wrong passwords of one link from all addresses. An account has only windows per address, because nobody may
 * lock out its owner. A link usually has a short password and no owner to lock out. So after 50 wrong passwords in an
 * hour, addresses that have not opened the link within 30 days wait for each other, longer with each wrong attempt.
 * Addresses that have opened it have only their own windows.
 */
import { createHash } from "node:crypto";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { RateLimitedError } from "../../accounts/rate-limits/headers.ts";
import { linkSubject, WRONG_BY_HOUR } from "../../accounts/rate-limits/counters.ts";
import type { RateLimiter } from "../../accounts/rate-limits/limiter.ts";
import type { ShareRows } from "./queries.ts";
import { summarizeShare } from "./summarize.ts";
import type { OpenedShare, Share } from "./types.ts";

/** Dependencies of {@link LinkGuesses}. */
interface LinkGuessesOptions {
  readonly rows: ShareRows;
  readonly limiter: Pick<RateLimiter, "check" | "used">;
  readonly writer: Writer;
  readonly events: Events;
  readonly clock: Clock;
}

/** Wrong passwords per hour that new addresses may send to a link without a pause. */
const FREE_WRONG_MAX = 50;
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;
/** How long an address counts as one that has opened a link. */
const OPENED_MS = 30 * DAY_MS;
/** Maximum number of links in memory; the least recently tried one is dropped first. */
const LINKS_MAX = 10_000;
const HASH_BYTES = 16;

/** The attempts of new addresses at one link. */
interface LinkAttempts {
  inProgress: number;
  /** When the last attempt was wrong; before any wrong one, the time of the first attempt. */
  lastWrongMs: number;
}

export class LinkGuesses {
  readonly #options: LinkGuessesOptions;
  /** By the share's public id. */
  readonly #attempts = new Map<string, LinkAttempts>();

  constructor(options: LinkGuessesOptions) {
    this.#options = options;
  }

  /**
   * Runs the check of a link's password, or rejects it for now.
   * @param addressKey the client address, or its /64
   * @param check throws AppError bad_credentials if the password is wrong
   * @throws AppError rate_limited; what `check` throws
   */
  async guard<T>(opened: OpenedShare, addressKey: string, check: () => Promise<T>): Promise<T> {
    const { rows, clock } = this.#options;
    const { share } = opened;
    if (share.passwordHash === null) return check();
    const address = hashAddress(share, addressKey);
    const openedMs = rows.findOpened(share.id, address, clock.nowMs() - OPENED_MS);
    const attempts = openedMs === undefined ? this.#admit(share) : undefined;
    try {
      const checked = await check();
      // Recorded once a day, because a locked link may be opened often.
      if (openedMs === undefined || openedMs < clock.nowMs() - DAY_MS) await this.#noteOpener(share, address);
      return checked;
    } catch (error) {
      if (error instanceof AppError && error.reason === "bad_credentials") await this.#noteWrong(opened, attempts);
      throw error;
    } finally {
      if (attempts !== undefined) attempts.inProgress--;
    }
  }

  /** Deletes addresses that opened no locked link for 30 days. @returns how many */
  async sweep(limit: number): Promise<number> {
    const { rows, writer, clock } = this.#options;
    return writer.run(() => rows.sweepOpeners(clock.nowMs() - OPENED_MS, limit));
  }

  /** Admits the attempt of a new address, or throws. @throws AppError rate_limited */
  #admit(share: Share): LinkAttempts {
    const { limiter, clock } = this.#options;
    const nowMs = clock.nowMs();
    const wrong = limiter.used(linkSubject(share.publicId), WRONG_BY_HOUR);
    const attempts = this.#attemptsAt(share, nowMs);
    // All attempts in progress may be wrong.
    if (wrong + attempts.inProgress >= FREE_WRONG_MAX) {
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.max(0, wrong - FREE_WRONG_MAX));
      // A time in the future was recorded before the clock was set back.
      const freeAtMs = Math.min(attempts.lastWrongMs, nowMs) + pauseMs;
      if (attempts.inProgress > 0 || nowMs < freeAtMs)
        throw pauseRequired(Math.max(freeAtMs, nowMs + PAUSE_MS_MIN), nowMs);
    }
    attempts.inProgress++;
    return attempts;
  }

  #attemptsAt({ publicId }: Share, nowMs: number): LinkAttempts {
    const attempts = this.#attempts.get(publicId) ?? { inProgress: 0, lastWrongMs: nowMs };
    this.#attempts.delete(publicId);
    this.#attempts.set(publicId, attempts);
    if (this.#attempts.size > LINKS_MAX) {
      const oldest = this.#attempts.keys().next();
      if (!oldest.done) this.#attempts.delete(oldest.value);
    }
    return attempts;
  }

  async #noteOpener(share: Share, address: Uint8Array): Promise<void> {
    const { rows, writer, clock } = this.#options;
    await writer.run(() => {
      // The share may have ended while its password was checked.
      if (rows.findById(share.id)?.publicId === share.publicId) rows.noteOpener(share.id, address, clock.nowMs());
    });
  }

  async #noteWrong({ share, node }: OpenedShare, attempts: LinkAttempts | undefined): Promise<void> {
    const { rows, limiter, writer, events, clock } = this.#options;
    const subject = linkSubject(share.publicId);
    const nowMs = clock.nowMs();
    limiter.check(subject, WRONG_BY_HOUR, null);
    if (attempts !== undefined) attempts.lastWrongMs = nowMs;
    const wrongPasswords = limiter.used(subject, WRONG_BY_HOUR);
    if (wrongPasswords < FREE_WRONG_MAX) return;
    await writer.run((tx) => {
      if (rows.findById(share.id)?.publicId !== share.publicId) return;
      if (!rows.setGuessesNotified(share.id, nowMs, nowMs - DAY_MS)) return;
      const { accountId } = share;
      events.emit(tx, "share.guessed", { accountId, share: summarizeShare(share, node), wrongPasswords });
    });
  }
}

function pauseRequired(resetAtMs: number, nowMs: number): RateLimitedError {
  return new RateLimitedError(
    { allowed: false, category: "signin", limit: FREE_WRONG_MAX, remaining: 0, resetAtMs, windowSeconds: 3600 },
    nowMs,
  );
}

/** The stored hash of an address, for the privacy of visitors. */
function hashAddress({ publicId }: Share, addressKey: string): Uint8Array {
  return createHash("sha256").update(`${publicId}\n${addressKey}`).digest().subarray(0, HASH_BYTES);
}
