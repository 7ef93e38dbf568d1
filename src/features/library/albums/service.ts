/**
 * Albums: files of one account in an order of their own. An album refers to files; it never changes them. A file in the
 * trash keeps its place, but is in no list and no count until it is restored.
 */
import type { Database } from "bun:sqlite";
import { type Reader, numbers } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { fold } from "../../../lib/path.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { PhotoService } from "../photos/service.ts";
import type { Photo } from "../photos/types.ts";
import { sharedView } from "../permissions/view.ts";
import { checkDescription, checkName, noFile, tooManyAlbums, tooManyItems } from "./checks.ts";
import { AlbumItemRows, selectItems, selectShapes } from "./item-rows.ts";
import { AlbumRows, readRows, selectSummaries, type SummaryRow } from "./queries.ts";
import {
  type AddedItems,
  type Album,
  type AlbumChanges,
  ALBUMS_MAX,
  type AlbumSort,
  type AlbumSummary,
  type ItemPage,
  ITEMS_MAX,
  type ItemShape,
  type ItemSort,
  type PageQuery,
  type PermittedAlbum,
  type ShownAlbum,
  type ShownItemPage,
} from "./types.ts";
import { asOwn, asReceived } from "./views.ts";

/** Dependencies of {@link AlbumService}. */
export interface AlbumServiceOptions {
  readonly sqlite: Database;
  readonly tree: Pick<TreeReader, "findByIds">;
  readonly permissions: Pick<Permissions, "album" | "canRead" | "file">;
  readonly photos: Pick<PhotoService, "among">;
  /** For queries whose order no index gives. */
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  /** Records durably, outside the database, which shares have ended. */
  readonly noteEnded: () => Promise<void>;
}

/** Files changed per transaction of some milliseconds, so that others can write in between. */
const FILES_PER_TRANSACTION = 250;
/** Files read at a time for a whole album. */
const FILES_PER_READ = 500;

/** Lists and changes albums. All writes are durable when a promise resolves. */
export class AlbumService {
  readonly #options: AlbumServiceOptions & { readonly rows: AlbumRows; readonly items: AlbumItemRows };

  constructor(options: AlbumServiceOptions) {
    this.#options = { ...options, rows: new AlbumRows(options.sqlite), items: new AlbumItemRows(options.sqlite) };
  }

  /** A page of the user's own albums. */
  async list(user: User, query: PageQuery<AlbumSort>): Promise<{ albums: readonly ShownAlbum[]; total: number }> {
    const { rows: table } = this.#options;
    const total = table.countOfAccount(user.id);
    const albums = await this.#summarize(table.ofAccount(user.id, query), user.id);
    return { albums: albums.map(asOwn), total };
  }

  /** The user's own albums that a file is in, by name. @throws AppError not_found */
  async listOf(user: User, fileId: string): Promise<readonly ShownAlbum[]> {
    const { items, permissions } = this.#options;
    const { node } = permissions.file(user, fileId, "read");
    const albums = await this.#summarize(items.ofFile(node.id, user.id), user.id);
    return albums.map(asOwn);
  }

  /** An album of the user, or one shared with them. @throws AppError not_found */
  async get(user: User, publicId: string): Promise<ShownAlbum> {
    return this.#show(this.#permit(user, publicId, "read"));
  }

  /** Albums by row id, with counts and covers, in this order; all of one account. Deleted ones are left out. */
  async summaries(ids: readonly number[], accountId: number): Promise<readonly AlbumSummary[]> {
    return this.#summarize(ids, accountId);
  }

