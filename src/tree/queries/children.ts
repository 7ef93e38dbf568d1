import type { Database, Statement } from "bun:sqlite";
import type { TreeNode } from "../model/types.ts";
import { FILE, FOLDER } from "../model/rows.ts";

/** A child of a folder with what programs show in listings. Times are milliseconds since 1970 UTC. */
export interface ListedNode {
  /** 0 folder, 1 file. */
  readonly kind: number;
  readonly id: number;
  readonly accountId: number;
  readonly parentId: number | null;
  readonly name: string;
  readonly createdAtMs: number;
  /** 0 for a folder. */
  readonly sizeBytes: number;
  /** Null for a folder, as are the following. */
  readonly mediaType: string | null;
  /** 64 lower-case hexadecimal digits. */
  readonly digest: string | null;
  /** When the content was stored. */
  readonly contentAtMs: number | null;
  /** The file's own date. */
  readonly fileAtMs: number | null;
}

/** Where a listing continues; undefined at its beginning. */
export type ListingPosition = Pick<ListedNode, "kind" | "createdAtMs" | "id"> | undefined;

const COLUMNS = `n.kind, n.id, n.account_id AS accountId, n.parent_id AS parentId, n.name, n.created_at AS createdAtMs,
  n.size_bytes AS sizeBytes, n.media_type AS mediaType,
  (SELECT lower(hex(digest)) FROM blobs WHERE id = n.blob_id) AS digest, n.content_at AS contentAtMs,
  n.file_at AS fileAtMs`;

type Slice = Statement<ListedNode, [number, number, number, number, number]>;

/** The position before the first child: no time is earlier. */
const BEGINNING = { createdAtMs: Number.MIN_SAFE_INTEGER, id: 0 };

/**
 * Reads all children of a folder in slices: first the folders, then the files, each by creation. These keys of a node
 * never change. So a child that is renamed between two slices is neither left out nor repeated.
 *
 * Children with the time of the last one are a query of their own: one query for both would scan all of that time, and
 * a restored folder may have a million of them.
 */
export class ChildReader {
  readonly #sameTime: Slice;
  readonly #later: Slice;

  constructor(sqlite: Database) {
    const children = `SELECT ${COLUMNS} FROM nodes n INDEXED BY nodes_created WHERE n.parent_id = ?1 AND n.kind = ?2`;
    this.#sameTime = sqlite.prepare(`${children} AND n.created_at = ?3 AND n.id > ?4 ORDER BY n.id LIMIT ?5`);
    this.#later = sqlite.prepare(
      `${children} AND n.created_at > ?3 AND ?4 IS NOT NULL ORDER BY n.created_at, n.id LIMIT ?5`,
    );
  }

  /** The next children after a position, at most `limit`; fewer at the end. */
  after(folderId: number, position: ListingPosition, limit: number): ListedNode[] {
    const { kind, createdAtMs, id } = position ?? { kind: FOLDER, ...BEGINNING };
    const found = this.#ofKind(folderId, kind, { createdAtMs, id }, limit);
    if (kind === FOLDER && found.length < limit) {
      found.push(...this.#ofKind(folderId, FILE, BEGINNING, limit - found.length));
    }
    return found;
  }

  #ofKind(folderId: number, kind: number, { createdAtMs, id }: typeof BEGINNING, limit: number): ListedNode[] {
    const found = this.#sameTime.all(folderId, kind, createdAtMs, id, limit);
    if (found.length === limit) return found;
    const later = this.#later.all(folderId, kind, createdAtMs, id, limit - found.length);
    return found.length === 0 ? later : [...found, ...later];
  }
}

/** A node in the form of a listing. */
export function toListedNode(node: TreeNode): ListedNode {
  const { id, accountId, parentId, name, createdAtMs } = node;
  const shared = { id, accountId, parentId, name, createdAtMs };
  if (node.kind === "folder") {
    return { kind: FOLDER, ...shared, sizeBytes: 0, mediaType: null, digest: null, contentAtMs: null, fileAtMs: null };
  }
  const { sizeBytes, mediaType, digest, contentAtMs, fileAtMs } = node;
  return { kind: FILE, ...shared, sizeBytes, mediaType, digest, contentAtMs, fileAtMs };
}
