/** Adds files to albums by the names of the albums, for imports. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { fold } from "../../../lib/path.ts";
import { checkDescription, checkName, tooManyAlbums, tooManyItems } from "./checks.ts";
import { AlbumItemRows } from "./item-rows.ts";
import { AlbumRows } from "./queries.ts";
import { type Album, ALBUMS_MAX, ITEMS_MAX } from "./types.ts";

/** An album, as another system names it. */
export interface NamedAlbum {
  readonly name: string;
  /** For a new album. */
  readonly description: string;
}

/** The albums of accounts, by name. */
export class NamedAlbums {
  readonly #albums: AlbumRows;
  readonly #items: AlbumItemRows;
  readonly #clock: Clock;

  constructor({ sqlite, clock }: { readonly sqlite: Database; readonly clock: Clock }) {
    this.#albums = new AlbumRows(sqlite);
    this.#items = new AlbumItemRows(sqlite);
    this.#clock = clock;
  }

  /**
   * Adds a file at the end of an own album of this name, or of a new one, unless it is in it. In the caller's
   * transaction.
   * @param nodeId row id of a file of the account
   * @throws AppError invalid_field | quota_exceeded
   */
  add(_tx: Transaction, accountId: number, named: NamedAlbum, nodeId: number): void {
    const album = this.#albums.findByName(accountId, checkName(named.name)) ?? this.#create(accountId, named);
    if (this.#items.itemsAmong(album.id, [nodeId]).length > 0) return;
    if (this.#items.countRows(album.id) >= ITEMS_MAX) throw tooManyItems();
    this.#items.add(album.id, [nodeId], undefined, 1);
    this.#albums.touch(album.id, this.#clock.nowMs());
  }

  #create(accountId: number, { name: given, description }: NamedAlbum): Pick<Album, "id"> {
    if (this.#albums.countOfAccount(accountId) >= ALBUMS_MAX) throw tooManyAlbums();
    const nowMs = this.#clock.nowMs();
    const name = checkName(given);
    const sortable = { name, key: fold(name) };
    return { id: this.#albums.insert(newId("albm", nowMs), accountId, sortable, checkDescription(description), nowMs) };
  }
}
