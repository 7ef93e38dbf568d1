/**
 * The tree as it was at a moment: what was where, under which name, with which content. A moment is a number of the
 * account's journal: what was made up to it was there, and a node was where its first row of `former_places` after it
 * says, or where it is now. Labels are those of today: they have no memory.
 *
 * What a person deleted for good is nowhere. What a device deleted is there, from what was noted for undoing it, and so is
 * what lies in the trash now.
 */
import type { Statement } from "bun:sqlite";
import { numbers, type Read, rows } from "../../db/reader.ts";
import { invariant } from "../../lib/invariant.ts";
import { fold, joinPath, ROOT_PATH, segmentsOf } from "../../lib/path.ts";
import { Steps } from "../../lib/steps.ts";
import { IN_TRASH } from "../tables/history.ts";
import {
  CREATED_SEQ_SQL,
  CHANGED_CHILDREN_SQL,
  childrenSql,
  CREATED_SQL,
  IS_AVAILABLE_SQL,
  MODIFIED_THEN_SQL,
  SORT_KEYS_SQL,
} from "./past-sql.ts";
import { FILE, FOLDER, NODE_COLUMNS, type NodeRow, toFile, toFolder } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FileNode, FolderNode, SortField, SortOrder, TreeNode } from "../model/types.ts";
import { type FormerContent, parseDetail, type UndoDetail } from "../tables/undo.ts";
import { findVersion } from "../tables/versions.ts";

/** A moment of an account. */
export interface Moment {
  readonly accountId: number;
  readonly atMs: number;
  /** The last journal number given by then. */
  readonly seq: number;
}

/** A folder as it was: its row id (it may be gone by now), and its path at the moment. */
export interface PastFolder {
  readonly id: number;
  readonly name: string;
  /** Path of the folder that held it. */
  readonly folder: string;
  readonly path: string;
}

/** A file or folder as it was. */
export interface PastNode {
  readonly node: FileNode | FolderNode;
  /** Of files: whether the content of that moment is still kept. Where it is not, `node` tells of the nearest that is. */
  readonly isContentAvailable: boolean;
  /** It is in the trash, or was deleted by a device. */
  readonly isDeleted: boolean;
}

/** One page of a folder as it was. */
export interface PastListQuery {
  readonly kind?: "file" | "folder" | undefined;
  readonly sort: SortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** A file or folder that may be other than it was, by row ids. */
export interface PastEntry {
  readonly id: number;
  readonly isFolder: boolean;
  readonly parentId: number;
  readonly name: string;
}

/** What a folder held at a moment, as far as it may be other now. */
export interface PastContents {
  /** From the top down; what is as it was is left out. */
  readonly changed: readonly PastEntry[];
  /** Whether that is all. */
  readonly isWhole: boolean;
  /** Row ids of what was made in place of something that is gone, by the row id of that. */
  readonly present: ReadonlyMap<number, number>;
  /** Row ids of what was made in these folders since, whatever is in it; with {@link isWhole} alone. */
  readonly newIds: readonly number[];
}

/** What a file that a device deleted needs to be made again. */
export interface DeletedByDevice {
  readonly deviceId: number;
  readonly publicId: string;
  readonly detail: UndoDetail;
}

interface ListedRow {
  readonly id: number;
  readonly kind: number;
  readonly name: string;
  readonly created: number;
  readonly modified: number;
  readonly total: number;
}

interface ChildRow {
  readonly parent_id: number;
  readonly id: number;
  readonly kind: number;
  readonly name: string;
}

interface ChangedRow extends ChildRow {
  /** 1: it stands where it was; a file with the content of then. */
  readonly isBack: number;
  /** 1: its row is gone. */
  readonly isGone: number;
}

interface LocationRow {
  readonly parentId: number;
  readonly name: string;
  readonly bornSeq: number;
}

/** Folders whose children are read at once. */
const FOLDERS_AT_ONCE = 500;
/** How long the event loop waits while what was read is looked through. */
const STEP_MS = 4;

/** Reads the past of all accounts of a database. */
export class PastReader {
  readonly #store: TreeStore;
  readonly #seqBefore: (accountId: number, atMs: number) => number;
  readonly #row: Statement<NodeRow, [number]>;
  readonly #deleted;
  readonly #successor;
  readonly #formerLocation;
  readonly #presentPlace;
  readonly #ofPublicId;
  readonly #isLiving;
  readonly #times;
  readonly #versionAt;
  readonly #versionAfter;
  readonly #older;
  readonly #topInTrash;

