import type { BlobRef } from "../../blobs/blob-store.ts";
import type { Digest } from "../../blobs/digest.ts";
import type { Transaction } from "../../db/transaction.ts";

/** A file and the path of its folder. Times are milliseconds since 1970 UTC. */
export interface FileNode {
  readonly kind: "file";
  /** Key inside the database; never leaves the server. */
  readonly id: number;
  /** `file_…`: stays the same through every rename, move and new content. */
  readonly publicId: string;
  readonly accountId: number;
  readonly parentId: number;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
  readonly createdAtMs: number;
  /** Last change of the file itself: content, name, folder, tags, metadata, visibility. */
  readonly modifiedAtMs: number;
  /** When the current content was stored. */
  readonly contentAtMs: number;
  /** Row id of the device that sent it; null if no device did. */
  readonly contentDeviceId: number | null;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly blobId: number;
  readonly digest: Digest;
  /** 1 for the first content, one more for each new one. */
  readonly version: number;
  /** The name as uploaded, before any rename. */
  readonly originalName: string;
  /** As reported by the sending device; null if it sent none. */
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  /** The file's own date: `fileModifiedAt`, or when the content was stored if none was sent. */
  readonly fileAtMs: number;
  readonly isPublic: boolean;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Journal number of its last change. */
  readonly seq: number;
}

/** A folder. An account's root has the path, name and parent path `/`. */
export interface FolderNode {
  readonly kind: "folder";
  readonly id: number;
  /** `fold_…` */
  readonly publicId: string;
  readonly accountId: number;
  /** Null for the root. */
  readonly parentId: number | null;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
  readonly path: string;
  /** Direct children of both kinds. */
  readonly itemCount: number;
  readonly createdAtMs: number;
  /** Last change of the folder itself; changes of its children do not count. */
  readonly modifiedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly seq: number;
}

/** A file or a folder. */
export type TreeNode = FileNode | FolderNode;

/** Identifies a node; every node is a NodeRef. The writer reads the node again inside the transaction. */
export interface NodeRef {
  readonly accountId: number;
  readonly publicId: string;
}

/**
 * `natural`: by name as people expect it, see `lib/natural-key.ts`. `fileModifiedAt`: files by their own date, folders by
 * their creation.
 */
export type SortField = "name" | "natural" | "size" | "createdAt" | "modifiedAt" | "fileModifiedAt";
export type SortOrder = "asc" | "desc";

