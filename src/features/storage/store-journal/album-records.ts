/**
 * Records of albums in the store journal: the whole album with the ids of its files, in order. Every record is also a
 * record of a deletion, of an id that no node has: programs from before albums read it as such, and skip it.
 */
import type { Database } from "bun:sqlite";
import type { GoneRecord, ShareRecord } from "./records.ts";

/** An album. */
export interface AlbumRecord extends GoneRecord {
  readonly album: {
    readonly name: string;
    readonly description?: string;
    /** Public id of the chosen cover. */
    readonly cover?: string;
    readonly created: number;
    readonly modified: number;
    /** Public ids of the files, in order; those in the trash too. */
    readonly items: readonly string[];
    readonly shares?: readonly ShareRecord[];
  };
}

interface AlbumRow {
  readonly id: number;
  readonly publicId: string;
  readonly name: string;
  readonly description: string;
  readonly cover: string | null;
  readonly created: number;
  readonly modified: number;
  /** JSON array of {@link ShareRecord}, with nulls for what is absent. */
  readonly shares: string | null;
}

interface ItemRow {
  readonly id: string;
  readonly position: number;
}

/** Items read at a time, in a millisecond. */
const ITEMS_PER_READ = 1_000;

/** Reads albums for the store journal. */
export class AlbumRecords {
  readonly #album;
  readonly #items;
  readonly #idsOf;

  /** @param sharesSql the JSON of the shares of an album `a` */
  constructor(sqlite: Database, sharesSql: string) {
    this.#album = sqlite.prepare<AlbumRow, [number]>(
      `SELECT a.id, a.public_id AS publicId, a.name, a.description, a.created_at AS created, a.modified_at AS modified,
         (SELECT public_id FROM nodes WHERE id = a.cover_id) AS cover, nullif(${sharesSql}, '[]') AS shares
       FROM albums a WHERE a.id = ?1`,
    );
    this.#items = sqlite.prepare<ItemRow, [number, number]>(
      `SELECT n.public_id AS id, i.position FROM album_items i INDEXED BY album_items_position
       CROSS JOIN nodes n ON n.id = i.node_id
       WHERE i.album_id = ?1 AND i.position > ?2 ORDER BY i.position LIMIT ${ITEMS_PER_READ}`,
    );
    this.#idsOf = sqlite.prepare<{ id: number }, [number]>(
      "SELECT id FROM albums INDEXED BY albums_name WHERE account_id = ?1",
    );
  }

  /** Row ids of all albums of an account. */
  idsOf(accountId: number): number[] {
    return this.#idsOf.all(accountId).map(({ id }) => id);
  }

  /**
   * The record of an album; undefined if it was deleted. If it changes while its items are read, it is written again.
   * @param pause is awaited between two reads
   */
  async read(id: number, pause: () => Promise<void>): Promise<AlbumRecord | undefined> {
    const items = new Set<string>();
    for (let position = Number.MIN_SAFE_INTEGER; ; ) {
      const page = this.#items.all(id, position);
      for (const item of page) items.add(item.id);
      const last = page.at(-1);
      if (last === undefined || page.length < ITEMS_PER_READ) break;
      position = last.position;
      await pause();
    }
    const row = this.#album.get(id);
    return row === null ? undefined : toRecord(row, [...items]);
  }
}

function toRecord({ publicId, name, description, cover, created, modified, shares }: AlbumRow, items: string[]) {
  return {
    gone: publicId,
    album: {
      name,
      ...(description !== "" && { description }),
      ...(cover !== null && { cover }),
      created,
      modified,
      items,
      ...(shares !== null && { shares: parseShares(shares) }),
    },
  };
}

function parseShares(json: string): ShareRecord[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by the statement that reads the row
  return JSON.parse(json, (_key, value: unknown) => value ?? undefined) as ShareRecord[];
}
