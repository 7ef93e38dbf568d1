/**
 * The rows of albums and their items. Triggers count the items and mark those that are in the trash themselves (see the
 * migration). Files in a folder that is in the trash are left out by each query, with {@link WITH_GONE_FOLDERS}.
 */
import type { Database } from "bun:sqlite";
import type { Bindable } from "../../../db/reader.worker.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { FILE } from "../../../tree/model/rows.ts";
import type { SortOrder } from "../../../tree/model/types.ts";
import type { Album, AlbumSort, AlbumSummary, ItemSort, PageQuery } from "./types.ts";

/** A row of {@link selectSummaries}. */
export interface SummaryRow extends Omit<AlbumSummary, "isShared"> {
  readonly isShared: number;
}

/** A statement and its parameters. */
export interface AlbumStatement {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}

/** Positions are this far apart, so that a thousand files fit between two items several times. */
const GAP = 2 ** 36;
/** Positions stay exact numbers. */
const POSITION_MAX = Number.MAX_SAFE_INTEGER - GAP;

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

/** One text of the row ids of all visible files of an album, in order. */
export function selectItems(
  { id, accountId }: Pick<Album, "id" | "accountId">,
  sort: ItemSort,
  order: SortOrder,
  hasGone: boolean,
): AlbumStatement {
  const column = { position: "i.position", capturedAt: CAPTURED_AT, name: "n.sort_key" }[sort];
  const photos = sort === "capturedAt" ? "LEFT JOIN photos p ON p.node_id = n.id" : "";
  return {
    sql: `${hasGone ? WITH_GONE_FOLDERS : ""} SELECT group_concat(node_id) FROM (
      SELECT i.node_id FROM album_items i CROSS JOIN nodes n ON n.id = i.node_id ${photos}
      WHERE i.album_id = ? AND i.is_hidden = 0 ${hasGone ? "AND n.parent_id NOT IN (SELECT id FROM gone)" : ""}
      ORDER BY ${column} ${order}, i.position ${order})`,
    parameters: [...(hasGone ? [accountId, accountId] : []), id],
  };
}

/** When a photo was taken; for other files, when the content was made or stored. */
const CAPTURED_AT = "coalesce(p.taken_at, n.file_at, n.created_at)";

