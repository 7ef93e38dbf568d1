/**
 * Reads everything below some nodes in one snapshot, a few hundred rows at a time; the event loop runs in between. It
 * caches only the ids of folders still to be read.
 */
import type { Database } from "bun:sqlite";
import { openReadOnly } from "../../db/open.ts";
import { notFound } from "../../errors.ts";
import { fold } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { FILE } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";

/** A node that a walk visits. */
export interface WalkedNode {
  readonly id: number;
  readonly kind: number;
  readonly name: string;
  readonly modifiedAtMs: number;
  readonly fileModifiedAt: string | null;
  readonly contentAtMs: number | null;
  readonly sizeBytes: number;
  readonly crc32: number | null;
  /** 32 bytes; null for folders. */
  readonly digest: Uint8Array | null;
}

/** The position of a visited node. */
export interface WalkPosition {
  /** What the visitor returned for the folder of the node; -1 for the nodes that the walk began with. */
  readonly parent: number;
  /** Whether its folder has a child of exactly this name. Always false where the walk began. */
  readonly hasSibling: (name: string) => boolean;
}

/** Called for each node; for a folder before anything in it. @returns a number that identifies it as a parent */
export type WalkVisitor = (node: WalkedNode, position: WalkPosition) => number;

const ROWS_PER_QUERY = 256;
/** How long a walk may block the event loop at a time. */
const SLICE_MS_MAX = 4;

const COLUMNS = `n.id, n.kind, n.name, n.sort_key AS sortKey, n.modified_at AS modifiedAtMs,
  n.file_modified_at AS fileModifiedAt, n.content_at AS contentAtMs, n.size_bytes AS sizeBytes`;

/** The position of a node that the walk began with. */
const AT_TOP: WalkPosition = { parent: -1, hasSibling: () => false };

type WalkedRow = WalkedNode & { readonly sortKey: string };

/**
 * Visits nodes and everything below them: of each folder its files by name, then its folders. Folders are visited in
 * the order in which they were found.
 * @returns the time of the last change in any of their accounts
 * @throws AppError not_found if one of the nodes is not in a tree; what `visit` throws
 */
export async function walkBelow(store: TreeStore, ids: readonly number[], visit: WalkVisitor): Promise<number> {
  if (ids.some((id) => store.findById(id) === undefined)) throw notFound(say`This file or folder was not found.`);
  // No await before the snapshot opens: nothing is committed between the check and the snapshot.
  const opened = openReadOnly(store.sqlite.filename);
  const snapshot = opened.sqlite;
  snapshot.run("BEGIN");
  try {
    return await new Walk(snapshot, visit).all(ids);
  } finally {
    // Statements that are not yet garbage collected would keep the snapshot open after closing.
    snapshot.run("ROLLBACK");
    opened.close();
  }
}

/**
 * Visits these files of an account in this order, as if all were in one folder without a parent. Files that are not in its
 * tree any more are left out, except those in a folder that was deleted since the caller read the ids.
 * @returns the time of the last change in the account
 * @throws what `visit` throws
 */
export async function walkFiles(
  store: TreeStore,
  accountId: number,
  ids: readonly number[],
  visit: WalkVisitor,
): Promise<number> {
  const opened = openReadOnly(store.sqlite.filename);
  const snapshot = opened.sqlite;
  snapshot.run("BEGIN");
  try {
    return await new Walk(snapshot, visit).files(accountId, ids);
  } finally {
    // Statements that are not yet garbage collected would keep the snapshot open after closing.
    snapshot.run("ROLLBACK");
    opened.close();
  }
}

class Walk {
  readonly #snapshot: Database;
  readonly #visit: WalkVisitor;
  /** Folders found so far, and the numbers that the visitor returned for them. */
  readonly #folderIds: number[] = [];
  readonly #folderMarks: number[] = [];
  readonly #files;
  readonly #folders;
  readonly #sibling;
  #sliceStartMs = performance.now();

