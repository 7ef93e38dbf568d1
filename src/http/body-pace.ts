/**
 * Limits how long the body of a request may take to arrive, and how many bodies of one address may be in progress.
 *
 * A request that waits for its body counts toward the maximum of concurrent requests. Without these limits, a few
 * thousand connections from one address that send a byte every few seconds could block the server. So:
 * - A form, JSON, or the fields of an upload's form (`small`) may take 15 s in total.
 * - A guest's file (`guestFile`) must arrive at 1 KB/s on average.
 * - A limited number of these bodies per address may take longer than a second; further ones are rejected. Faster
 *   bodies are never rejected, so slow clients do not affect others at the same address.
 * - Requests that wait for such a body do not count toward the maximum of concurrent requests.
 *
 * The file of a signed-in user (`file`) may take as long as the connection needs.
 *
 * Only the time during which nothing arrives counts, not the time that the server needs.
 */
import { AppError } from "../errors.ts";
import { plural, say } from "../translations/say.ts";

/** The kind of a body, which sets its limits. */
export type BodyKind = "small" | "guestFile" | "file";

/** How long a small body may take, in milliseconds. */
const SMALL_BODY_MS = 15_000;
/** Minimum bytes per second of a guest's file, on average, after the first 15 seconds. */
const GUEST_BYTES_PER_SECOND = 1_024;
/** A body that arrives within this time needs no slot. */
const GRACE_MS = 1_000;
/** Maximum number of bodies in progress per address, including fast ones. */
const OPEN_MAX = 1_024;
/** How often the idle timeout of a connection is restarted while its body arrives. */
const KEEP_OPEN_EVERY_MS = 1_000;

/** Dependencies of {@link BodyPaces}. */
interface BodyPacesOptions {
  /** Maximum number of bodies per address that take longer than a second. */
  readonly perAddressMax: number;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** The bodies in progress of one address. */
interface AddressBodies {
  open: number;
  waiting: number;
}

/** The bodies that are being received. */
export class BodyPaces {
  readonly perAddressMax: number;
  readonly now: () => number;
  readonly #addresses = new Map<string, AddressBodies>();
  #waiting = 0;

  constructor({ perAddressMax, now }: BodyPacesOptions) {
    this.perAddressMax = perAddressMax;
    this.now = now ?? (() => performance.now());
  }

  /** Number of requests whose small body or guest's file is in progress. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Watches the body of a request.
   * @param addressOf returns the client address, or its /64; called only if it is needed
   * @param keepOpen restarts the idle timeout of the connection. Otherwise Bun ends a request after that time if its body
   *   arrives at less than about 16 KiB/s
   */
  follow(addressOf: () => string, kind: BodyKind, keepOpen: () => void): BodyPace {
    return new BodyPace(this, addressOf, kind, keepOpen);
  }

  /** Counts a body as in progress. @returns false if this address has too many */
  open(addressKey: string): boolean {
    const bodies = this.#addresses.get(addressKey) ?? { open: 0, waiting: 0 };
    if (bodies.open >= Math.max(OPEN_MAX, this.perAddressMax)) return false;
    bodies.open++;
    this.#waiting++;
    this.#addresses.set(addressKey, bodies);
    return true;
  }

  /** Takes a slot for a body that is still in progress after a second. @returns false if none is free */
  takeSlot(addressKey: string): boolean {
    const bodies = this.#addresses.get(addressKey);
    if (bodies === undefined || bodies.waiting >= this.perAddressMax) return false;
    bodies.waiting++;
    return true;
  }

  /** Undoes {@link open}, and {@link takeSlot} if the body had a slot. */
  close(addressKey: string, hasSlot: boolean): void {
    const bodies = this.#addresses.get(addressKey);
    if (bodies === undefined) return;
    this.#waiting--;
    if (hasSlot) bodies.waiting--;
    if (--bodies.open === 0) this.#addresses.delete(addressKey);
  }
}

/**
 * Enforces the limits of one body. Called by the reader of bodies, and by the reader of forms when the file begins and
 * ends.
 */
export class BodyPace {
  readonly #paces: BodyPaces;
  readonly #addressOf: () => string;
  readonly #keepOpen: () => void;
  #kind: BodyKind;
  #cancel: () => void = () => {};
  #rejection: AppError | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  #hasSlot = false;
  #waitedMs = 0;
  #allowedMs = SMALL_BODY_MS;
  /** Since when the reader waits; undefined while the server processes received bytes. */
  #waitingSinceMs: number | undefined;
  #keepAliveMs: number;