/** Reads and writes albums. Changes run inside a transaction. */
export class AlbumRows {
  readonly #sqlite: Database;
  readonly #statements;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#statements = {
      byPublicId: sqlite.prepare<Album, [string]>(`SELECT ${ALBUM} FROM albums a WHERE public_id = ?1`),
      byId: sqlite.prepare<Album, [number]>(`SELECT ${ALBUM} FROM albums a WHERE id = ?1`),
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
      // By the primary key.
      isItem: sqlite.prepare<{ one: 1 }, [number, number]>(
        "SELECT 1 AS one FROM album_items WHERE album_id = ?1 AND node_id = ?2 AND is_hidden = 0",
      ),
      itemRows: sqlite.prepare<{ total: number }, [number]>(
        "SELECT count(*) AS total FROM album_items INDEXED BY album_items_position WHERE album_id = ?1",
      ),
      items: sqlite.prepare<{ total: number }, [number]>("SELECT items AS total FROM albums WHERE id = ?1"),
      asc: sqlite.prepare<{ nodeId: number }, [number, number, number]>(pageSql("ASC")),
      desc: sqlite.prepare<{ nodeId: number }, [number, number, number]>(pageSql("DESC")),
      ofFile: sqlite.prepare<{ id: number }, [number, number]>(
        `SELECT a.id FROM album_items i INDEXED BY album_items_node CROSS JOIN albums a ON a.id = i.album_id
         WHERE i.node_id = ?1 AND a.account_id = ?2 ORDER BY a.sort_key, a.id`,
      ),
      files: sqlite.prepare<{ id: number; publicId: string }, [string, number]>(
        `SELECT n.id, n.public_id AS publicId FROM json_each(?1) j CROSS JOIN nodes n ON n.public_id = j.value
         WHERE n.account_id = ?2 AND n.kind = ${FILE} ORDER BY j.key`,
      ),
      itemsAmong: sqlite.prepare<{ nodeId: number }, [number, string]>(
        `SELECT i.node_id AS nodeId FROM json_each(?2) j CROSS JOIN album_items i ON i.album_id = ?1 AND i.node_id = j.value
         ORDER BY j.key`,
      ),
      position: sqlite.prepare<{ position: number }, [number, number]>(
        "SELECT position FROM album_items WHERE album_id = ?1 AND node_id = ?2",
      ),
      before: sqlite.prepare<{ position: number | null }, [number, number]>(
        "SELECT max(position) AS position FROM album_items INDEXED BY album_items_position WHERE album_id = ?1 AND position < ?2",
      ),
      last: sqlite.prepare<{ position: number | null }, [number]>(
        "SELECT max(position) AS position FROM album_items INDEXED BY album_items_position WHERE album_id = ?1",
      ),
      add: sqlite.prepare(
        `INSERT INTO album_items (album_id, node_id, position) SELECT ?1, j.value, ?3 + j.key * ?4 FROM json_each(?2) j`,
      ),
      move: sqlite.prepare(
        `UPDATE album_items SET position = ?3 + j.key * ?4 FROM json_each(?2) j WHERE album_id = ?1 AND node_id = j.value`,
      ),
      renumber: sqlite.prepare(
        `UPDATE album_items SET position = r.number * ${GAP}
         FROM (SELECT node_id, row_number() OVER (ORDER BY position) AS number FROM album_items WHERE album_id = ?1) r
         WHERE album_id = ?1 AND album_items.node_id = r.node_id`,
      ),
      remove: sqlite.prepare<{ nodeId: number }, [number, string]>(
        `DELETE FROM album_items WHERE album_id = ?1 AND node_id IN (SELECT value FROM json_each(?2))
         RETURNING node_id AS nodeId`,
      ),
    };
  }

  find(publicId: string): Album | undefined {
    return this.#statements.byPublicId.get(publicId) ?? undefined;
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

  /** Row ids of the albums of an account that a file is in, by name. */
  ofFile(nodeId: number, accountId: number): number[] {
    return this.#statements.ofFile.all(nodeId, accountId).map(({ id }) => id);
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

  /** Whether a file is in an album and not in the trash itself. The caller checks the folders above it. */
  isItem(albumId: number, nodeId: number): boolean {
    return this.#statements.isItem.get(albumId, nodeId) !== null;
  }

  /** All items, including those in the trash. */
  countRows(albumId: number): number {
    return this.#statements.itemRows.get(albumId)?.total ?? 0;
  }

  /** Items that are not in the trash themselves. */
  countItems(albumId: number): number {
    return this.#statements.items.get(albumId)?.total ?? 0;
  }

  /** Row ids of a page in the album's own order: for accounts without unreachable folders. */
  page(albumId: number, order: SortOrder, offset: number, limit: number): number[] {
    return this.#statements[order].all(albumId, limit, offset).map(({ nodeId }) => nodeId);
  }

  /** The files of an account with these public ids, in this order; also those in the trash. */
  files(publicIds: readonly string[], accountId: number): { readonly id: number; readonly publicId: string }[] {
    return this.#statements.files.all(JSON.stringify(publicIds), accountId);
  }

  /** Those of these files that are in the album, in the given order. */
  itemsAmong(albumId: number, nodeIds: readonly number[]): number[] {
    return this.#statements.itemsAmong.all(albumId, JSON.stringify(nodeIds)).map(({ nodeId }) => nodeId);
  }

  /** Adds files that are not in the album before an item, or at the end. */
  add(albumId: number, nodeIds: readonly number[], beforeId: number | undefined): void {
    const { first, step } = this.#makeRoom(albumId, nodeIds.length, beforeId);
    this.#statements.add.run(albumId, JSON.stringify(nodeIds), first, step);
  }

  /** Moves items of the album before another one, or to the end, in this order. */
  move(albumId: number, nodeIds: readonly number[], beforeId: number | undefined): void {
    const { first, step } = this.#makeRoom(albumId, nodeIds.length, beforeId);
    this.#statements.move.run(albumId, JSON.stringify(nodeIds), first, step);
  }

  /** @returns how many were in the album */
  remove(albumId: number, nodeIds: readonly number[]): number {
    return this.#statements.remove.all(albumId, JSON.stringify(nodeIds)).length;
  }

  /** Free positions for a number of items. Renumbers the whole album if the gap is too small. */
  #makeRoom(albumId: number, count: number, beforeId: number | undefined): { first: number; step: number } {
    const found = this.#findRoom(albumId, count, beforeId);
    if (found !== undefined) return found;
    this.#statements.renumber.run(albumId);
    return this.#findRoom(albumId, count, beforeId) ?? { first: 0, step: 0 };
  }

  #findRoom(albumId: number, count: number, beforeId: number | undefined): { first: number; step: number } | undefined {
    const { last, position, before } = this.#statements;
    if (beforeId === undefined) {
      const first = (last.get(albumId)?.position ?? 0) + GAP;
      return first + count * GAP > POSITION_MAX ? undefined : { first, step: GAP };
    }
    const end = position.get(albumId, beforeId)?.position ?? 0;
    const start = before.get(albumId, end)?.position ?? end - (count + 1) * GAP;
    const step = Math.floor((end - start) / (count + 1));
    return step < 1 || start < -POSITION_MAX ? undefined : { first: start + step, step };
  }
}

function pageSql(order: "ASC" | "DESC"): string {
  return `SELECT node_id AS nodeId FROM album_items INDEXED BY album_items_position
    WHERE album_id = ?1 AND is_hidden = 0 ORDER BY position ${order} LIMIT ?2 OFFSET ?3`;
}
