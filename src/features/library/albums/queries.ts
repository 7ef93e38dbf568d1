/**
 * The rows of albums. Triggers count the items and mark those that are in the trash themselves (see the
 * migration). Files in a folder that is in the trash are left out by each query, with {@link WITH_GONE_FOLDERS}.
 */
import type { Database } from "bun:sqlite";
import { type Reader, rows } from "../../../db/reader.ts";
import type { Bindable } from "../../../db/reader.worker.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { fold } from "../../../lib/path.ts";
import { FILE } from "../../../tree/model/rows.ts";
import type { Album, AlbumSort, AlbumStatement, AlbumSummary, PageQuery } from "./types.ts";

/** A row of {@link selectSummaries}. */
export interface SummaryRow extends Omit<AlbumSummary, "isShared"> {
  readonly isShared: number;
}

const ALBUM = `a.id, a.public_id AS publicId, a.account_id AS accountId, a.name, a.description, a.created_at AS createdAtMs,
  a.modified_at AS modifiedAtMs`;

const SORT_COLUMNS: Readonly<Record<AlbumSort, string>> = {
  name: "sort_key",
  modifiedAt: "modified_at",
  createdAt: "created_at",
};

/** Albums with their counts and covers, in the order of `ids`. @param hasGone whether the account has unreachable folders */
export function selectSummaries(
  ids: readonly number[],
  accountId: number,
  hasGone: boolean,
  nowMs: number,
): AlbumStatement {
  const isVisible = hasGone ? "i.is_hidden = 0 AND n.parent_id NOT IN (SELECT id FROM gone)" : "i.is_hidden = 0";
  const cover = `SELECT n.public_id FROM album_items i CROSS JOIN nodes n ON n.id = i.node_id`;
  return {
    sql: `${hasGone ? `${WITH_GONE_FOLDERS}, hidden AS (${HIDDEN_COUNTS})` : ""}
      SELECT ${ALBUM}, a.items - ${hasGone ? "ifnull((SELECT h.items FROM hidden h WHERE h.album_id = a.id), 0)" : "0"} AS itemCount,
        (${cover} WHERE i.album_id = a.id AND i.node_id = a.cover_id AND ${isVisible}) AS chosenCoverId,
        (${cover.replace("album_items i", "album_items i INDEXED BY album_items_position")}
          WHERE i.album_id = a.id AND ${isVisible} ORDER BY i.position LIMIT 1) AS coverId,
        EXISTS (SELECT 1 FROM shares s WHERE s.album_id = a.id AND (s.expires_at IS NULL OR s.expires_at > ?)) AS isShared
      FROM json_each(?) j CROSS JOIN albums a ON a.id = j.value`,
    parameters: [...(hasGone ? [accountId, accountId] : []), nowMs, JSON.stringify(ids)],
  };
}

const HIDDEN_COUNTS = `SELECT i.album_id, count(*) AS items FROM gone
  CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = gone.id AND n.kind = ${FILE}
  CROSS JOIN album_items i INDEXED BY album_items_node ON i.node_id = n.id AND i.is_hidden = 0 GROUP BY i.album_id`;

/** Reads and writes albums. Changes run inside a transaction. */
export class AlbumRows {
  readonly #sqlite: Database;
  readonly #statements;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#statements = {
      byPublicId: sqlite.prepare<Album, [string]>(`SELECT ${ALBUM} FROM albums a WHERE public_id = ?1`),
      byId: sqlite.prepare<Album, [number]>(`SELECT ${ALBUM} FROM albums a WHERE id = ?1`),
      byName: sqlite.prepare<Album, [number, string, string, number]>(
        `SELECT ${ALBUM} FROM albums a INDEXED BY albums_name
         WHERE account_id = ?1 AND sort_key = ?2 AND name = ?3 ORDER BY id LIMIT 1 OFFSET ?4`,
      ),
      count: sqlite.prepare<{ total: number }, [number]>(
        "SELECT count(*) AS total FROM albums INDEXED BY albums_name WHERE account_id = ?1",
      ),
      hasGone: sqlite.prepare<{ has: number }, [number]>(
        `${WITH_GONE_FOLDERS.replaceAll("?", "?1")} SELECT EXISTS (SELECT 1 FROM gone) AS has`,
      ),
      insert: sqlite.prepare<{ id: number }, [string, number, string, string, string, number]>(
        `INSERT INTO albums (public_id, account_id, name, sort_key, description, created_at, modified_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING id`,
      ),
      rename: sqlite.prepare("UPDATE albums SET name = ?2, sort_key = ?3 WHERE id = ?1"),
      describe: sqlite.prepare("UPDATE albums SET description = ?2 WHERE id = ?1"),
      setCover: sqlite.prepare("UPDATE albums SET cover_id = ?2 WHERE id = ?1"),
      touch: sqlite.prepare("UPDATE albums SET modified_at = max(modified_at, ?2) WHERE id = ?1"),
      delete: sqlite.prepare("DELETE FROM albums WHERE id = ?1"),
    };
  }

  find(publicId: string): Album | undefined {
    return this.#statements.byPublicId.get(publicId) ?? undefined;
  }

  /** The oldest album of an account with this name; `skipped` older ones are passed over. */
  findByName(accountId: number, name: string, skipped = 0): Album | undefined {
    return this.#statements.byName.get(accountId, fold(name), name, skipped) ?? undefined;
  }

  findById(id: number): Album | undefined {
    return this.#statements.byId.get(id) ?? undefined;
  }

  countOfAccount(accountId: number): number {
    return this.#statements.count.get(accountId)?.total ?? 0;
  }

  /** Row ids of a page of the albums of an account. */
  ofAccount(accountId: number, { sort, order, offset, limit }: PageQuery<AlbumSort>): number[] {
    return this.#sqlite
      .query<{ id: number }, [number, number, number]>(
        `SELECT id FROM albums INDEXED BY albums_name WHERE account_id = ?1
         ORDER BY ${SORT_COLUMNS[sort]} ${order}, id ${order} LIMIT ?2 OFFSET ?3`,
      )
      .all(accountId, limit, offset)
      .map(({ id }) => id);
  }

  /** Whether the account has unreachable folders whose files still have rows. */
  hasGone(accountId: number): boolean {
    return this.#statements.hasGone.get(accountId)?.has === 1;
  }

  /** Runs {@link selectSummaries} here: for accounts without unreachable folders. */
  summaries({ sql, parameters }: AlbumStatement): SummaryRow[] {
    return this.#sqlite.query<SummaryRow, Bindable[]>(sql).all(...parameters);
  }

  /** @returns the row id */
  insert(publicId: string, accountId: number, name: { name: string; key: string }, description: string, nowMs: number) {
    return this.#statements.insert.get(publicId, accountId, name.name, name.key, description, nowMs)?.id ?? 0;
  }

  rename(id: number, name: string, sortKey: string): void {
    this.#statements.rename.run(id, name, sortKey);
  }

  describe(id: number, description: string): void {
    this.#statements.describe.run(id, description);
  }

  setCover(id: number, nodeId: number | null): void {
    this.#statements.setCover.run(id, nodeId);
  }

  touch(id: number, nowMs: number): void {
    this.#statements.touch.run(id, nowMs);
  }

  /** Deletes an album with its items and shares. */
  delete(id: number): void {
    this.#statements.delete.run(id);
  }
}

/** The rows of a statement, read in another thread. */
export async function readRows<Row>(reader: Reader, { sql, parameters }: AlbumStatement): Promise<readonly Row[]> {
  const [found] = await reader.read([rows<Row>(sql, parameters)]);
  return found;
}
