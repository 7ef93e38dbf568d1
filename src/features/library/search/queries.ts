import type { Database } from "bun:sqlite";
import { NODE_BITS } from "./match.ts";
import { type IndexedRow, toDocument } from "./document.ts";

/** Raised when the format of the index changes: everything is then indexed again. */
const FORMAT = 1;

const NODE_COLUMNS = `n.id, n.account_id, n.parent_id, n.kind, n.name, n.original_name, n.media_type, n.size_bytes,
  n.created_at, n.modified_at, n.captured_at, n.is_public, n.tags, n.metadata, m.taken_at, m.camera, m.title, m.artist,
  m.album, b.digest, m.digest IS NOT NULL AS isRead`;
const NODES = "nodes n LEFT JOIN blobs b ON b.id = n.blob_id LEFT JOIN media_info m ON m.digest = b.digest";

/** A node to be indexed, with its digest and whether its metadata has been read. */
export interface PendingRow extends IndexedRow {
  readonly digest: Uint8Array | null;
  readonly isRead: number;
}

/** Progress of indexing the nodes that existed before the index. */
export interface BackfillState {
  readonly nextId: number;
  readonly untilId: number;
}

/** A blob whose files are to be indexed again, after this file of this account. */
export interface Rescan {
  readonly digest: Uint8Array;
  readonly accountId: number;
  readonly nodeId: number;
}

