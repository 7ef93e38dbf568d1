import type { Database } from "bun:sqlite";
import { invariant } from "../../../lib/invariant.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { FILE } from "../../../tree/model/rows.ts";
import type { SortOrder } from "../../../tree/model/types.ts";
import { ASPECT } from "../../media/metadata/aspect.ts";
import { type Album, type AlbumStatement, type ItemSort, POSITION_GAP } from "./types.ts";

/** Positions stay exact numbers. */
const POSITION_MAX = Number.MAX_SAFE_INTEGER - POSITION_GAP;

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

/** The ids and the aspect ratios of all visible files of an album, in its own order: rows of {@link ItemShape}. */
export function selectShapes({ id, accountId }: Pick<Album, "id" | "accountId">, hasGone: boolean): AlbumStatement {
  return {
    sql: `${hasGone ? WITH_GONE_FOLDERS : ""} SELECT n.public_id AS fileId, ${ASPECT} AS aspect
      FROM album_items i INDEXED BY album_items_position CROSS JOIN nodes n ON n.id = i.node_id
      LEFT JOIN blobs b ON b.id = n.blob_id LEFT JOIN media_info m ON m.digest = b.digest
      WHERE i.album_id = ? AND i.is_hidden = 0 ${hasGone ? "AND n.parent_id NOT IN (SELECT id FROM gone)" : ""}
      ORDER BY i.position`,
    parameters: [...(hasGone ? [accountId, accountId] : []), id],
  };
}

/** When a photo was taken; for other files, when the content was made or stored. */
const CAPTURED_AT = "coalesce(p.taken_at, n.file_at, n.created_at)";

/** Reads and writes the items of albums. Changes run inside a transaction. */
export class AlbumItemRows {
  readonly #statements;

  constructor(sqlite: Database) {
    this.#statements = {
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
      move: sqlite.prepare("UPDATE album_items SET position = ?3 WHERE album_id = ?1 AND node_id = ?2"),
      renumber: sqlite.prepare(
        `UPDATE album_items SET position = r.number * ${POSITION_GAP}
         FROM (SELECT node_id, row_number() OVER (ORDER BY position) AS number FROM album_items WHERE album_id = ?1) r
         WHERE album_id = ?1 AND album_items.node_id = r.node_id`,
      ),
      remove: sqlite.prepare<{ nodeId: number }, [number, string]>(
        `DELETE FROM album_items WHERE album_id = ?1 AND node_id IN (SELECT value FROM json_each(?2))
         RETURNING node_id AS nodeId`,
      ),
    };
  }

  /** Row ids of the albums of an account that a file is in, by name. */
  ofFile(nodeId: number, accountId: number): number[] {
    return this.#statements.ofFile.all(nodeId, accountId).map(({ id }) => id);
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

  /**
   * Adds files that are not in the album before an item, or at the end.
   * @param total how many the caller adds there in all, so that later ones have as much room
   */
  add(albumId: number, nodeIds: readonly number[], beforeId: number | undefined, total: number): void {
    const { first, step } = this.#makeRoom(albumId, total, beforeId);
    this.#statements.add.run(albumId, JSON.stringify(nodeIds), first, step);
  }

  /** Moves items of the album before another one, or to the end, in this order. @param total as of {@link add} */
  move(albumId: number, nodeIds: readonly number[], beforeId: number | undefined, total: number): void {
    const { first, step } = this.#makeRoom(albumId, total, beforeId);
    // One by one: a statement for all of them would read the whole album.
    for (const [index, nodeId] of nodeIds.entries()) this.#statements.move.run(albumId, nodeId, first + index * step);
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
    const made = this.#findRoom(albumId, count, beforeId);
    invariant(made !== undefined, "a renumbered album has gaps for a thousand files");
    return made;
  }

  #findRoom(albumId: number, count: number, beforeId: number | undefined): { first: number; step: number } | undefined {
    const { last, position, before } = this.#statements;
    if (beforeId === undefined) {
      const first = (last.get(albumId)?.position ?? 0) + POSITION_GAP;
      return first + count * POSITION_GAP > POSITION_MAX ? undefined : { first, step: POSITION_GAP };
    }
    const end = position.get(albumId, beforeId)?.position ?? 0;
    const start = before.get(albumId, end)?.position ?? end - (count + 1) * POSITION_GAP;
    const step = Math.floor((end - start) / (count + 1));
    return step < 1 || start < -POSITION_MAX ? undefined : { first: start + step, step };
  }
}

function pageSql(order: "ASC" | "DESC"): string {
  return `SELECT node_id AS nodeId FROM album_items INDEXED BY album_items_position
    WHERE album_id = ?1 AND is_hidden = 0 ORDER BY position ${order} LIMIT ?2 OFFSET ?3`;
}
