import { S3Error } from "../../../blobs/s3/error.ts";
import { AppError } from "../../../errors.ts";
import type { Lease, Replica } from "../replication/types.ts";

/** The owner of a store with a replica. */
interface StoreOwner {
  readonly lease: Pick<Lease, "confirm" | "state">;
  readonly replica: Pick<Replica, "sync">;
  /** How long an unconfirmed lease is valid. */
  readonly ttlMs: number;
}

/** How long a server that takes over may need until it knows which objects are marked for deletion. */
const RESTORE_MS = 10 * 60_000;
/** Lease times until a server that takes over has begun to restore the database. */
const TAKEOVER_TTLS = 2;

/**
 * Decides when objects may be deleted from the bucket of a store that has a replica. A server that takes over must not
 * miss an object that the database it restores still names. So only the owner deletes, only what was marked for a while,
 * and only once the mark is in the replica. Without a replica, nothing is checked.
 */
export class RemovalGuard {
  readonly #isReplicated: boolean;
  #owner: StoreOwner | undefined;

  constructor(isReplicated: boolean) {
    this.#isReplicated = isReplicated;
  }

  /** Lets this process delete objects, because it owns the store. Commands never do. */
  enable(owner: StoreOwner): void {
    this.#owner = owner;
  }

  /** Objects must have been marked before this time. */
  markedBeforeMs(nowMs: number): number {
    if (!this.#isReplicated) return Number.POSITIVE_INFINITY;
    return nowMs - TAKEOVER_TTLS * (this.#owner?.ttlMs ?? 0) - RESTORE_MS;
  }

  /**
   * For how many seconds a deletion that is confirmed afterwards may be on its way; undefined without a limit. Another server
   * takes over later than that, and may then store the same blob again.
   */
  get validSeconds(): number | undefined {
    return this.#owner === undefined ? undefined : Math.max(1, Math.floor(this.#owner.ttlMs / 1000));
  }

  /** Waits until all marks are in the replica. @returns whether objects may be deleted then */
  async begin(): Promise<boolean> {
    const owner = this.#owner;
    if (owner === undefined) return !this.#isReplicated;
    return isConfirmed(() => owner.replica.sync());
  }

  /** Call directly before each deletion. @returns whether this server still owns the store */
  async confirm(): Promise<boolean> {
    const owner = this.#owner;
    if (owner === undefined) return !this.#isReplicated;
    return (await isConfirmed(() => owner.lease.confirm())) && owner.lease.state === "valid";
  }
}

async function isConfirmed(confirm: () => Promise<void>): Promise<boolean> {
  try {
    await confirm();
    return true;
  } catch (error) {
    if (error instanceof AppError || error instanceof S3Error) return false;
    throw error;
  }
}
