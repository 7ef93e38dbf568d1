/** Nouns of this feature. Times are milliseconds since 1970 UTC. */
import type { TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";

/** A share between accounts, for the one it was made for. */
export interface ReceivedShare {
  /** `shr_…` */
  readonly publicId: string;
  readonly canWrite: boolean;
  /** Earlier contents are shown, too. */
  readonly showsVersions: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  readonly owner: User;
  /** The shared node, as its recipient sees it. */
  readonly node: TreeNode;
}

/** A share between accounts as it is stored, as far as its recipient is concerned. */
export interface ReceivedRow {
  readonly id: number;
  readonly publicId: string;
  readonly accountId: number;
  readonly nodeId: number;
  readonly canWrite: number;
  readonly showsVersions: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly label: string | null;
}

/** A share that waits for the email of an account, which has not confirmed it. */
export interface UnconfirmedRow extends ReceivedRow {
  readonly recipientId: number;
}
