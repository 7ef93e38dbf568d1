import type { Database } from "bun:sqlite";
import { fold } from "../../../lib/path.ts";
import { FILE } from "../../../tree/model/rows.ts";
import { POSITION_GAP } from "../../library/albums/types.ts";
import type { AlbumRecord } from "./album-records.ts";

/** Writes rows of albums from records of the store journal. Every method is called inside a transaction. */
export class AlbumRows {
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #setCover;
  readonly #clear;
  readonly #addItems;
  readonly #append;
  readonly #touch;
  readonly #delete;

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<{ id: number; modifiedAt: number }, [string, number]>(
      "SELECT id, modified_at AS modifiedAt FROM albums WHERE public_id = ?1 AND account_id = ?2",
    );
    this.#insert = sqlite.prepare<{ id: number }, [string, number, string, string, string, number, number]>(
      `INSERT INTO albums (public_id, account_id, name, sort_key, description, created_at, modified_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.#update = sqlite.prepare<undefined, [number, string, string, string, number]>(
      "UPDATE albums SET name = ?2, sort_key = ?3, description = ?4, modified_at = ?5 WHERE id = ?1",
    );
    this.#setCover = sqlite.prepare<undefined, [number, string | null]>(
      `UPDATE albums SET cover_id = (SELECT i.node_id FROM nodes n JOIN album_items i ON i.album_id = ?1 AND i.node_id = n.id
         WHERE n.public_id = ?2) WHERE id = ?1`,
    );
    this.#clear = sqlite.prepare<undefined, [number]>("DELETE FROM album_items WHERE album_id = ?1");
    this.#addItems = sqlite.prepare<undefined, [number, string, number]>(addItemsSql("0"));
    this.#append = sqlite.prepare<undefined, [number, string, number]>(
      addItemsSql("(SELECT ifnull(max(position), 0) FROM album_items WHERE album_id = ?1)"),
    );
    this.#touch = sqlite.prepare<undefined, [number]>("UPDATE albums SET modified_at = modified_at WHERE id = ?1");
    this.#delete = sqlite.prepare<undefined, [number]>("DELETE FROM albums WHERE id = ?1");
  }

  /** An album of an account by its public id. */
  find(publicId: string, accountId: number): { readonly id: number; readonly modifiedAt: number } | undefined {
    return this.#find.get(publicId, accountId) ?? undefined;
  }

  /** Inserts an album with those of its files that exist. @returns its row id; undefined if the public id is taken */
  insert(accountId: number, { gone: publicId, album }: AlbumRecord): number | undefined {
    const { name, description = "", created, modified, items, cover = null } = album;
    const id = this.#insert.get(publicId, accountId, name, fold(name), description, created, modified)?.id;
    if (id === undefined) return undefined;
    this.#addItems.run(id, JSON.stringify(items), accountId);
    this.#setCover.run(id, cover);
    return id;
  }

  /** Gives an album the state of its record. */
  replace(accountId: number, id: number, { album }: AlbumRecord): void {
    const { name, description = "", modified, items, cover = null } = album;
    this.#clear.run(id);
    this.#addItems.run(id, JSON.stringify(items), accountId);
    this.#update.run(id, name, fold(name), description, modified);
    this.#setCover.run(id, cover);
  }

  /** Adds the files of a record that an album lacks, at its end. */
  addMissing(accountId: number, id: number, { album }: AlbumRecord): void {
    const { changes } = this.#append.run(id, JSON.stringify(album.items), accountId);
    // A change of the row makes the store journal write it again.
    if (changes > 0) this.#touch.run(id);
  }

  /** Deletes an album with its items and shares. */
  delete(id: number): void {
    this.#delete.run(id);
  }
}

/** The statement that adds files by their public ids after a position; files that are missing or there are left out. */
function addItemsSql(after: string): string {
  return `INSERT OR IGNORE INTO album_items (album_id, node_id, position, is_hidden)
    SELECT ?1, n.id, ${after} + (j.key + 1) * ${POSITION_GAP}, ifnull(n.parent_id, 0) <= 0
    FROM json_each(?2) j CROSS JOIN nodes n ON n.public_id = j.value WHERE n.account_id = ?3 AND n.kind = ${FILE}`;
}
