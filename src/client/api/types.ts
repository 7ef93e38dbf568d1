/** API records, as `/docs` describes them; only the fields that the pages use. */

/** The roles of accounts. */
export type Role = "user" | "viewer" | "admin";

/** GET /api/users/profile: the signed-in user. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly plan: string;
  readonly createdAt: string;
  /** False until the email is confirmed. Before that, the account can't share. */
  readonly emailVerified: boolean;
}

/** The session of GET /api/auth/session. */
export interface Session {
  readonly id: string;
  readonly kind: "web" | "mobile" | "cli" | "key";
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** Until when the session counts as confirmed. */
  readonly confirmedUntil?: string | null;
}

/** The position of a page in its list. */
export interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

/** A file in a listing. `contentAvailable` and `isDeleted` are set only in listings of a past moment. */
export interface FileRecord {
  readonly type: "file";
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  /** Path of the parent folder. */
  readonly folder: string;
  readonly url: string;
  readonly thumbnailUrl: string;
  readonly hasThumbnail: boolean;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly isPublic: boolean;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly checksum: string;
  readonly version: number;
  readonly contentAvailable?: boolean;
  readonly isDeleted?: boolean;
}

/** A folder in a listing. */
export interface FolderRecord {
  readonly type: "folder";
  readonly id: string;
  readonly name: string;
  /** Path of the parent folder. */
  readonly folder: string;
  /** Path of the folder itself. */
  readonly path: string;
  readonly itemCount: number;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly description: string;
  readonly isDeleted?: boolean;
}

/** An item of a listing; `type` tells files and folders apart. */
export type Entry = FileRecord | FolderRecord;

/** GET /api/files */
export interface Listing {
  readonly files: readonly Entry[];
  readonly pagination: Pagination;
  readonly currentFolder: { readonly path: string; readonly name: string; readonly parent: string };
  readonly at?: string;
}

/** GET /api/files/trash */
export type TrashedEntry = Entry & {
  readonly originalFolder: string;
  readonly trashedAt: string;
  readonly deletedAt: string;
  readonly expiresAt: string;
};

/** An item that a bulk request could not process. */
export interface FailedItem {
  readonly id: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** A share as its owner sees it. */
export interface ShareRecord {
  readonly id: string;
  readonly kind: "public" | "link" | "upload" | "account";
  readonly permissions: "read" | "upload" | "write";
  readonly url: string;
  readonly token: string;
  readonly label: string | null;
  readonly expiresAt: string | null;
  readonly hasPassword: boolean;
  readonly maxDownloads: number | null;
  readonly downloads: number;
  readonly views: number;
  readonly lastAccessedAt: string | null;
  readonly createdAt: string;
  readonly pinned: boolean;
  readonly pinnedVersion: number | null;
  readonly hideLocation: boolean;
  readonly maxUploadBytes: number | null;
  /** Drop boxes only: how many unfinished uploads one address may have. */
  readonly maxUploadsPerAddress: number | null;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly user: string | null;
  /** Shares for an account only: whether earlier versions are visible. */
  readonly versions: boolean | null;
  readonly file?: { readonly id: string; readonly name: string; readonly type: "file" };
  readonly folder?: { readonly id: string; readonly name: string; readonly type: "folder" };
}

/** GET /api/users/usage */
export interface Usage {
  readonly storage: {
    readonly used: number;
    readonly quota: number | null;
    readonly remaining: number | null;
    readonly percentage: number;
    readonly files: number;
    readonly folders: number;
    readonly versions: number;
    readonly trash: number;
  };
  readonly byType: readonly { readonly type: string; readonly files: number; readonly bytes: number }[];
  readonly transfers: {
    readonly period: string;
    readonly uploads: number;
    readonly uploadedBytes: number;
    readonly downloads: number;
    readonly downloadedBytes: number;
  };
  readonly devices: { readonly count: number; readonly limit: number | null };
  readonly plan: {
    readonly name: string;
    readonly maxFileSize: number | null;
    readonly maxNodes: number | null;
  };
}