  /** A page of the files of an album. @throws AppError not_found | overloaded */
  async items(user: User, publicId: string, query: PageQuery<ItemSort>): Promise<ShownItemPage> {
    const { album, isOwn } = this.#permit(user, publicId, "read");
    const page = await this.page(album, query);
    const photos = this.#options.photos.among(page.files);
    if (isOwn) return { ...page, photos };
    const received = new Map([...photos].map(([id, photo]) => [id, this.#asReceived(user, photo)]));
    return { ...page, files: page.files.map((file) => sharedView(file).show(file)), photos: received };
  }

  /** The ids and the aspect ratios of all files of an album, in its own order. @throws AppError not_found | overloaded */
  async shapes(user: User, publicId: string): Promise<readonly ItemShape[]> {
    const { album } = this.#permit(user, publicId, "read");
    const hasGone = this.#options.rows.hasGone(album.accountId);
    return readRows<ItemShape>(this.#options.reader, selectShapes(album, hasGone));
  }

  /** A photo without the video of a Live Photo, if that is in a file that the user can't open. */
  #asReceived(user: User, photo: Photo): Photo {
    const isHidden = photo.motionFileId !== null && !this.#options.permissions.canRead(user, photo.motionFileId);
    return isHidden ? { ...photo, motion: null, motionFileId: null } : photo;
  }

  /** A page of the files of an album, with the paths of the owner. The caller checks permissions. */
  async page(album: Pick<Album, "id" | "accountId">, query: PageQuery<ItemSort>): Promise<ItemPage> {
    const { rows: table, items } = this.#options;
    const { sort, order, offset, limit } = query;
    if (sort === "position" && !table.hasGone(album.accountId)) {
      const total = items.countItems(album.id);
      return { files: this.#filesOf(items.page(album.id, order, offset, limit)), total };
    }
    const ids = await this.#idsOf(album, sort, order);
    return { files: this.#filesOf(ids.slice(offset, offset + limit)), total: ids.length };
  }

  /** All files of an album in its own order, with the paths of the owner. The caller checks permissions. */
  async files(album: Pick<Album, "id" | "accountId">): Promise<FileNode[]> {
    const ids = await this.fileIds(album);
    const files: FileNode[] = [];
    for (let start = 0; start < ids.length; start += FILES_PER_READ) {
      files.push(...this.#filesOf(ids.slice(start, start + FILES_PER_READ)));
      // Yields to the event loop.
      await new Promise(setImmediate);
    }
    return files;
  }

  /** Row ids of all files of an album in its own order, read in the reader thread. @throws AppError overloaded */
  fileIds(album: Pick<Album, "id" | "accountId">): Promise<readonly number[]> {
    return this.#idsOf(album, "position", "asc");
  }

  /** An album by row id; undefined if it was deleted. Synchronous: may be called inside a transaction. */
  findById(id: number): Album | undefined {
    return this.#options.rows.findById(id);
  }

  /** The number of files of an album that are not in the trash themselves. */
  countItems(album: Pick<Album, "id">): number {
    return this.#options.items.countItems(album.id);
  }

  /** Whether a file that is in a tree is in an album. Synchronous: may be called inside a transaction. */
  isItem(album: Pick<Album, "id">, file: FileNode): boolean {
    return this.#options.items.isItem(album.id, file.id);
  }

  /**
   * Creates an album with these files. None is created if every file failed.
   * @throws AppError invalid_field | not_found | quota_exceeded for too many albums
   */
  async create(
    user: User,
    { name, description, fileIds }: { name: string; description: string; fileIds: readonly string[] },
  ): Promise<{ album: ShownAlbum; added: AddedItems }> {
    const { rows: table, writer, clock } = this.#options;
    const checked = { name: checkName(name), description: checkDescription(description) };
    if (fileIds.length > 0 && this.#existing(fileIds, user.id).size === 0) throw noFile();
    const publicId = await writer.run(() => {
      if (table.countOfAccount(user.id) >= ALBUMS_MAX) throw tooManyAlbums();
      const nowMs = clock.nowMs();
      const id = newId("albm", nowMs);
      const sortable = { name: checked.name, key: fold(checked.name) };
      table.insert(id, user.id, sortable, checked.description, nowMs);
      return id;
    });
    const added = await this.#add(user, publicId, fileIds, undefined);
    return { album: await this.get(user, publicId), added };
  }

  /**
   * Adds files of an import to the user's album of this name, or to a new one; `skipped` older ones are passed over.
   * @throws AppError invalid_field | quota_exceeded
   */
  async addByName(
    user: User,
    album: { name: string; description: string; fileIds: readonly string[]; skipped: number },
  ): Promise<{ readonly publicId: string; readonly isNew: boolean }> {
    const existing = this.#options.rows.findByName(user.id, checkName(album.name), album.skipped);
    if (existing !== undefined) await this.#add(user, existing.publicId, album.fileIds, undefined);
    const { publicId } = existing ?? (await this.create(user, album)).album;
    return { publicId, isNew: existing === undefined };
  }

  /** @throws AppError not_found | share_permission | invalid_field */
  async update(user: User, publicId: string, changes: AlbumChanges): Promise<ShownAlbum> {
    const { rows: table } = this.#options;
    const { name, description, coverFileId } = changes;
    if (name === undefined && description === undefined && coverFileId === undefined) {
      throw invalidField("body", say`The request contains no changes. Send name, description or coverFileId.`);
    }
    const newName = name === undefined ? undefined : checkName(name);
    const newDescription = description === undefined ? undefined : checkDescription(description);
    await this.#write(user, publicId, ({ id, accountId }) => {
      if (newName !== undefined) table.rename(id, newName, fold(newName));
      if (newDescription !== undefined) table.describe(id, newDescription);
      if (coverFileId === null) table.setCover(id, null);
      else if (coverFileId !== undefined) table.setCover(id, this.#itemId(id, accountId, coverFileId));
      return { changed: 1 };
    });
    return this.get(user, publicId);
  }

  /** Deletes an album and ends its shares. Its files stay. @throws AppError not_found | share_permission */
  async delete(user: User, publicId: string): Promise<Album> {
    const { rows: table, writer, noteEnded } = this.#options;
    const deleted = await writer.run(() => {
      const { album } = this.#permit(user, publicId, "own");
      table.delete(album.id);
      return album;
    });
    await noteEnded();
    return deleted;
  }

  /**
   * Adds files in this order, before an item or at the end. Files that are in the album stay where they are.
   * @returns how many, and an error per id: not_found, or quota_exceeded if the album is full
   * @throws AppError not_found | share_permission
   */
  async addItems(
    user: User,
    publicId: string,
    fileIds: readonly string[],
    before: string | undefined,
  ): Promise<AddedItems & { readonly album: ShownAlbum }> {
    const added = await this.#add(user, publicId, fileIds, before);
    return { ...added, album: await this.get(user, publicId) };
  }

  /**
   * Moves items in this order before another item, or to the end (null). Ids that are not in the album are left out.
   * @throws AppError not_found | share_permission | invalid_field
   */
  async moveItems(
    user: User,
    publicId: string,
    fileIds: readonly string[],
    before: string | null,
  ): Promise<ShownAlbum> {
    const { items } = this.#options;
    if (before !== null && fileIds.includes(before)) {
      throw invalidField("before", say`A file can't be moved before itself. Choose another file in before.`);
    }
    await this.#inBatches(user, publicId, fileIds, ({ id, accountId }, ids, left) => {
      const beforeId = before === null ? undefined : this.#itemId(id, accountId, before, "before");
      const found = items.files(ids, accountId).map((file) => file.id);
      const moved = items.itemsAmong(id, found);
      if (moved.length > 0) items.move(id, moved, beforeId, left);
      return { changed: moved.length };
    });
    return this.get(user, publicId);
  }

  /** Removes files from an album; they stay where they are. @throws AppError not_found | share_permission */
  async removeItems(
    user: User,
    publicId: string,
    fileIds: readonly string[],
  ): Promise<{ readonly removed: number; readonly album: ShownAlbum }> {
    const { items } = this.#options;
    const counts = await this.#inBatches(user, publicId, fileIds, ({ id, accountId }, ids) => {
      const found = items.files(ids, accountId).map((file) => file.id);
      return { changed: items.remove(id, found) };
    });
    const removed = counts.reduce((sum, { changed }) => sum + changed, 0);
    return { removed, album: await this.get(user, publicId) };
  }

  async #add(
    user: User,
    publicId: string,
    fileIds: readonly string[],
    before: string | undefined,
  ): Promise<AddedItems> {
    const { items } = this.#options;
    const batches = await this.#inBatches(user, publicId, fileIds, ({ id, accountId }, ids, left) => {
      const beforeId = before === undefined ? undefined : this.#itemId(id, accountId, before, "before");
      const existing = this.#existing(ids, accountId);
      const present = new Set(items.itemsAmong(id, [...existing.values()]));
      const room = Math.max(0, ITEMS_MAX - items.countRows(id));
      const fresh: number[] = [];
      const failed: AddedItems["failed"][number][] = [];
      for (const fileId of ids) {
        const nodeId = existing.get(fileId);
        if (nodeId === undefined) failed.push({ id: fileId, error: noFile() });
        else if (!present.has(nodeId) && fresh.length < room) fresh.push(nodeId);
        else if (!present.has(nodeId)) failed.push({ id: fileId, error: tooManyItems() });
      }
      if (fresh.length > 0) items.add(id, fresh, beforeId, left);
      return { changed: fresh.length, alreadyThere: present.size, failed };
    });
    return {
      added: batches.reduce((sum, { changed }) => sum + changed, 0),
      alreadyThere: batches.reduce((sum, batch) => sum + batch.alreadyThere, 0),
      failed: batches.flatMap(({ failed }) => failed),
    };
  }

  /** The row ids of those files that are in the tree, by public id. */
  #existing(publicIds: readonly string[], accountId: number): Map<string, number> {
    const { items, tree } = this.#options;
    const found = items.files(publicIds, accountId);
    const inTree = new Set(tree.findByIds(found.map(({ id }) => id)).map(({ id }) => id));
    return new Map(found.flatMap(({ id, publicId }) => (inTree.has(id) ? [[publicId, id]] : [])));
  }

  /** The row id of an item. @throws AppError not_found; invalid_field, for a field of the request */
  #itemId(albumId: number, accountId: number, fileId: string, field = "coverFileId"): number {
    const nodeId = this.#existing([fileId], accountId).get(fileId);
    if (nodeId !== undefined && this.#options.items.isItem(albumId, nodeId)) return nodeId;
    throw new AppError("not_found", say`This file is not in the album. Reload the album.`, { field });
  }

  /** Runs a change of some files at a time, each in a transaction of its own, with the number of those left. @returns their results */
  async #inBatches<Result extends { readonly changed: number }>(
    user: User,
    publicId: string,
    fileIds: readonly string[],
    change: (album: Album, ids: readonly string[], left: number) => Result,
  ): Promise<Result[]> {
    const ids = [...new Set(fileIds)];
    const results: Result[] = [];
    for (let start = 0; start < ids.length; start += FILES_PER_TRANSACTION) {
      const batch = ids.slice(start, start + FILES_PER_TRANSACTION);
      results.push(await this.#write(user, publicId, (album) => change(album, batch, ids.length - start)));
    }
    return results;
  }

  /** Runs a change in a transaction, which may be repeated; `changed` is how many items it changed. */
  #write<Result extends { readonly changed: number }>(
    user: User,
    publicId: string,
    change: (album: Album) => Result,
  ): Promise<Result> {
    const { rows: table, writer, clock } = this.#options;
    return writer.run(() => {
      const { album } = this.#permit(user, publicId, "own");
      const result = change(album);
      if (result.changed > 0) table.touch(album.id, clock.nowMs());
      return result;
    });
  }

  /** @throws AppError not_found | share_permission */
  #permit(user: User, publicId: string, permission: "read" | "own"): PermittedAlbum {
    const { albumId, owner, isOwn } = this.#options.permissions.album(user, publicId, permission);
    const album = this.#options.rows.findById(albumId);
    if (album === undefined) throw notFound(say`This album was not found.`);
    return { album, owner, isOwn };
  }

  async #show({ album, owner, isOwn }: PermittedAlbum): Promise<ShownAlbum> {
    const [summary] = await this.#summarize([album.id], album.accountId);
    if (summary === undefined) throw notFound(say`This album was not found.`);
    return isOwn ? asOwn(summary) : asReceived(summary, owner);
  }

  async #summarize(ids: readonly number[], accountId: number): Promise<AlbumSummary[]> {
    if (ids.length === 0) return [];
    const { rows: table, reader, clock } = this.#options;
    const hasGone = table.hasGone(accountId);
    const statement = selectSummaries(ids, accountId, hasGone, clock.nowMs());
    const found = hasGone ? await readRows<SummaryRow>(reader, statement) : table.summaries(statement);
    return found.map(({ isShared, coverId, ...rest }) => ({
      ...rest,
      coverId: rest.chosenCoverId ?? coverId,
      isShared: isShared === 1,
    }));
  }

  async #idsOf(
    album: Pick<Album, "id" | "accountId">,
    sort: ItemSort,
    order: "asc" | "desc",
  ): Promise<readonly number[]> {
    const { rows: table, reader } = this.#options;
    const { sql, parameters } = selectItems(album, sort, order, table.hasGone(album.accountId));
    const [ids] = await reader.read([numbers(sql, parameters)]);
    return [...ids];
  }

  #filesOf(ids: readonly number[]): FileNode[] {
    return this.#options.tree.findByIds(ids).flatMap((node) => (node.kind === "file" ? [node] : []));
  }
}
