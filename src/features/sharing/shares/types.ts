/** Nouns of this feature. Times are milliseconds since 1970 UTC, sizes bytes. */
import type { Album } from "../../library/albums/types.ts";
import type { SortOrder, TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";

/**
 * `public`: the one link of a public file. `link`: reads a file, folder or album. `upload`: a drop box. `account`: for one
 * other account of this server.
 */
type ShareKind = "public" | "link" | "upload" | "account";

/** Most uploads in progress of a drop box. */
export const UPLOADS_OF_DROP_BOX = 200;

/**
 * Uploads in progress from one address, unless the owner chose another number. Filling a drop box takes ten addresses.
 */
export const UPLOADS_PER_ADDRESS = UPLOADS_OF_DROP_BOX / 10;

/** The permissions that a share gives. */
export type SharePermissions = "read" | "upload" | "write";

/** A shared album. */
export interface SharedAlbum extends Album {
  readonly kind: "album";
}

/** What a share is of. */
export type SharedItem = TreeNode | SharedAlbum;

/** A share as it is stored. */
export interface Share {
  /** Row id. */
  readonly id: number;
  /** `shr_…`; the id for its owner. */
  readonly publicId: string;
  /** The owner's `users.id`. */
  readonly accountId: number;
  /** Null for a share of an album. */
  readonly nodeId: number | null;
  /** Null for a share of a file or folder. */
  readonly albumId: number | null;
  readonly kind: ShareKind;
  /** The nonce from which its token is made; see `tokens.ts`. */
  readonly nonce: Uint8Array;
  readonly createdAtMs: number;
  readonly label: string | null;
  readonly expiresAtMs: number | null;
  /** argon2id; null for none. */
  readonly passwordHash: string | null;
  /** Raised by each change: earlier grants become invalid. */
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
  /** Most uploads in progress from one address; null for {@link UPLOADS_PER_ADDRESS}. */
  readonly maxUploadsPerAddress: number | null;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly canWrite: boolean;
  /**
   * For a share between accounts: whether earlier versions are shown; null if that follows from the permission to
   * write.
   */
  readonly showsVersions: boolean | null;
  /** Null for a share with a group, and for one with a person who was chosen by name: the owner may not know the email. */
  readonly recipientEmailKey: string | null;
  readonly recipientId: number | null;
  /** Row id of the group that it is for. */
  readonly groupId: number | null;
  /** Public id and name of that group, or of a person who was chosen by name. */
  readonly recipientPublicId: string | null;
  readonly recipientName: string | null;
}

/** A new share, already checked. */
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

/** Requested settings of a share; absent fields stay, null removes. */
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

/** Requested settings of a new share, which may be for another account. */
export interface ShareRequest extends ShareSettings {
  /** The email of the account that it is for. */
  readonly user?: string | null | undefined;
  /** Emails, and ids of people. */
  readonly users?: readonly string[] | undefined;
  /** Ids of groups. */
  readonly groups?: readonly string[] | undefined;
}

/** Whom a share between accounts is for. */
export interface Recipient {
  readonly emailKey: string | null;
  /** The account; null for an email without one, and for a group. */
  readonly userId: number | null;
  readonly groupId: number | null;
}

/** The shares of an item with several people and groups. */
export interface SharedWithMany {
  readonly shares: readonly OwnShare[];
  /** Public ids of those that there were before. */
  readonly updated: readonly string[];
}

/** A share and what it is of, for its owner. */
export interface OwnShare {
  readonly share: Share;
  readonly node: SharedItem;
}

/** A share that a visitor has opened. */
export interface OpenedShare {
  readonly token: string;
  readonly share: Share;
  /** The shared file, folder or album; a pinned file has the content of its version. */
  readonly node: SharedItem;
  readonly owner: User;
}

/** The sorts of the owner's list. */
export const SHARE_SORTS = ["createdAt", "natural", "expiresAt"] as const;

/** One page of the shares of an account. */
export interface SharesQuery {
  readonly sort: (typeof SHARE_SORTS)[number];
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}
