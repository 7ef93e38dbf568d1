/** Nouns of this feature. Times are milliseconds since 1970 UTC. */

/** A group of accounts. */
export interface Group {
  /** Row id. */
  readonly id: number;
  /** `grp_…` */
  readonly publicId: string;
  readonly name: string;
  readonly createdAtMs: number;
}

/** A group in the administrators' list. */
export interface GroupRow extends Group {
  readonly members: number;
  /** Shares that are for the group. */
  readonly shares: number;
}

/** An account in a group. */
export interface Member {
  /** `usr_…` */
  readonly publicId: string;
  readonly email: string;
  readonly name: string;
  readonly disabledAtMs: number | null;
  readonly addedAtMs: number;
}
