/**
 * How long the body of a request may take to arrive, and how many of one address may be on their way.
 *
 * A request that waits for its body costs a place among the requests that the server takes at once. Before this bound,
 * some thousand connections of one address that sent a byte every few seconds held all of them. So:
 * - A form, JSON, or the fields of an upload's form (`small`) have 15 s in all.
 * - A file that a guest sends (`guestFile`) must come at 1 KB/s on average.
 * - Of one address at most so many of these wait longer than a second; the next one is rejected. Those that come
 * quicker
 *   never meet the bound, so that a crowd of slow ones delays nobody else at the same address.
 * - Requests that wait like this don't count among the requests that the server takes at once.
 *
 * A file of a sender who signed in (`file`) may take as long as the line needs.
 *
 * Only time in which nothing arrives counts, not what the server itself takes.
 */
import { AppError } from "../errors.ts";

/** The kind of a body, which decides its pace. */
export type BodyKind = "small" | "guestFile" | "file";

/** How long a small body may take, in milliseconds. */
export const SMALL_BODY_MS = 15_000;
/** Bytes per second that a guest's file must average, after the time of a small body. */
const GUEST_BYTES_PER_SECOND = 1_024;
/** A body that arrives within this time needs no place. */
const GRACE_MS = 1_000;
/** Bodies of one address that may be on their way at all, those of the first second included. */
const OPEN_MAX = 1_024;
/** How often the connection of a body that arrives is given its idle time again. */
const KEEP_OPEN_EVERY_MS = 1_000;

/** Dependencies of {@link BodyPaces}. */
export interface BodyPacesOptions {
  /** Bodies of one address that may wait longer than a second. */
  readonly perAddressMax: number;
  /** Milliseconds that only go forward. */
  readonly now?: () => number;
}

/** The bodies of one address that are on their way. */
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

  /** Requests whose small body, or guest's file, is on its way. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Follows the body of a request.
   * @param addressOf gives the client address, or its /64; asked where it matters alone
   * @param keepOpen gives the connection its idle time again: on its own, Bun ends a request whose body comes slower than
   *   some 16 KiB/s after that, though it is alive
   */
  follow(addressOf: () => string, kind: BodyKind, keepOpen: () => void): BodyPace {
    return new BodyPace(this, addressOf, kind, keepOpen);
  }

  /** Notes that a body is on its way. @returns false where too many of this address are */
  open(addressKey: string): boolean {
    const bodies = this.#addresses.get(addressKey) ?? { open: 0, waiting: 0 };
    if (bodies.open >= Math.max(OPEN_MAX, this.perAddressMax)) return false;
    bodies.open++;
    this.#waiting++;
    this.#addresses.set(addressKey, bodies);
    return true;
  }

  /** Takes a place for a body that is still on its way after a second. @returns false where there is none */
  takeSlot(addressKey: string): boolean {
    const bodies = this.#addresses.get(addressKey);
    if (bodies === undefined || bodies.waiting >= this.perAddressMax) return false;
    bodies.waiting++;
    return true;
  }

  /** Undoes {@link open}, and {@link takeSlot} where the body had a place. */
  close(addressKey: string, hasSlot: boolean): void {
    const bodies = this.#addresses.get(addressKey);
    if (bodies === undefined) return;
    this.#waiting--;
    if (hasSlot) bodies.waiting--;
    if (--bodies.open === 0) this.#addresses.delete(addressKey);
  }
}

/**
 * One body on its way. To be called by the one reader of bodies, and by readers of forms where the file begins and
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
  /** Since when the reader waits; undefined while the server works on what has come. */
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
   * The reading begins.
   * @param cancel ends it: a read that waits returns then, and {@link arrived} throws
   * @throws AppError rate_limited where too many bodies of this address are on their way
   */
  begin(cancel: () => void): void {
    this.#cancel = cancel;
    this.#open();
    if (this.#rejection !== undefined) throw this.#rejection;
  }

  /** The reader waits for the next bytes. */
  wait(): void {
    this.#waitingSinceMs = this.#paces.now();
  }

  /** The next bytes are there, or the end. @throws AppError rate_limited | body_timeout where the body is given up */
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

  /** From here on the body is something else: the file of a form begins, or has ended. */
  become(kind: BodyKind): void {
    this.#kind = kind;
    if (kind === "file") this.#close();
    else this.#open();
  }

  /** The reading has ended: complete, failed or cut. */
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
    this.#lookIn(Math.max(0, GRACE_MS - this.#waitedMs));
  }

  #close(): void {
    clearTimeout(this.#timer);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#paces.close(this.#addressOf(), this.#hasSlot);
    this.#hasSlot = false;
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    const nowMs = this.#paces.now();
    const waitedMs = this.#waitedMs + (nowMs - (this.#waitingSinceMs ?? nowMs));
    if (waitedMs >= this.#allowedMs) return this.#reject(tooSlow());
    if (!this.#hasSlot && waitedMs >= GRACE_MS) {
      if (!this.#paces.takeSlot(this.#addressOf()))
        return this.#reject(new TooManyBodiesError(this.#paces.perAddressMax));
      this.#hasSlot = true;
    }
    // Not before that can anything be due.
    this.#lookIn(Math.ceil((this.#hasSlot ? this.#allowedMs : GRACE_MS) - waitedMs));
  }

  #reject(error: AppError): void {
    this.#rejection = error;
    this.#cancel();
  }
}

function tooSlow(): AppError {
  return new AppError("body_timeout", "The request took too long to arrive. Send it again over a faster connection.", {
    limitSeconds: SMALL_BODY_MS / 1000,
  });
}

/** The error of a request whose address has too many unfinished bodies. */
export class TooManyBodiesError extends AppError {
  constructor(
    readonly limit: number,
    /** By then all small bodies that are unfinished now have arrived or been given up. */
    readonly retryAfterSeconds = SMALL_BODY_MS / 1000,
  ) {
    super(
      "rate_limited",
      `Your address has too many unfinished requests (${limit}). Finish some, or try again in ` +
        `${retryAfterSeconds} seconds.`,
      { resource: "bodies", limit, retryAfter: retryAfterSeconds },
    );
  }
}
