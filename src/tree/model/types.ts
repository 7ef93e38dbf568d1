import type { BlobRef } from "../../blobs/blob-store.ts";
import type { Digest } from "../../blobs/digest.ts";

/** A file as it stands, with the path of the folder that holds it. Times are milliseconds since 1970 UTC. */
export interface FileNode {
  readonly kind: "file";
  /** Key inside the database; never leaves the server. */
  readonly id: number;
  /** `file_…`: the same through every rename, move and new content. */
  readonly publicId: string;
  readonly accountId: number;
  readonly parentId: number;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
  readonly createdAtMs: number;
  /** Last change of anything of its own: content, name, place, labels, metadata, publicity. */
  readonly modifiedAtMs: number;
  /** When the present content came. */
  readonly contentAtMs: number;
  /** The device that sent it (its row id), where it was one. */
  readonly contentDeviceId: number | null;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly blobId: number;
  readonly digest: Digest;
  /** 1 for the first content, one more with each new one. */
  readonly version: number;
  /** The name as uploaded, whatever it was renamed to since. */
  readonly originalName: string;
  /** As the sending device told them (D27); null where it did not. */
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  readonly isPublic: boolean;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Journal number of its last change. */
  readonly seq: number;
}

/** A folder as it stands. An account's root has the path, name and parent path `/`. */
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
  /** Last change of the folder itself; what happens to its children leaves it as it is. */
  readonly modifiedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly seq: number;
}

/** An entry of the tree. */
export type TreeNode = FileNode | FolderNode;

/** What names a node beyond doubt; every node is one. It is read again inside the deed. */
export interface NodeRef {
  readonly accountId: number;
  readonly publicId: string;
}

export type SortField = "name" | "size" | "createdAt" | "modifiedAt";
export type SortOrder = "asc" | "desc";

/** One page of a folder: folders first, then files; ties by id in the direction of the sort. */
export interface ListQuery {
  readonly accountId: number;
  readonly folder: FolderNode;
  /** Only these; both where absent. */
  readonly kind?: "file" | "folder" | undefined;
  readonly sort: SortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** One page of what matches, in the folder or in everything below it. Any filter of a file's own leaves folders out. */
export interface FindQuery extends ListQuery {
  /** Substring of the name, upper and lower case alike. */
  readonly search?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether a file must carry all of `tags` (the default) or any of them. */
  readonly tagMode?: "all" | "any" | undefined;
  /** `image/jpeg` or `image/*`; parameters and case do not count. */
  readonly mediaTypePattern?: string | undefined;
  readonly recursive: boolean;
}

/** A page and how many there are in all. */
export interface NodePage {
  readonly nodes: readonly TreeNode[];
  readonly total: number;
}

/**
 * What an account holds. `usedBytes` is what counts against its quota: files, earlier versions, trash, and what is
 * promised to uploads that are under way (D16).
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
  /** Files and folders, those in the trash included: what counts against the plan's number. */
  readonly nodes: number;
}

/** Files and bytes of one media type (lower case, without parameters). */
export interface TypeUsage {
  readonly type: string;
  readonly files: number;
  readonly bytes: number;
}

/** A content that lies in the store. `isNew` where its bytes were written just now: that heals a damaged row. */
export type StoredBlob = BlobRef & { readonly isNew?: boolean };

/** What to do where the name is taken: number the new one, store a version of what is there, or refuse. */
export type OnConflict = "rename" | "version" | "error";

/** A file to be made. Names and paths are normalised already (`lib/path.ts`), labels checked (`labels.ts`). */
export interface NewFile {
  readonly accountId: number;
  /** The user who stores it, for the list of versions. */
  readonly createdBy: number;
  readonly folderPath: string;
  readonly name: string;
  readonly blob: StoredBlob;
  readonly mediaType: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Where it differs from `name`. */
  readonly originalName?: string | undefined;
  readonly fileModifiedAt?: string | undefined;
  readonly capturedAt?: string | undefined;
  readonly isPublic: boolean;
  readonly onConflict: OnConflict;
  /** Bytes that the account may hold; null for no limit. */
  readonly quotaBytes: number | null;
}

/** Called inside the deed with the file as it is at that moment; what it throws undoes the deed (If-Match). */
export type Precondition = (current: FileNode) => void;

/** A new content for a file that exists. */
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

/** A content of a file: the present one, or an earlier one. */
export interface FileVersion {
  readonly version: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly createdAtMs: number;
  /** The user (row id) who stored it; null where nobody knows any more. */
  readonly createdBy: number | null;
}

/** Metadata to be merged: a key with null is removed. */
export type MetadataChanges = Readonly<Record<string, string | null>>;

/** What to change of a file; what is absent stays. */
export interface FileChanges {
  readonly name?: string | undefined;
  /** The folder to be in; made where it is missing. */
  readonly folderPath?: string | undefined;
  /** The new labels, all of them. */
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: MetadataChanges | undefined;
  readonly isPublic?: boolean | undefined;
}

/** What to change of a folder; what is absent stays. */
export interface FolderChanges {
  readonly name?: string | undefined;
  readonly folderPath?: string | undefined;
  readonly metadata?: MetadataChanges | undefined;
}

/** A folder to be made. */
export interface NewFolder {
  readonly accountId: number;
  /** Made where it is missing. */
  readonly parentPath: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** How a copy is made. */
export interface CopyOptions {
  /** Whose tree the copy goes to; that of the source where absent. */
  readonly accountId?: number | undefined;
  /** Called in the deed that makes the copy appear; what it throws undoes it. For what takes long (`copyLarge`). */
  readonly admit?: (() => void) | undefined;
  readonly onConflict: OnConflict;
  /** Take over tags, description and metadata; never the publicity. */
  readonly preserveMetadata: boolean;
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  /** Holds room on the disk for the rows of a large copy. @returns what lets go of it @throws AppError disk_full */
  readonly reserveSpace?: ((bytes: number) => () => void) | undefined;
}

/** What is left to tell of a node that was deleted. */
export interface DeletedNode {
  readonly publicId: string;
  readonly name: string;
  readonly deletedAtMs: number;
}

/** Media type → files and bytes. */
export type TypeSums = Readonly<Record<string, readonly [files: number, bytes: number]>>;

/** Key of a label (`fold`) → files that carry it. */
export type TagSums = Readonly<Record<string, number>>;

/** What a node and all below it counts for. */
export interface TrashSums {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  readonly versionBytes: number;
  readonly types: TypeSums;
  readonly tags: TagSums;
}

/** A file or folder in the trash. */
export interface TrashedNode {
  /** As it was; its paths are those of then, and its parent's row id means nothing. */
  readonly node: TreeNode;
  /** Path of the folder that it was in. */
  readonly folder: string;
  readonly trashedAtMs: number;
}

/** One number that is not what counting gives. */
export interface Drift {
  /** Which number, e.g. `accounts.file_bytes` or `blobs.refs`. */
  readonly counter: string;
  /** Row id of the account, folder, label or blob; with a media type the type itself. */
  readonly of: number | string;
  readonly stored: number;
  readonly counted: number;
}