/** The tables of the index. Changes are made inside a transaction. */
export class SearchTables {
  readonly #sqlite: Database;
  readonly #put;
  readonly #drop;
  readonly #byIds;
  readonly #fromId;
  readonly #journal;
  readonly #cursor;
  readonly #setCursor;
  readonly #lagging;
  readonly #backfill;
  readonly #setBackfill;
  readonly #rescan;
  readonly #rescanNodes;
  readonly #rescanProgress;
  readonly #dequeueRescan;
  readonly #changeCounters;
  readonly #total;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#put = sqlite.prepare<undefined, [number, number, string, string, string, string, string]>(
      `INSERT OR REPLACE INTO search_text (rowid, facets, name, tags, description, metadata)
       VALUES (?1 << ${NODE_BITS} | ?2, ?3, ?4, ?5, ?6, ?7)`,
    );
    this.#drop = sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM search_text WHERE rowid = (?1 << ${NODE_BITS} | ?2)`,
    );
    this.#byIds = sqlite.prepare<PendingRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?1) j CROSS JOIN ${NODES} WHERE n.id = j.value`,
    );
    this.#fromId = sqlite.prepare<PendingRow, [number, number, number]>(
      `SELECT ${NODE_COLUMNS} FROM ${NODES} WHERE n.id BETWEEN ?1 AND ?2 ORDER BY n.id LIMIT ?3`,
    );
    this.#journal = sqlite.prepare<{ seq: number; nodeId: number }, [number, number, number]>(
      "SELECT seq, node_id AS nodeId FROM journal WHERE account_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    );
    this.#cursor = sqlite.prepare<{ seq: number }, [number]>("SELECT seq FROM search_cursors WHERE account_id = ?1");
    this.#setCursor = sqlite.prepare<undefined, [number, number]>(
      `INSERT INTO search_cursors (account_id, seq) VALUES (?1, ?2)
       ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq`,
    );
    this.#lagging = sqlite.prepare<{ id: number }, []>(
      `SELECT a.id FROM accounts a LEFT JOIN search_cursors c ON c.account_id = a.id
       WHERE a.root_id > 0 AND a.seq > ifnull(c.seq, 0) LIMIT 1000`,
    );
    this.#backfill = sqlite.prepare<BackfillState, []>(
      `SELECT next_id AS nextId, until_id AS untilId FROM search_fill WHERE format = ${FORMAT}`,
    );
    this.#setBackfill = sqlite.prepare<undefined, [number]>("UPDATE search_fill SET next_id = ?1");
    this.#rescan = sqlite.prepare<Rescan, []>(
      `SELECT digest, after_account_id AS accountId, after_node_id AS nodeId FROM search_again LIMIT 1`,
    );
    this.#rescanNodes = sqlite.prepare<{ id: number }, [Uint8Array, number, number, number]>(
      `SELECT n.id FROM blobs b CROSS JOIN nodes n INDEXED BY nodes_blob ON n.blob_id = b.id
       WHERE b.digest = ?1 AND (n.account_id, n.id) > (?2, ?3) ORDER BY n.account_id, n.id LIMIT ?4`,
    );
    this.#rescanProgress = sqlite.prepare<undefined, [Uint8Array, number, number]>(
      "UPDATE search_again SET after_account_id = ?2, after_node_id = ?3 WHERE digest = ?1",
    );
    this.#dequeueRescan = sqlite.prepare<undefined, [Uint8Array]>("DELETE FROM search_again WHERE digest = ?1");
    this.#total = sqlite.prepare<{ total: number }, []>("SELECT ifnull(sum(seq), 0) AS total FROM accounts");
    this.#changeCounters = sqlite.prepare<{ own: number; others: number }, []>(
      "SELECT total_changes() AS own, (SELECT data_version FROM pragma_data_version) AS others",
    );
  }

  /** Changes with every change of the database, by this or another process. */
  changeMark(): string {
    const changes = this.#changeCounters.get();
    return `${changes?.own ?? 0}/${changes?.others ?? 0}`;
  }

  /** Changes with every change of files of any account. */
  journalTotal(): number {
    return this.#total.get()?.total ?? 0;
  }

  /** Undefined before the first start with this format of the index. */
  backfillState(): BackfillState | undefined {
    return this.#backfill.get() ?? undefined;
  }

  /** Clears the index and starts over: existing nodes will be indexed by id, later changes through the journals. */
  beginBackfill(): void {
    this.#sqlite.run("INSERT INTO search_text (search_text) VALUES ('delete-all')");
    this.#sqlite.run("DELETE FROM search_cursors");
    this.#sqlite.run("DELETE FROM search_again");
    this.#sqlite.run("INSERT INTO search_cursors (account_id, seq) SELECT id, seq FROM accounts WHERE root_id > 0");
    this.#sqlite.run(
      `INSERT INTO search_fill (id, format, next_id, until_id)
         SELECT 1, ${FORMAT}, 1, ifnull(max(id), 0) FROM nodes WHERE true
       ON CONFLICT (id) DO UPDATE SET format = excluded.format, next_id = excluded.next_id, until_id = excluded.until_id`,
    );
  }

  setBackfill(nextId: number): void {
    this.#setBackfill.run(nextId);
  }

  nodesFrom({ nextId, untilId }: BackfillState, limit: number): PendingRow[] {
    return this.#fromId.all(nextId, untilId, limit);
  }

  /** Nodes by id, in this order; deleted ones are left out. */
  nodes(ids: readonly number[]): PendingRow[] {
    return this.#byIds.all(JSON.stringify(ids));
  }

  cursorOf(accountId: number): number {
    return this.#cursor.get(accountId)?.seq ?? 0;
  }

  /** Whether an account is followed: false if it was erased or is new. */
  isFollowed(accountId: number): boolean {
    return this.#cursor.get(accountId) !== null;
  }

  setCursor(accountId: number, seq: number): void {
    this.#setCursor.run(accountId, seq);
  }

  journalAfter(accountId: number, seq: number, limit: number): { seq: number; nodeId: number }[] {
    return this.#journal.all(accountId, seq, limit);
  }

  /** Accounts with journal rows that are not indexed yet. */
  laggingAccounts(): number[] {
    return this.#lagging.all().map(({ id }) => id);
  }

  /** A blob whose files are to be indexed again. */
  nextRescan(): Rescan | undefined {
    return this.#rescan.get() ?? undefined;
  }

  /** The next files of such a blob. */
  nodesToRescan({ digest, accountId, nodeId }: Rescan, limit: number): PendingRow[] {
    return this.nodes(this.#rescanNodes.all(digest, accountId, nodeId, limit).map(({ id }) => id));
  }

  /** Records after which file to continue with such a blob; undefined if none is left. */
  continueRescan({ digest }: Rescan, last: PendingRow | undefined): void {
    if (last === undefined) this.#dequeueRescan.run(digest);
    else this.#rescanProgress.run(digest, last.account_id, last.id);
  }

  /** Queues all files with this content to be indexed again. */
  enqueueRescan(digest: Uint8Array): void {
    this.#sqlite.query<undefined, [Uint8Array]>("INSERT OR REPLACE INTO search_again (digest) VALUES (?1)").run(digest);
  }

  /** Writes the entry of a node, or deletes it if the node is in no tree. */
  index(row: PendingRow): void {
    // Cut off, or in the trash.
    if ((row.parent_id ?? 0) <= 0) {
      this.drop(row.account_id, row.id);
      return;
    }
    const { facets, name, tags, description, metadata } = toDocument(row);
    this.#put.run(row.account_id, row.id, facets, name, tags, description, metadata);
  }

  drop(accountId: number, nodeId: number): void {
    this.#drop.run(accountId, nodeId);
  }

  /** Deletes some entries of erased accounts. @returns how many rows */
  dropErased(limit: number): number {
    const erased = this.#sqlite
      .query<{ id: number }, []>(
        `SELECT c.account_id AS id FROM search_cursors c LEFT JOIN accounts a ON a.id = c.account_id
         WHERE a.id IS NULL OR a.root_id <= 0 LIMIT 1`,
      )
      .get();
    if (erased === null) return 0;
    const found = this.#sqlite
      .query<{ nodeId: number }, [number, number]>(
        `SELECT rowid & ((1 << ${NODE_BITS}) - 1) AS nodeId FROM search_text
         WHERE rowid BETWEEN (?1 << ${NODE_BITS}) AND ((?1 + 1) << ${NODE_BITS}) - 1 LIMIT ?2`,
      )
      .all(erased.id, limit);
    for (const { nodeId } of found) this.drop(erased.id, nodeId);
    if (found.length < limit) this.#sqlite.run("DELETE FROM search_cursors WHERE account_id = ?1", [erased.id]);
    return found.length + 1;
  }
}