/** One page of a folder: folders first, then files; ties by id in the direction of the sort. */
export interface ListQuery {
  readonly accountId: number;
  readonly folder: FolderNode;
  /** Only this kind; both if absent. */
  readonly kind?: "file" | "folder" | undefined;
  readonly sort: SortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/**
 * One page of the matches in a folder or in everything below it. A filter that applies only to files leaves folders
 * out.
 */
export interface FindQuery extends ListQuery {
  /** Substring of the name, case-insensitive. */
  readonly search?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether a file must carry all of `tags` (the default) or any of them. */
  readonly tagMode?: "all" | "any" | undefined;
  /** `image/jpeg` or `image/*`; parameters and case are ignored. */
  readonly mediaTypePattern?: string | undefined;
  readonly recursive: boolean;
}

/** A page and the total number of matches. */
export interface NodePage {
  readonly nodes: readonly TreeNode[];
  readonly total: number;
}

/**
 * The totals of an account. `usedBytes` counts against the quota: files, earlier versions, trash and bytes reserved for
 * uploads in progress.
 */
export interface Usage {
  readonly files: number;
  /** Without the root. */
  readonly folders: number;
  readonly fileBytes: number;
  readonly versionBytes: number;
  readonly trashBytes: number;
  readonly reservedBytes: number;
  readonly usedBytes: number;
  /** Files and folders, including those in the trash: counted against the plan's limit. */
  readonly nodes: number;
}

/** Files and bytes of one media type (lower case, without parameters). */
export interface TypeUsage {
  readonly type: string;
  readonly files: number;
  readonly bytes: number;
}

/** A blob in the store. `isNew` if its bytes were written just now: that repairs a row marked as damaged. */
export type StoredBlob = BlobRef & { readonly isNew?: boolean };

/** What to do if the name is taken: number the new file, add a version to the existing one, or reject. */
export type OnConflict = "rename" | "version" | "error";

/** A file to be created. Names and paths are normalized already (`lib/path.ts`), tags are checked (`labels.ts`). */
export interface NewFile {
  readonly accountId: number;
  /** The user who stores it, for the version list. */
  readonly createdBy: number;
  readonly folderPath: string;
  readonly name: string;
  readonly blob: StoredBlob;
  readonly mediaType: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** If it differs from `name`. */
  readonly originalName?: string | undefined;
  readonly fileModifiedAt?: string | undefined;
  readonly capturedAt?: string | undefined;
  readonly isPublic: boolean;
  readonly onConflict: OnConflict;
  /** Bytes that the account may hold; null for no limit. */
  readonly quotaBytes: number | null;
}

/** Called inside the transaction with the current file (for If-Match). Throwing rolls the transaction back. */
export type Precondition = (current: FileNode) => void;

/** New content for an existing file. */
export interface NewContent {
  readonly file: NodeRef;
  readonly blob: StoredBlob;
  readonly mediaType: string;
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  readonly fileModifiedAt?: string | undefined;
  readonly capturedAt?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

/** A version of a file: the current one or an earlier one. */
export interface FileVersion {
  readonly version: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly createdAtMs: number;
  /** Row id of the user who stored it; null if unknown. */
  readonly createdBy: number | null;
}

/** Metadata to be merged: a key with null is removed. */
export type MetadataChanges = Readonly<Record<string, string | null>>;

/** Changes of a file; an absent field stays as it is. */
export interface FileChanges {
  readonly name?: string | undefined;
  /** The target folder; created if missing. */
  readonly folderPath?: string | undefined;
  /** All tags the file is to have. */
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: MetadataChanges | undefined;
  readonly isPublic?: boolean | undefined;
  /** The file's own date: an ISO 8601 time with an offset; null for none. */
  readonly fileModifiedAt?: string | null | undefined;
  /** The media type under a new name. */
  readonly mediaType?: string | undefined;
}

/** Changes of a folder; an absent field stays as it is. */
export interface FolderChanges {
  readonly name?: string | undefined;
  readonly folderPath?: string | undefined;
  readonly metadata?: MetadataChanges | undefined;
}

/** A folder to be created. */
export interface NewFolder {
  readonly accountId: number;
  /** Created if missing. */
  readonly parentPath: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Options of a copy. */
export interface CopyOptions {
  /** The account that receives the copy; by default the one that owns the source. */
  readonly accountId?: number | undefined;
  /** The name of the copy; by default that of the source. */
  readonly name?: string | undefined;
  /** The media type of the copy of a file; by default that of the source. */
  readonly mediaType?: string | undefined;
  /** Called in the transaction that makes a large copy (`copyLarge`) visible. Throwing rolls it back. */
  readonly admit?: ((tx: Transaction) => void) | undefined;
  readonly onConflict: OnConflict;
  /** Copy tags, description, metadata and the properties of WebDAV clients; never the public flag. */
  readonly preserveMetadata: boolean;
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  /**
   * Reserves disk space for the rows of a large copy.
   * @returns a function that releases it
   * @throws AppError disk_full
   */
  readonly reserveSpace?: ((bytes: number) => () => void) | undefined;
  /** The lock tokens for a large copy, as in {@link TreeWriter.withLockTokens}. */
  readonly lockTokens?: readonly string[] | undefined;
}

/** The stored data of a deleted node. */
export interface DeletedNode {
  readonly publicId: string;
  readonly name: string;
  readonly deletedAtMs: number;
}

/** Media type → files and bytes. */
export type TypeTotals = Readonly<Record<string, readonly [files: number, bytes: number]>>;

/** Folded tag → files that carry it. */
export type TagTotals = Readonly<Record<string, number>>;

/** The totals of a node and everything below it. */
export interface NodeTotals {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  readonly versionBytes: number;
  readonly types: TypeTotals;
  readonly tags: TagTotals;
}

/** A file or folder in the trash. */
export interface TrashedNode {
  /** The node as it was when it was trashed, with the paths of that time. `parentId` means nothing. */
  readonly node: TreeNode;
  /** Path of its former folder. */
  readonly folder: string;
  readonly trashedAtMs: number;
}

/** What a folder shows of everything below it. */
export interface FolderState {
  /**
   * In quotes. Changes with the name, content, size, date and properties of anything below the folder, and only with
   * these; its own name and location do not count.
   */
  readonly etag: string;
  /** Bytes of all files below; null until they are added up after an upgrade. */
  readonly sizeBytes: number | null;
  /** When a direct child was last changed. */
  readonly changedAtMs: number;
}

/** A stored counter that differs from a fresh count. */
export interface Drift {
  /** Which counter, e.g. `accounts.file_bytes` or `blobs.refs`. */
  readonly counter: string;
  /** Row id of the account, folder, tag or blob; for a media type, the type itself. */
  readonly of: number | string;
  readonly stored: number;
  readonly counted: number;
}

/** The lock that a WebDAV client requests (RFC 4918, section 9.10). */
export interface LockRequest {
  /** Row id of the user whose program asks for it. */
  readonly createdBy: number;
  /** Name of the program's app password; null if it has none. */
  readonly program: string | null;
  /** The element DAV:owner, with all namespace declarations that it needs; null without one. */
  readonly ownerXml: string | null;
  /** Otherwise it is shared: others may lock the same. */
  readonly isExclusive: boolean;
  /** Whether it also locks everything below a folder. */
  readonly isDeep: boolean;
  /** How long it lasts unless it is refreshed. */
  readonly durationMs: number;
}

/** A lock that has not expired. */
export interface Lock extends Omit<LockRequest, "durationMs"> {
  /** `lck_…` */
  readonly publicId: string;
  /** The state token of RFC 4918, section 6.5: a URI. Short, because programs put several into one header. */
  readonly token: string;
  /** Owner of the tree. */
  readonly accountId: number;
  /** Row id of the file or folder that was locked. */
  readonly nodeId: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A lock that covers a node. */
export interface CoveringLock extends Lock {
  /** How many levels above the node the locked folder is; 0 for a lock of the node itself. */
  readonly height: number;
}
