/** Nouns of this feature. Times are milliseconds since 1970 UTC. */
import type { TreeNode } from "../../../tree/model/types.ts";
import type { ShownAlbum } from "../../library/albums/types.ts";
import type { User } from "../../accounts/users/types.ts";

/** A share between accounts, for its recipient. */
interface ReceivedBase {
  /** `shr_…` */
  readonly publicId: string;
  readonly canWrite: boolean;
  /** Earlier versions are shown too. */
  readonly showsVersions: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  readonly owner: User;
  /** The group that it is for; null if it is for the account itself. */
  readonly group: { readonly publicId: string; readonly name: string } | null;
}

/** A share of a file or folder. */
export interface ReceivedShare extends ReceivedBase {
  /** The shared node, as its recipient sees it. */
  readonly node: TreeNode;
  /** The same node, with the paths of its owner. */
  readonly ownersNode: TreeNode;
}

/** A share of an album. */
export interface ReceivedAlbum extends ReceivedBase {
  readonly album: ShownAlbum;
}

/** The columns of a share between accounts that concern its recipient. */
export interface ReceivedRow {
  readonly id: number;
  readonly publicId: string;
  readonly accountId: number;
  readonly nodeId: number | null;
  readonly albumId: number | null;
  readonly canWrite: number;
  readonly showsVersions: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  /** The group that it is for. */
  readonly groupId: number | null;
  readonly groupPublicId: string | null;
  readonly groupName: string | null;
}

/** A share that waits until an account confirms its email. */
export interface UnconfirmedRow extends ReceivedRow {
  readonly recipientId: number;
}
