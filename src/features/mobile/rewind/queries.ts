import type { Database } from "bun:sqlite";
import type { Steps } from "../../../lib/steps.ts";
import { parseDetail, type UndoWhat } from "../../../tree/tables/undo.ts";
import type { TouchedNode, UndoEntry } from "./types.ts";

interface UndoRow {
  readonly seq: number;
  readonly nodeId: number;
  readonly publicId: string;
  readonly kind: number;
  readonly what: UndoWhat;
  readonly before: string;
  readonly rewound: number;
}

interface WalkedRow {
  readonly seq: number;
  readonly at: number;
  readonly nodeId: number;
  readonly publicId: string;
  readonly kind: number;
  readonly what: UndoWhat;
}

/** The nodes that a device changed. */
interface TouchedNodes {
  readonly others: readonly TouchedNode[];
  readonly createdFolders: readonly TouchedNode[];
}

/** `nodes.kind` */
const FOLDER = 0;
const BATCH = 2_000;
/** How many replacements of a node are followed: each rewind of a deletion creates one. */
const REPLACEMENTS_MAX = 100;

/** Reads the changes of devices, which the tree records, and marks them as undone. */
export class RewindQueries {
  readonly #walk;
  readonly #rowsOfNode;
  readonly #restored;
  readonly #markUndone;
  readonly #creation;

  constructor(sqlite: Database) {
    this.#walk = sqlite.prepare<WalkedRow, [number, number, number, number]>(
      `SELECT seq, at, node_id AS nodeId, public_id AS publicId, kind, what FROM undo
       WHERE account_id = ?1 AND device_id = ?2 AND seq < ?3 AND rewound = 0 ORDER BY seq DESC LIMIT ?4`,
    );
    this.#rowsOfNode = sqlite.prepare<UndoRow, [number, number, number, number]>(
      `SELECT seq, node_id AS nodeId, public_id AS publicId, kind, what, before, rewound FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND account_id = ?2 AND device_id = ?3 AND at >= ?4 ORDER BY seq`,
    );
    this.#restored = sqlite.prepare<{ before: string }, [number, number]>(
      `SELECT before FROM undo INDEXED BY undo_node WHERE node_id = ?1 AND account_id = ?2 AND what = 'restore'
       ORDER BY seq DESC LIMIT 1`,
    );
    this.#creation = sqlite.prepare<{ found: number }, [number, number, number, number]>(
      `SELECT 1 AS found FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND account_id = ?2 AND device_id = ?3 AND at >= ?4 AND what = 'create' LIMIT 1`,
    );
    this.#markUndone = sqlite.prepare<undefined, [number, number, string]>(
      `UPDATE undo SET rewound = 1 WHERE account_id = ?1 AND device_id = ?2
         AND seq IN (SELECT value FROM json_each(?3)) AND rewound = 0`,
    );
  }

  /**
   * The nodes that the device changed since a time and that are not undone, last changed first. Folders that it created
   * are listed separately, and completely only if there are at most `limit` others: they can be deleted only when they
   * are empty.
   */
  async listTouched(
    {
      accountId,
      deviceId,
      sinceMs,
    }: { readonly accountId: number; readonly deviceId: number; readonly sinceMs: number },
    limit: number,
    steps: Steps,
  ): Promise<TouchedNodes> {
    const others = new Map<number, TouchedNode>();
    const createdFolders = new Map<number, TouchedNode>();
    for (const { nodeId, publicId, kind } of this.#walkBack(accountId, deviceId, sinceMs)) {
      if (others.has(nodeId) || createdFolders.has(nodeId)) continue;
      const isCreatedFolder = kind === FOLDER && this.#creation.get(nodeId, accountId, deviceId, sinceMs) !== null;
      (isCreatedFolder ? createdFolders : others).set(nodeId, { nodeId, publicId });
      if (others.size > limit) break;
      await steps.next();
    }
    return { others: [...others.values()], createdFolders: [...createdFolders.values()] };
  }

  *#walkBack(accountId: number, deviceId: number, sinceMs: number): Generator<WalkedRow> {
    let belowSeq = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = this.#walk.all(accountId, deviceId, belowSeq, BATCH);
      for (const row of rows) {
        belowSeq = row.seq;
        if (row.at >= sinceMs) yield row;
        // Rows of nodes deleted with a folder have the time of the folder's deletion: earlier rows may have a later
        // time.
        else if (row.what !== "reap") return;
      }
      if (rows.length < BATCH) return;
    }
  }

  /** The device's changes of a node since a time, oldest first, then those of the nodes that replaced it. */
  listEntries(accountId: number, deviceId: number, sinceMs: number, nodeId: number): UndoEntry[] {
    const entries: UndoEntry[] = [];
    let next: number | undefined = nodeId;
    for (let count = 0; next !== undefined && count < REPLACEMENTS_MAX; count++) {
      const rows: UndoEntry[] = this.#rowsOfNode.all(next, accountId, deviceId, sinceMs).map(toEntry);
      entries.push(...rows);
      next = rows.findLast(({ restored }) => restored !== undefined)?.restored?.nodeId;
    }
    return entries;
  }

  /** The node that replaced a deleted one in a rewind. */
  findRestored(accountId: number, nodeId: number): TouchedNode | undefined {
    const row = this.#restored.get(nodeId, accountId);
    return row === null ? undefined : parseDetail(row.before).restored;
  }

  /** Marks changes as undone. Call it inside a transaction. */
  markUndone(accountId: number, deviceId: number, entries: readonly UndoEntry[]): void {
    this.#markUndone.run(accountId, deviceId, JSON.stringify(entries.map(({ seq }) => seq)));
  }
}

function toEntry({ kind, before, rewound, ...row }: UndoRow): UndoEntry {
  return { ...row, ...parseDetail(before), isFolder: kind === FOLDER, isRewound: rewound === 1 };
}