  /** @param seqBefore the journal number before the first change at or after an instant */
  constructor(store: TreeStore, seqBefore: (accountId: number, atMs: number) => number) {
    const { sqlite } = store;
    this.#store = store;
    this.#seqBefore = seqBefore;
    this.#row = sqlite.prepare<NodeRow, [number]>(`SELECT ${NODE_COLUMNS} FROM nodes n WHERE n.id = ?1`);
    this.#deleted = sqlite.prepare<{ deviceId: number; publicId: string; before: string }, [number, number]>(
      `SELECT device_id AS deviceId, public_id AS publicId, before FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND account_id = ?2 AND what IN ('delete', 'reap') ORDER BY seq DESC LIMIT 1`,
    );
    this.#successor = sqlite.prepare<{ before: string }, [number, number]>(
      `SELECT before FROM undo INDEXED BY undo_node WHERE node_id = ?1 AND account_id = ?2 AND what = 'restore'
       ORDER BY seq DESC LIMIT 1`,
    );
    this.#formerLocation = sqlite.prepare<LocationRow, [number, number, number]>(
      `SELECT parent_id AS parentId, name, born_seq AS bornSeq FROM former_places
       WHERE node_id = ?1 AND seq > ?2 AND account_id = ?3 ORDER BY seq LIMIT 1`,
    );
    this.#presentPlace = sqlite.prepare<{ parentId: number | null; name: string; bornSeq: number }, [number, number]>(
      `SELECT parent_id AS parentId, name, ${CREATED_SEQ_SQL} AS bornSeq FROM nodes n WHERE id = ?1 AND account_id = ?2`,
    );
    this.#ofPublicId = sqlite.prepare<{ id: number }, [string, number]>(
      `SELECT id FROM nodes WHERE public_id = ?1 AND account_id = ?2
       UNION ALL SELECT node_id FROM tombstones INDEXED BY tombstones_public WHERE public_id = ?1 AND account_id = ?2 LIMIT 1`,
    );
    this.#isLiving = sqlite.prepare<{ isAvailable: number }, [number]>(
      `SELECT ${IS_AVAILABLE_SQL} AS isAvailable FROM (SELECT ?1 AS node_id) p`,
    );
    this.#times = sqlite.prepare<{ created: number; modified: number }, [number, number, number, number, number]>(
      `SELECT ${CREATED_SQL} AS created, ${MODIFIED_THEN_SQL} AS modified FROM (SELECT ?1 AS id, ?5 AS kind) h`,
    );
    this.#topInTrash = sqlite.prepare<{ id: number; publicId: string }, [number, number]>(
      `WITH RECURSIVE up(id, parent_id, public_id) AS (
         SELECT id, parent_id, public_id FROM nodes WHERE id = ?1 AND account_id = ?2
         UNION ALL SELECT n.id, n.parent_id, n.public_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT id, public_id AS publicId FROM up WHERE parent_id < 0`,
    );
    this.#older = sqlite.prepare<{ id: number }, [number, number]>(
      `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
         SELECT f.id FROM s CROSS JOIN nodes f INDEXED BY nodes_name ON f.parent_id = s.id AND f.kind = 0)
       SELECT n.id FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind IN (0, 1)
       WHERE ${CREATED_SEQ_SQL} <= ?2 LIMIT 1`,
    );
    const version = "SELECT version FROM versions WHERE node_id = ?1 AND";
    this.#versionAt = sqlite.prepare<{ version: number }, [number, number]>(
      `${version} created_at <= ?2 AND replaced_at > ?2 ORDER BY version DESC LIMIT 1`,
    );
    this.#versionAfter = sqlite.prepare<{ version: number }, [number, number]>(
      `${version} created_at > ?2 ORDER BY version LIMIT 1`,
    );
  }

  /** The moment of an account after all its changes up to an instant. */
  momentOf(accountId: number, atMs: number): Moment {
    return { accountId, atMs, seq: this.#seqBefore(accountId, atMs + 1) };
  }

  /** The folder that was at a normalised path. */
  async findFolder(moment: Moment, path: string): Promise<PastFolder | undefined> {
    const { accountId, seq } = moment;
    const rootId = this.#store.paths.rootOf(accountId);
    if (rootId === undefined) return undefined;
    let found: PastFolder = { id: rootId, name: ROOT_PATH, folder: ROOT_PATH, path: ROOT_PATH };
    const sql = childrenSql("n.kind = 0 AND n.sort_key = ?3 AND n.name = ?4", "p.kind = 0 AND p.name = ?4");
    for (const name of segmentsOf(path)) {
      const read: Read<readonly ChildRow[]> = rows(sql, [JSON.stringify([found.id]), seq, fold(name), name]);
      const [[child]] = await this.#store.reader.read([read]);
      if (child === undefined) return undefined;
      found = { id: child.id, name, folder: found.path, path: joinPath(found.path, name) };
    }
    return found;
  }

  /** A page of a folder that was there. Folders come first; ties by id in the direction of the sort. */
  async list(moment: Moment, folder: PastFolder, query: PastListQuery): Promise<{ nodes: PastNode[]; total: number }> {
    const { accountId, seq, atMs } = moment;
    const { sort, order, offset, limit } = query;
    const kinds = query.kind === "file" ? [FILE] : query.kind === "folder" ? [FOLDER] : [FOLDER, FILE];
    const here = childrenSql(`n.kind IN (${kinds.join()})`, `p.kind IN (${kinds.join()})`);
    const way = order === "desc" ? "DESC" : "ASC";
    const name = sort === "name" ? `h.name ${way}, ` : "";
    const sql = `WITH here AS (${here}), page AS (SELECT h.id, h.kind, h.name, count(*) OVER () AS total FROM here h
        ORDER BY h.kind, ${SORT_KEYS_SQL[sort]} ${way}, ${name}h.id ${way} LIMIT ?5 OFFSET ?6)
      SELECT h.id, h.kind, h.name, h.total, ${CREATED_SQL} AS created, ${MODIFIED_THEN_SQL} AS modified FROM page h`;
    const scope = [JSON.stringify([folder.id]), seq, atMs, accountId] as const;
    const [page] = await this.#store.reader.read([rows<ListedRow>(sql, [...scope, limit, offset])]);
    const total = page[0]?.total ?? (offset === 0 ? 0 : await this.#countChildren(folder.id, seq, here));
    const counts = await this.#countItems(moment, page);
    const nodes = page.flatMap((row) => this.#describe(moment, folder, row, counts.get(row.id) ?? 0) ?? []);
    return { nodes, total };
  }

  /** A file as it was; undefined where there was none of this id, or where its folder was deleted for good since. */
  findFile(moment: Moment, publicId: string): PastNode | undefined {
    const { accountId, seq, atMs } = moment;
    const id = this.#ofPublicId.get(publicId, accountId)?.id;
    if (id === undefined || this.#isLiving.get(id)?.isAvailable !== 1) return undefined;
    const place = this.#placeAt(moment, id);
    if (place === undefined) return undefined;
    const path = this.#pathAt(moment, place.parentId);
    const times = this.#times.get(id, seq, atMs, accountId, FILE);
    if (path === undefined || times === null) return undefined;
    const row = { id, kind: FILE, name: place.name, total: 1, ...times };
    const described = this.#describe(moment, { id: place.parentId, path }, row, 0);
    return described?.node.kind === "file" ? described : undefined;
  }

  /**
   * What a folder and all below it held at a moment, as far as it is other now.
   * @param changesMax no more than these are told; a few more may be, of one slice
   */
  async contents(moment: Moment, folder: PastFolder, changesMax: number): Promise<PastContents> {
    const { accountId, seq, atMs } = moment;
    const changed: PastEntry[] = [];
    const folderIds = [folder.id];
    const present = new Map<number, number>();
    this.#noteSuccessor(accountId, folder.id, present);
    const steps = new Steps(STEP_MS);
    for (let from = 0; from < folderIds.length && changed.length <= changesMax; ) {
      const some = folderIds.slice(from, from + FOLDERS_AT_ONCE);
      from += some.length;
      const read: Read<readonly ChangedRow[]> = rows(CHANGED_CHILDREN_SQL, [JSON.stringify(some), seq, atMs]);
      const [found] = await this.#store.reader.read([read]);
      for (const { parent_id: parentId, id, kind, name, isBack, isGone } of found) {
        const entry = { id, isFolder: kind === FOLDER, parentId, name };
        if (entry.isFolder) folderIds.push(id);
        if (isBack === 0 && !(isGone === 1 && this.#isMadeAgain(moment, entry, present))) changed.push(entry);
        await steps.next();
      }
    }
    const isWhole = changed.length <= changesMax;
    const made = new Set(present.values());
    const newIds = isWhole
      ? await this.#newIn(
          moment,
          folderIds.map((id) => present.get(id) ?? id),
        )
      : [];
    return { changed: changed.slice(0, changesMax), isWhole, present, newIds: newIds.filter((id) => !made.has(id)) };
  }

  /** The version that a file had at a moment, and whether that is so for sure; undefined where it is not kept. */
  versionAt({ atMs }: Moment, file: FileNode): number | undefined {
    if (file.contentAtMs <= atMs) return file.version;
    const found = this.#versionAt.get(file.id, atMs)?.version;
    if (found !== undefined) return found;
    const after = this.#versionAfter.get(file.id, atMs)?.version ?? file.version;
    // A file that was there had its first content, whatever a clock that was set back says.
    return after === 1 ? 1 : undefined;
  }

  /** The content that a file which a device deleted had at a moment. */
  contentAt({ atMs }: Moment, contents: readonly FormerContent[]): FormerContent | undefined {
    const found = contents.find(({ createdAtMs }) => createdAtMs <= atMs);
    const oldest = contents.at(-1);
    return found ?? (oldest?.version === 1 ? oldest : undefined);
  }

  /** What a device deleted and nobody made again; undefined for all else. */
  findDeleted(accountId: number, nodeId: number): DeletedByDevice | undefined {
    const row = this.#deleted.get(nodeId, accountId);
    return row === null ? undefined : { ...row, detail: parseDetail(row.before) };
  }

  /** The row id of the node that was made in place of one that a device deleted. */
  findSuccessor(accountId: number, nodeId: number): number | undefined {
    const row = this.#successor.get(nodeId, accountId);
    return row === null ? undefined : parseDetail(row.before).restored?.nodeId;
  }

  /** What has to come out of the trash so that a node does: itself, or a folder above it; undefined where it is not in it. */
  findInTrash(accountId: number, nodeId: number): { readonly id: number; readonly publicId: string } | undefined {
    return this.#topInTrash.get(nodeId, accountId) ?? undefined;
  }

  /** Whether anything in a folder, or below it, was made up to a moment. */
  holdsOlder({ seq }: Moment, folderId: number): boolean {
    return this.#older.get(folderId, seq) !== null;
  }

  /** The folder that held a folder at a moment, by its row id. */
  parentAt(moment: Moment, folderId: number): number | undefined {
    return this.#placeAt(moment, folderId)?.parentId;
  }

  /** @returns the node that was made in place of one that is gone */
  #noteSuccessor(accountId: number, nodeId: number, present: Map<number, number>): TreeNode | undefined {
    const id = this.findSuccessor(accountId, nodeId);
    const node = id === undefined ? undefined : this.#store.findById(id);
    if (node !== undefined) present.set(nodeId, node.id);
    return node;
  }

  /** Whether something that is gone was made again, and stands where it was; a file with the content of then. */
  #isMadeAgain(moment: Moment, { id, parentId, name }: PastEntry, present: Map<number, number>): boolean {
    const node = this.#noteSuccessor(moment.accountId, id, present);
    if (node === undefined || node.name !== name || node.parentId !== (present.get(parentId) ?? parentId)) return false;
    if (node.kind === "folder") return true;
    const contents = this.findDeleted(moment.accountId, id)?.detail.file?.contents ?? [];
    return this.contentAt(moment, contents)?.digest === node.digest;
  }

  async #countChildren(folderId: number, seq: number, here: string): Promise<number> {
    const read = rows<{ total: number }>(`SELECT count(*) AS total FROM (${here})`, [JSON.stringify([folderId]), seq]);
    const [[counted]] = await this.#store.reader.read([read]);
    return counted?.total ?? 0;
  }

  /** How many were in each of the folders of a page. */
  async #countItems({ seq }: Moment, page: readonly ListedRow[]): Promise<Map<number, number>> {
    const ids = page.filter(({ kind }) => kind === FOLDER).map(({ id }) => id);
    if (ids.length === 0) return new Map();
    const sql = `SELECT parent_id AS id, count(*) AS items
      FROM (${childrenSql("n.kind IN (0, 1)", "p.kind IN (0, 1)")}) GROUP BY parent_id`;
    const read = rows<{ id: number; items: number }>(sql, [JSON.stringify(ids), seq]);
    const [counts] = await this.#store.reader.read([read]);
    return new Map(counts.map(({ id, items }) => [id, items]));
  }

  async #newIn({ seq }: Moment, folderIds: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    for (let from = 0; from < folderIds.length; from += FOLDERS_AT_ONCE) {
      const read = numbers(
        `SELECT group_concat(n.id) FROM json_each(?1) j CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = j.value
         WHERE n.kind IN (0, 1) AND ${CREATED_SEQ_SQL} > ?2`,
        [JSON.stringify(folderIds.slice(from, from + FOLDERS_AT_ONCE)), seq],
      );
      const [some] = await this.#store.reader.read([read]);
      for (const id of some) found.push(id);
    }
    return found.sort((a, b) => a - b);
  }

  /** Where a node was; undefined where it was not there, or in the trash, or is unknown by now. */
  #placeAt({ accountId, seq }: Moment, nodeId: number): { parentId: number; name: string } | undefined {
    const row = this.#formerLocation.get(nodeId, seq, accountId) ?? this.#presentPlace.get(nodeId, accountId);
    if (row === null || row.bornSeq > seq || (row.parentId ?? IN_TRASH) <= IN_TRASH) return undefined;
    return { parentId: row.parentId ?? IN_TRASH, name: row.name };
  }

  /** Path of a folder at a moment; undefined where it does not lead to the root. */
  #pathAt(moment: Moment, folderId: number): string | undefined {
    const rootId = this.#store.paths.rootOf(moment.accountId);
    const names: string[] = [];
    for (let id = folderId; id !== rootId; ) {
      const place = this.#placeAt(moment, id);
      if (place === undefined) return undefined;
      names.push(place.name);
      id = place.parentId;
    }
    return names.reduceRight((path, name) => joinPath(path, name), ROOT_PATH);
  }

  #describe(
    moment: Moment,
    folder: Pick<PastFolder, "id" | "path">,
    found: ListedRow,
    itemCount: number,
  ): PastNode | undefined {
    const { id, kind, name, created: createdAtMs, modified: modifiedAtMs } = found;
    const row = this.#row.get(id);
    if (row === null) return this.#describeDeleted(moment, folder, found, itemCount);
    const isDeleted = row.parent_id === null || this.#store.paths.pathOf(row.parent_id) === undefined;
    const placed = { ...row, parent_id: folder.id, name, created_at: createdAtMs, modified_at: modifiedAtMs };
    if (kind === FOLDER) {
      const node = { ...toFolder(placed, folder.path), itemCount };
      return { node, isContentAvailable: true, isDeleted };
    }
    const file = { ...toFile(placed, folder.path), originalName: row.original_name ?? row.name };
    const version = this.versionAt(moment, file);
    const nearest = version ?? this.#versionAfter.get(id, moment.atMs)?.version ?? file.version;
    return {
      node: findVersion(this.#store, file, nearest) ?? file,
      isContentAvailable: version !== undefined,
      isDeleted,
    };
  }

  #describeDeleted(
    moment: Moment,
    folder: Pick<PastFolder, "id" | "path">,
    { id, kind, name, created: createdAtMs, modified: modifiedAtMs }: ListedRow,
    itemCount: number,
  ): PastNode | undefined {
    const { accountId, seq } = moment;
    const deleted = this.findDeleted(accountId, id);
    // Deleted for good by a person in this very moment.
    if (deleted === undefined) return undefined;
    const { publicId, detail } = deleted;
    const { tags = [], metadata = {} } = detail.labelsFrom ?? {};
    const place = {
      id,
      publicId,
      accountId,
      parentId: folder.id,
      name,
      folder: folder.path,
      createdAtMs,
      modifiedAtMs,
      seq,
    };
    if (kind === FOLDER) {
      const node = { ...place, kind: "folder" as const, path: joinPath(folder.path, name), itemCount, metadata };
      return { node, isContentAvailable: true, isDeleted: true };
    }
    const { file } = detail;
    invariant(file !== undefined, "a file that a device deleted is described");
    const content = this.contentAt(moment, file.contents);
    const nearest = content ?? file.contents.at(-1);
    if (nearest === undefined) return undefined;
    const { version, digest, sizeBytes, mediaType, createdAtMs: contentAtMs } = nearest;
    const node: FileNode = {
      ...place,
      kind: "file",
      contentAtMs,
      contentDeviceId: null,
      sizeBytes,
      mediaType,
      blobId: 0,
      digest,
      version,
      originalName: file.originalName ?? name,
      fileModifiedAt: file.fileModifiedAt,
      capturedAt: file.capturedAt,
      isPublic: false,
      tags,
      metadata,
    };
    const isContentAvailable = content !== undefined && this.#store.blobs.find(digest) !== undefined;
    return { node, isContentAvailable, isDeleted: true };
  }
}
