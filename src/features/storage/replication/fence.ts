/**
 * Decides when changes may be confirmed. No clock is needed to be safe: a server that takes over first makes its own
 * lease and then restores the database. So if there is no newer lease after a change has reached the replica, every later
 * owner has that change.
 */
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { Lease, Replica, WriteFence } from "./types.ts";

/** Dependencies of {@link openWriteFence}. */
interface WriteFenceOptions {
  readonly lease: Pick<Lease, "state" | "problem" | "confirm">;
  readonly replica: Pick<Replica, "sync" | "problem">;
  readonly acknowledge: "disk" | "bucket";
  /** The number of changes of rows by this process. */
  readonly countChanges: () => number;
  /** Why no blob can be stored in the bucket, as a sentence; undefined if it can. */
  readonly bucketProblem: () => string | undefined;
}

/** Retry-After of requests that are rejected, or not confirmed. */
const RETRY_AFTER_S = 10;

/** Makes the fence of a server that has a replica. */
export function openWriteFence(options: WriteFenceOptions): WriteFence {
  return options.acknowledge === "bucket" ? new BucketFence(options) : new LeaseFence(options);
}

/** Requires only the lease: a change is confirmed once it is on this disk. */
class LeaseFence implements WriteFence {
  readonly #lease: WriteFenceOptions["lease"];

  constructor({ lease }: WriteFenceOptions) {
    this.#lease = lease;
  }

  get problem(): string | undefined {
    return this.#lease.problem;
  }

  async confirm(): Promise<void> {
    requireLease(this.#lease);
  }
}

/** Requires that every change is in the replica, and that this server still was the owner after that. */
class BucketFence implements WriteFence {
  readonly #options: WriteFenceOptions;
  /** The changes that are known to be confirmed. */
  #confirmed = -1;

  constructor(options: WriteFenceOptions) {
    this.#options = options;
  }

  get problem(): string | undefined {
    const { lease, replica, bucketProblem } = this.#options;
    return lease.problem ?? replica.problem ?? bucketProblem();
  }

  async confirm(): Promise<void> {
    const { lease, replica, countChanges } = this.#options;
    const count = countChanges();
    // A request that changed nothing confirms nothing that was not confirmed before.
    if (count > this.#confirmed) {
      try {
        await replica.sync();
        await lease.confirm();
      } catch (error) {
        // What is wrong may contain addresses and names of the service: it is for the operator, not for clients.
        throw notConfirmed(error);
      }
      this.#confirmed = Math.max(this.#confirmed, count);
    }
    requireLease(lease);
  }
}

/** The error of a change that can't be confirmed. The problem itself is for the operator. */
export function notConfirmed(cause?: unknown): AppError {
  return new AppError(
    "provider_unavailable",
    say`The server cannot confirm changes right now. Try again in a few seconds.`,
    { retryAfter: RETRY_AFTER_S },
    cause,
  );
}

/** Right before a response: the lease may have expired during the wait. @throws AppError provider_unavailable */
function requireLease({ state }: WriteFenceOptions["lease"]): void {
  if (state !== "valid") throw notConfirmed();
}