  /** See {@link BodyPaces.follow}. */
  constructor(paces: BodyPaces, addressOf: () => string, kind: BodyKind, keepOpen: () => void) {
    this.#paces = paces;
    this.#addressOf = addressOf;
    this.#kind = kind;
    this.#keepOpen = keepOpen;
    this.#keepAliveMs = paces.now();
  }

  /**
   * Call when reading begins.
   * @param cancel ends the reading: a waiting read returns, and {@link arrived} throws
   * @throws AppError rate_limited if this address has too many bodies in progress
   */
  begin(cancel: () => void): void {
    this.#cancel = cancel;
    this.#open();
    if (this.#rejection !== undefined) throw this.#rejection;
  }

  /** Call before waiting for the next bytes. */
  wait(): void {
    this.#waitingSinceMs = this.#paces.now();
  }

  /** Call when bytes or the end arrived. @throws AppError rate_limited | body_timeout if the body exceeds a limit */
  arrived(bytes: number): void {
    const nowMs = this.#paces.now();
    if (this.#isOpen) this.#waitedMs += nowMs - (this.#waitingSinceMs ?? nowMs);
    this.#waitingSinceMs = undefined;
    if (this.#rejection !== undefined) throw this.#rejection;
    if (this.#kind === "guestFile") this.#allowedMs += (bytes * 1000) / GUEST_BYTES_PER_SECOND;
    if (this.#kind !== "small" && nowMs - this.#keepAliveMs > KEEP_OPEN_EVERY_MS) {
      this.#keepOpen();
      this.#keepAliveMs = nowMs;
    }
  }

  /** Changes the kind of the body: the file of a form begins or has ended. */
  become(kind: BodyKind): void {
    this.#kind = kind;
    if (kind === "file") this.#close();
    else this.#open();
  }

  /** Call when reading has ended, also after an error. */
  end(): void {
    this.#close();
  }

  #open(): void {
    if (this.#isOpen || this.#kind === "file") return;
    if (!this.#paces.open(this.#addressOf())) {
      this.#reject(new TooManyBodiesError(this.#paces.perAddressMax));
      return;
    }
    this.#isOpen = true;
    this.#checkIn(Math.max(0, GRACE_MS - this.#waitedMs));
  }

  #close(): void {
    clearTimeout(this.#timer);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#paces.close(this.#addressOf(), this.#hasSlot);
    this.#hasSlot = false;
  }

  #checkIn(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms);
  }

  #check(): void {
    const nowMs = this.#paces.now();
    const waitedMs = this.#waitedMs + (nowMs - (this.#waitingSinceMs ?? nowMs));
    if (waitedMs >= this.#allowedMs) return this.#reject(tooSlow());
    if (!this.#hasSlot && waitedMs >= GRACE_MS) {
      if (!this.#paces.takeSlot(this.#addressOf()))
        return this.#reject(new TooManyBodiesError(this.#paces.perAddressMax));
      this.#hasSlot = true;
    }
    // Nothing can exceed a limit before that time.
    this.#checkIn(Math.ceil((this.#hasSlot ? this.#allowedMs : GRACE_MS) - waitedMs));
  }

  #reject(error: AppError): void {
    this.#rejection = error;
    this.#cancel();
  }
}

function tooSlow(): AppError {
  return new AppError(
    "body_timeout",
    say`The request took too long to arrive. Send it again over a faster connection.`,
    {
      limitSeconds: SMALL_BODY_MS / 1000,
    },
  );
}

/** The error of a request whose address has too many unfinished bodies. */
export class TooManyBodiesError extends AppError {
  constructor(
    readonly limit: number,
    /** By then, all current small bodies have arrived or timed out. */
    readonly retryAfterSeconds = SMALL_BODY_MS / 1000,
  ) {
    super(
      "rate_limited",
      say`Your address has too many unfinished requests (${limit}). Finish some, or try again in ${plural(retryAfterSeconds, { one: "# second", other: "# seconds" })}.`,
      { resource: "bodies", limit, retryAfter: retryAfterSeconds },
    );
  }
}
