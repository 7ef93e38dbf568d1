/** Nouns of this feature. Times are milliseconds since 1970 UTC, sizes bytes. */
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";

/**
 * `public`: the one link of a file that is public. `link`: reads a file or folder. `upload`: a drop box. `account`: for
 * one other account of this server.
 */
export type ShareKind = "public" | "link" | "upload" | "account";

/** Uploads in progress that a drop box takes at all. */
export const UPLOADS_OF_DROP_BOX = 200;

/**
 * Uploads in progress of one address, unless the owner chose another number: filling a drop box takes ten addresses.
 */
export const UPLOADS_PER_ADDRESS = UPLOADS_OF_DROP_BOX / 10;

/** The permissions that a share gives. */
export type SharePermissions = "read" | "upload" | "write";

/** A share as it is stored. */
export interface Share {
  /** Key inside the database. */
  readonly id: number;
  /** `shr_…`; what the owner manages it by. */
  readonly publicId: string;
  /** The owner's `users.id`. */
  readonly accountId: number;
  readonly nodeId: number;
  readonly kind: ShareKind;
  /** The nonce from which its token is made; see `tokens.ts`. */
  readonly nonce: Uint8Array;
  readonly createdAtMs: number;
  readonly label: string | null;
  readonly expiresAtMs: number | null;
  /** argon2id; null for none. */
  readonly passwordHash: string | null;
  /** Raised by each change: grants of before open nothing. */
  readonly grantEpoch: number;
  readonly maxDownloads: number | null;
  /** The written count; {@link ShareStatistics} adds those that are not written yet. */
  readonly downloads: number;
  readonly views: number;
  readonly lastAccessedAtMs: number | null;
  readonly downloadedAtMs: number | null;
  /** The version that is shown; null follows the latest. */
  readonly pinnedVersion: number | null;
  readonly hidesLocation: boolean;
  readonly maxUploadBytes: number | null;
  /** Uploads in progress that a drop box takes from one address; null for {@link UPLOADS_PER_ADDRESS}. */
  readonly maxUploadsPerAddress: number | null;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly canWrite: boolean;
  /** Of a share for an account: whether earlier contents are shown; null as far as it lets write. */
  readonly showsVersions: boolean | null;
  readonly recipientEmailKey: string | null;
  readonly recipientId: number | null;
}

/** A share to be made, checked already. */
export interface NewShare {
  readonly kind: Exclude<ShareKind, "public">;
  readonly label: string | null;
  readonly expiresAtMs: number | null;
  readonly passwordHash: string | null;
  readonly maxDownloads: number | null;
  readonly isPinned: boolean;
  readonly hidesLocation: boolean;
  readonly maxUploadBytes: number | null;
  readonly maxUploadsPerAddress: number | null;
  readonly canWrite: boolean;
  readonly showsVersions: boolean | null;
  readonly recipientEmailKey: string | null;
}

/** Requested settings of a share; absent fields stay as they are, null clears. */
export interface ShareSettings {
  readonly expiresAt?: string | null | undefined;
  readonly expiresIn?: string | null | undefined;
  readonly password?: string | null | undefined;
  readonly maxDownloads?: number | null | undefined;
  readonly label?: string | null | undefined;
  readonly permissions?: SharePermissions | null | undefined;
  readonly pinned?: boolean | null | undefined;
  readonly hideLocation?: boolean | null | undefined;
  readonly maxUploadBytes?: number | null | undefined;
  readonly maxUploadsPerAddress?: number | null | undefined;
  readonly versions?: boolean | null | undefined;
}

/** The same for one that is made, which may be for another account. */
export interface ShareRequest extends ShareSettings {
  /** The email of the account that it is for. */
  readonly user?: string | null | undefined;
}

/** A share and what it opens, for its owner. */
export interface OwnShare {
  readonly share: Share;
  readonly node: TreeNode;
}

/** A share that somebody was let in by. */
export interface OpenedShare {
  readonly token: string;
  readonly share: Share;
  /** The shared node; a pinned file is that of its version. */
  readonly node: TreeNode;
  readonly owner: User;
}

/** A share that opens exactly one file. */
export interface OpenedFile extends OpenedShare {
  readonly node: FileNode;
}
