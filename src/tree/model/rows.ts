/** Turns database rows into nodes. */
import { toDigest } from "../../blobs/digest.ts";
import { joinPath, ROOT_PATH } from "../../lib/path.ts";
import { invariant } from "../../lib/invariant.ts";
import type { FileNode, FolderNode, TreeNode } from "./types.ts";

/** `nodes.kind` */
export const FOLDER = 0;
export const FILE = 1;

/** Whether a node itself is in the trash: `nodes.parent_id` is then minus its own id, so that no path leads to it. */
export function isTrashed(parentId: number | null): boolean {
  return parentId !== null && parentId < 0;
}

/** A row of `nodes` with its tags, digest and number of items. */
export interface NodeRow {
  readonly kind: number;
  readonly id: number;
  readonly public_id: string;
  readonly account_id: number;
  readonly parent_id: number | null;
  readonly name: string;
  readonly created_at: number;
  readonly modified_at: number;
  readonly seq: number;
  readonly metadata: string | null;
  readonly size_bytes: number | null;
  readonly media_type: string | null;
  readonly blob_id: number | null;
  readonly digest: string | null;
  readonly version: number | null;
  readonly content_at: number | null;
  readonly content_device_id: number | null;
  readonly original_name: string | null;
  readonly file_modified_at: string | null;
  readonly captured_at: string | null;
  readonly file_at: number;
  readonly is_public: number;
  readonly tags: string | null;
  readonly items: number | null;
}

/**
 * The columns of a {@link NodeRow}, for a table `n` of nodes. Sub-selects instead of joins: each joined table costs Bun
 * four microseconds more per statement.
 */
export const NODE_COLUMNS = `n.kind, n.id, n.public_id, n.account_id, n.parent_id, n.name, n.created_at, n.modified_at,
  n.seq, n.metadata, n.size_bytes, n.media_type, n.blob_id,
  (SELECT lower(hex(digest)) FROM blobs WHERE id = n.blob_id) AS digest, n.version, n.content_at, n.content_device_id, n.original_name,
  n.file_modified_at, n.captured_at, n.file_at, n.is_public, n.tags,
  CASE n.kind WHEN 0 THEN (SELECT child_folders + child_files FROM folders WHERE node_id = n.id) END AS items`;

const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_METADATA: Readonly<Record<string, string>> = Object.freeze({});

/** @param folder path of its folder */
export function toNode(row: NodeRow, folder: string): TreeNode {
  return row.kind === FILE ? toFile(row, folder) : toFolder(row, folder);
}

/** @param folder path of its folder */
export function toFile(row: NodeRow, folder: string): FileNode {
  const { parent_id, size_bytes, media_type, blob_id, digest, version, content_at } = row;
  invariant(
    parent_id !== null && size_bytes !== null && media_type !== null && version !== null && content_at !== null,
    "a file in the tree has a parent, size, type, version and content time",
  );
  invariant(blob_id !== null && digest !== null, "a file has a blob");
  return {
    kind: "file",
    id: row.id,
    publicId: row.public_id,
    accountId: row.account_id,
    parentId: parent_id,
    name: row.name,
    folder,
    createdAtMs: row.created_at,
    modifiedAtMs: row.modified_at,
    contentAtMs: content_at,
    contentDeviceId: row.content_device_id,
    sizeBytes: size_bytes,
    mediaType: media_type,
    blobId: blob_id,
    digest: toDigest(digest),
    version,
    originalName: row.original_name ?? row.name,
    fileModifiedAt: row.file_modified_at,
    capturedAt: row.captured_at,
    fileAtMs: row.file_at,
    isPublic: row.is_public === 1,
    tags: parseTags(row.tags),
    metadata: parseMetadata(row.metadata),
    seq: row.seq,
  };
}

/** @param folder path of its folder; `/` for the root */
export function toFolder(row: NodeRow, folder: string): FolderNode {
  return {
    kind: "folder",
    id: row.id,
    publicId: row.public_id,
    accountId: row.account_id,
    parentId: row.parent_id,
    name: row.name,
    folder,
    path: row.parent_id === null ? ROOT_PATH : joinPath(folder, row.name),
    itemCount: row.items ?? 0,
    createdAtMs: row.created_at,
    modifiedAtMs: row.modified_at,
    metadata: parseMetadata(row.metadata),
    seq: row.seq,
  };
}

/**
 * `nodes.file_at` of a file: its own date, in milliseconds.
 * @param fileModifiedAt as the client sent it
 * @param contentAtMs when its content was stored: the date of a file without one of its own
 */
export function fileDate(fileModifiedAt: string | null, contentAtMs: number): number {
  const sentMs = fileModifiedAt === null ? Number.NaN : Date.parse(fileModifiedAt);
  return Number.isNaN(sentMs) ? contentAtMs : sentMs;
}

/** `nodes.tags` as a list. */
export function parseTags(json: string | null): readonly string[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this folder writes it
  return json === null ? NO_TAGS : (JSON.parse(json) as string[]);
}

/** `nodes.metadata` as an object. */
export function parseMetadata(json: string | null): Readonly<Record<string, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this folder writes it
  return json === null ? NO_METADATA : (JSON.parse(json) as Record<string, string>);
}

/** The inverse of {@link parseTags}: null for none. */
export function tagsToJson(tags: readonly string[]): string | null {
  return tags.length === 0 ? null : JSON.stringify(tags);
}

/** The inverse of {@link parseMetadata}: null for none. */
export function metadataToJson(metadata: Readonly<Record<string, string>>): string | null {
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);
}
