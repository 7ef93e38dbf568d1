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

/** What a device changed. */
export interface TouchedNodes {
  readonly others: readonly TouchedNode[];
  readonly madeFolders: readonly TouchedNode[];
}

/** `nodes.kind` */
const FOLDER = 0;
const ROWS_AT_ONCE = 2_000;
/** How often a node may have been made again within 30 days and still be followed. */
const LIVES_MAX = 100;

/**
 * The statements about what devices did. The rows are written by the tree; here they are read, and marked as undone.
 */
export class RewindQueries {
  readonly #walk;
  readonly #rowsOfNode;
  readonly #restored;
  readonly #settle;
  readonly #isMade;

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
    this.#isMade = sqlite.prepare<{ found: number }, [number, number, number, number]>(
      `SELECT 1 AS found FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND account_id = ?2 AND device_id = ?3 AND at >= ?4 AND what = 'create' LIMIT 1`,
    );
    this.#settle = sqlite.prepare<undefined, [number, number, string]>(
      `UPDATE undo SET rewound = 1 WHERE account_id = ?1 AND device_id = ?2
         AND seq IN (SELECT value FROM json_each(?3)) AND rewound = 0`,
    );
  }

  /**
   * What the device changed since an instant and is not undone, the latest changed first. Folders that it made come
   * after all others, and are listed only where those are not more than `limit`: they can go when nothing is in them
   * any more.
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
    const madeFolders = new Map<number, TouchedNode>();
    for (const { nodeId, publicId, kind } of this.#walkBack(accountId, deviceId, sinceMs)) {
      if (others.has(nodeId) || madeFolders.has(nodeId)) continue;
      const isMadeFolder = kind === FOLDER && this.#isMade.get(nodeId, accountId, deviceId, sinceMs) !== null;
      (isMadeFolder ? madeFolders : others).set(nodeId, { nodeId, publicId });
      if (others.size > limit) break;
      await steps.next();
    }
    return { others: [...others.values()], madeFolders: [...madeFolders.values()] };
  }

  *#walkBack(accountId: number, deviceId: number, sinceMs: number): Generator<WalkedRow> {
    let belowSeq = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = this.#walk.all(accountId, deviceId, belowSeq, ROWS_AT_ONCE);
      for (const row of rows) {
        belowSeq = row.seq;
        if (row.at >= sinceMs) yield row;
        // What went with a folder bears the time of the folder's deletion: earlier rows may be younger.
        else if (row.what !== "reap") return;
      }
      if (rows.length < ROWS_AT_ONCE) return;
    }
  }

  /** What the device did to a node since an instant, the oldest first, then to the one made in its place. */
  listEntries(accountId: number, deviceId: number, sinceMs: number, nodeId: number): UndoEntry[] {
    const entries: UndoEntry[] = [];
    let next: number | undefined = nodeId;
    for (let lives = 0; next !== undefined && lives < LIVES_MAX; lives++) {
      const rows: UndoEntry[] = this.#rowsOfNode.all(next, accountId, deviceId, sinceMs).map(toEntry);
      entries.push(...rows);
      next = rows.findLast(({ restored }) => restored !== undefined)?.restored?.nodeId;
    }
    return entries;
  }

  /** The node that a rewind made in place of a deleted one. */
  findRestored(accountId: number, nodeId: number): TouchedNode | undefined {
    const row = this.#restored.get(nodeId, accountId);
    return row === null ? undefined : parseDetail(row.before).restored;
  }

  /** Marks changes as undone. A deed. */
  settle(accountId: number, deviceId: number, entries: readonly UndoEntry[]): void {
    this.#settle.run(accountId, deviceId, JSON.stringify(entries.map(({ seq }) => seq)));
  }
}

function toEntry({ kind, before, rewound, ...row }: UndoRow): UndoEntry {
  return { ...row, ...parseDetail(before), isFolder: kind === FOLDER, isRewound: rewound === 1 };
}