  constructor(snapshot: Database, visit: WalkVisitor) {
    this.#snapshot = snapshot;
    this.#visit = visit;
    const after = `n.parent_id = ?1 AND n.kind = %kind AND (n.sort_key, n.name) > (?2, ?3)
      ORDER BY n.sort_key, n.name LIMIT ${ROWS_PER_QUERY}`;
    this.#files = snapshot.prepare<WalkedRow, [number, string, string]>(
      `SELECT ${COLUMNS}, b.crc32, b.digest FROM nodes n INDEXED BY nodes_name CROSS JOIN blobs b ON b.id = n.blob_id
       WHERE ${after.replace("%kind", "1")}`,
    );
    this.#folders = snapshot.prepare<WalkedRow, [number, string, string]>(
      `SELECT ${COLUMNS}, NULL AS crc32, NULL AS digest FROM nodes n INDEXED BY nodes_name
       WHERE ${after.replace("%kind", "0")}`,
    );
    this.#sibling = snapshot.prepare<{ id: number }, [number, string, string]>(
      `SELECT id FROM nodes INDEXED BY nodes_name
       WHERE parent_id = ?1 AND kind IN (0, 1) AND sort_key = ?2 AND name = ?3`,
    );
  }

  async all(ids: readonly number[]): Promise<number> {
    for (const row of this.#starts(ids)) this.#visitRow(row, AT_TOP);
    const changedAtMs = this.#changedAt(ids);
    for (let at = 0; at < this.#folderIds.length; at++) {
      const id = this.#folderIds[at] ?? 0;
      const position = {
        parent: this.#folderMarks[at] ?? -1,
        hasSibling: (name: string) => this.#sibling.get(id, fold(name), name) !== null,
      };
      await this.#children(this.#files, id, position);
      await this.#children(this.#folders, id, position);
    }
    return changedAtMs;
  }

  async files(accountId: number, ids: readonly number[]): Promise<number> {
    const files = this.#snapshot.prepare<WalkedRow, [string, number]>(
      `SELECT ${COLUMNS}, b.crc32, b.digest FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value
       CROSS JOIN blobs b ON b.id = n.blob_id
       WHERE n.account_id = ?2 AND n.kind = ${FILE} AND n.parent_id > 0 ORDER BY j.key`,
    );
    for (let start = 0; start < ids.length; start += ROWS_PER_QUERY) {
      const batch = files.all(JSON.stringify(ids.slice(start, start + ROWS_PER_QUERY)), accountId);
      for (const row of batch) this.#visitRow(row, AT_TOP);
      await this.#yieldToEventLoop();
    }
    const changed = this.#snapshot
      .query<{ at: number }, [number]>("SELECT changed_at AS at FROM accounts WHERE id = ?1")
      .get(accountId);
    return changed?.at ?? 0;
  }

  #starts(ids: readonly number[]): WalkedRow[] {
    return this.#snapshot
      .query<WalkedRow, [string]>(
        `SELECT ${COLUMNS}, b.crc32, b.digest FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value
         LEFT JOIN blobs b ON b.id = n.blob_id`,
      )
      .all(JSON.stringify(ids));
  }

  #changedAt(ids: readonly number[]): number {
    const row = this.#snapshot
      .query<{ at: number | null }, [string]>(
        `SELECT max(changed_at) AS at FROM accounts WHERE id IN
         (SELECT n.account_id FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value)`,
      )
      .get(JSON.stringify(ids));
    return row?.at ?? 0;
  }

  async #children(
    statement: { all(id: number, sortKey: string, name: string): WalkedRow[] },
    folderId: number,
    position: WalkPosition,
  ): Promise<void> {
    let sortKey = "";
    let name = "";
    for (;;) {
      const rows = statement.all(folderId, sortKey, name);
      for (const row of rows) this.#visitRow(row, position);
      await this.#yieldToEventLoop();
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_QUERY) return;
      ({ sortKey, name } = last);
    }
  }

  #visitRow(row: WalkedRow, position: WalkPosition): void {
    const mark = this.#visit(row, position);
    if (row.kind === FILE) return;
    this.#folderIds.push(row.id);
    this.#folderMarks.push(mark);
  }

  async #yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#sliceStartMs < SLICE_MS_MAX) return;
    await new Promise(setImmediate);
    this.#sliceStartMs = performance.now();
  }
}
