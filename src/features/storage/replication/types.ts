/** What the parts of the replication promise each other. */

/** Whether this server may write. */
export type LeaseState =
  /** Confirmed within the lease time. */
  | "valid"
  /** The object store did not confirm it in time; it may be renewed. */
  | "expired"
  /** Another server has taken over. It never changes back. */
  | "deposed";

/** The right to write to a store. One server at a time has it. */
export interface Lease {
  /** Grows by one with every start and every takeover. */
  readonly epoch: number;
  /** Where Litestream replicates to, below the prefix of the replica: `db/00000001`. */
  readonly path: string;
  /** By the monotonic clock, now. */
  readonly state: LeaseState;
  /** Why writes are rejected, as a sentence that names the owner if it is known; undefined while `valid`. */
  readonly problem: string | undefined;
  /**
   * Resolves if no other server had taken over when a request that begins after this call was answered. Concurrent
   * calls share requests.
   * @throws AppError provider_unavailable
   */
  confirm(): Promise<void>;
  /** Calls `effect` once, when another server has taken over. */
  onDeposed(effect: () => void): void;
  /** Ends the heartbeat. @param isReleased lets another server take over without waiting: everything is replicated */
  close(isReleased: boolean): Promise<void>;
}

/** The continuous copy of the database in the object store. */
export interface Replica {
  /**
   * Resolves once every transaction that is committed now is in the object store. Concurrent calls share the wait.
   * @throws AppError provider_unavailable after some seconds, or at once while the replica is known to be unavailable
   */
  sync(): Promise<void>;
  /** How long the oldest transaction that is not in the object store has waited; 0 if there is none. */
  readonly lagMs: number;
  /** Why the replica does not work or is late, as a sentence; undefined if all is well. */
  readonly problem: string | undefined;
  /** Stops it after everything committed is in the object store. @returns whether that was reached in time */
  close(): Promise<boolean>;
}

/** Decides whether writes may begin, and when they may be confirmed. */
export interface WriteFence {
  /** Why no write may begin now, as a sentence; undefined if writes may. */
  readonly problem: string | undefined;
  /**
   * Resolves when everything that is committed now may be confirmed.
   * @throws AppError provider_unavailable: it is not confirmed
   */
  confirm(): Promise<void>;
}
