import type { Database } from "bun:sqlite";
import { FILE } from "../../../tree/model/rows.ts";

/** A change in an account's journal. The fields after `atMs` are null unless it is the last one of an existing file. */
export interface ChangeRow {
  readonly seq: number;
  readonly atMs: number;
  readonly nodeId: number | null;
  readonly parentId: number | null;
  readonly createdSeq: number | null;
  readonly version: number | null;
  readonly contentAtMs: number | null;
  /** Where the file was before the change; 0 for the trash, null if the change did not move it. */
  readonly formerParentId: number | null;
}

/** A file that an account opened. */
export interface OpenedRow {
  readonly nodeId: number;
  readonly publicId: string;
  readonly atMs: number;
  /** When the account last changed it; null for files of others. */
  readonly changedAtMs: number | null;
}

/** The journal, and the rows of `opened_files`. */
export class RecentRows {
  readonly #changes;
  readonly #opened;
  readonly #add;
  readonly #trim;

  constructor(sqlite: Database) {
    // The key of the journal, then those of nodes and former_places: a bounded number of look-ups, and no sorting.
    this.#changes = sqlite.prepare<ChangeRow, [number, number, number]>(
      `SELECT j.seq, j.at AS atMs, n.id AS nodeId, n.parent_id AS parentId, n.created_seq AS createdSeq, n.version,
         n.content_at AS contentAtMs,
         (SELECT p.parent_id FROM former_places p WHERE p.node_id = n.id AND p.seq = j.seq) AS formerParentId
       FROM (SELECT seq, node_id, at FROM journal WHERE account_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3) j
       LEFT JOIN nodes n ON n.id = j.node_id AND n.seq = j.seq AND n.account_id = ?1 AND n.kind = ${FILE} AND n.parent_id > 0
       ORDER BY j.seq DESC`,
    );
    this.#opened = sqlite.prepare<OpenedRow, [number, string]>(
      `WITH opened(node_id, at) AS (
         SELECT node_id, opened_at FROM opened_files WHERE account_id = ?1
         UNION ALL SELECT value ->> 0, value ->> 1 FROM json_each(?2))
       SELECT o.node_id AS nodeId, n.public_id AS publicId, max(o.at) AS atMs,
         (SELECT j.at FROM journal j WHERE j.account_id = ?1 AND n.account_id = ?1 AND j.seq = n.seq) AS changedAtMs
       FROM opened o CROSS JOIN nodes n ON n.id = o.node_id GROUP BY o.node_id ORDER BY atMs DESC, o.node_id`,
    );
    // A file or an account that was deleted since then gets no row.
    this.#add = sqlite.prepare<undefined, [number, number, number]>(
      `INSERT INTO opened_files (account_id, node_id, opened_at)
       SELECT u.id, n.id, ?3 FROM users u CROSS JOIN nodes n WHERE u.id = ?1 AND n.id = ?2
       ON CONFLICT DO UPDATE SET opened_at = max(opened_at, excluded.opened_at)`,
    );
    this.#trim = sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM opened_files WHERE account_id = ?1 AND node_id IN (
         SELECT node_id FROM opened_files WHERE account_id = ?1 ORDER BY opened_at DESC LIMIT -1 OFFSET ?2)`,
    );
  }

  /** The changes of an account before a journal number, newest first. */
  changesBefore(accountId: number, seq: number, limit: number): ChangeRow[] {
    return this.#changes.all(accountId, seq, limit);
  }

  /**
   * The files that an account opened, latest first.
   * @param unwritten row ids of files with times that are not in the table yet
   */
  opened(accountId: number, unwritten: readonly (readonly [number, number])[]): OpenedRow[] {
    return this.#opened.all(accountId, JSON.stringify(unwritten));
  }

  /** Stores that an account opened a file. Inside a transaction. */
  add(accountId: number, nodeId: number, atMs: number): void {
    this.#add.run(accountId, nodeId, atMs);
  }

  /** Deletes all but the latest rows of an account. Inside a transaction. */
  trim(accountId: number, max: number): void {
    this.#trim.run(accountId, max);
  }
}
