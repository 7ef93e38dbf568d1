/**
 * The rows of an account, made from what the objects tell. Nothing is there beside it: a new database, which nobody has
 * opened, so rows are written as they are to be, with ids, times and names of before.
 */
import type { Database } from "bun:sqlite";
import { toDigest } from "../../../blobs/digest.ts";
import { newId } from "../../../lib/id.ts";
import { fold } from "../../../lib/path.ts";
import { usageType } from "../../../tree/tables/accounts.ts";
import { backfillHeights } from "../../../tree/tables/heights.ts";
import { BlobRows } from "../../../tree/tables/blob-rows.ts";
import { IN_TRASH } from "../../../tree/tables/history.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import { FILE, FOLDER, metadataToJson, parseTags, tagsToJson } from "../../../tree/model/rows.ts";
import { Tags } from "../../../tree/tables/tags.ts";
import {
  type ContentRecord,
  type FileRecord,
  type FolderRecord,
  ROOT,
  type ShareRecord,
  type TrashRecord,
} from "./records.ts";
import { ShareRecords } from "./share-rows.ts";
import type { StagedRecords } from "./staged-records.ts";

/** The folder, below the root, for what was in a folder that nothing is known of. */
export const LOST_FOLDER = "lost+found";

/** The folder, below the root, for contents that no file names any more. */
export const RECOVERED_FOLDER = "recovered";

/** What became of an account's tree. */
export interface RebuiltTree {
  /** Without what is in the trash. */
  readonly files: number;
  readonly folders: number;
  readonly versions: number;
  readonly trashed: number;
  /** Links, drop boxes and shares with accounts. */
  readonly shares: number;
  /** Put into {@link LOST_FOLDER}. */
  readonly lost: number;
  /** Put into {@link RECOVERED_FOLDER}. */
  readonly recovered: number;
  /** Whether all its records tell what was where before. */
  readonly hasHistory: boolean;
}

/** What {@link TreeBuilder} works with. */
export interface TreeBuilderOptions {
  readonly nowMs: number;
  /** The row id of an account; null for one that is gone. */
  readonly userIdOf: (publicId: string) => number | null;
  /** Whether a share was ended after a record of it was written. */
  readonly isEnded: (shareId: string) => boolean;
}

type Value = string | number | null | Uint8Array;

const SUBTREE = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
  SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FOLDER})`;
const FILES_BELOW = `FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FILE}`;

/** Makes the trees of accounts in one new database, account by account. */
export class TreeBuilder {
  readonly #sqlite: Database;
  readonly #nowMs: number;
  readonly #blobs: BlobRows;
  readonly #tags: Tags;
  readonly #userIdOf: (publicId: string) => number | null;
  readonly #insert;
  readonly #insertFolder;
  readonly #insertVersion;
  readonly #insertJournal;
  readonly #insertTrash;
  readonly #insertTombstone;
  readonly #shares: ShareRecords;
  readonly #insertPlace;
  readonly #isEnded: (shareId: string) => boolean;
  readonly #isTaken;

  constructor(sqlite: Database, options: TreeBuilderOptions) {
    this.#sqlite = sqlite;
    this.#nowMs = options.nowMs;
    this.#userIdOf = options.userIdOf;
    this.#isEnded = options.isEnded;
    this.#blobs = new BlobRows(sqlite);
    this.#tags = new Tags(sqlite);
    this.#insert = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
         size_bytes, media_type, blob_id, version, content_at, content_by, original_name, file_modified_at, captured_at,
         is_public, tags, metadata)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?23, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)`,
    );
    this.#insertFolder = sqlite.prepare<undefined, [number, number]>(
      "INSERT INTO folders (node_id, path_seq) VALUES (?1, ?2)",
    );
    this.#insertVersion = sqlite.prepare<undefined, Value[]>(
      `INSERT OR IGNORE INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by, replaced_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    );
    this.#insertJournal = sqlite.prepare<undefined, [number, number, number, number]>(
      "INSERT OR IGNORE INTO journal (account_id, seq, node_id, at) VALUES (?1, ?2, ?3, ?4)",
    );
    this.#insertTrash = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO trash (node_id, account_id, trashed_at, seq, parent_id, folder, files, folders, file_bytes, version_bytes,
         types, tags) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    );
    this.#insertTombstone = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO tombstones (account_id, seq, node_id, public_id, kind, created_seq, deleted_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?2, ?6)`,
    );
    this.#shares = new ShareRecords(sqlite);
    this.#insertPlace = sqlite.prepare<undefined, Value[]>(
      `INSERT OR IGNORE INTO former_places (node_id, seq, account_id, at, parent_id, kind, name, sort_key, born_seq)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    );
    this.#isTaken = sqlite.prepare<{ one: 1 }, [number, string, string]>(
      `SELECT 1 AS one FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind IN (${FOLDER}, ${FILE})
         AND sort_key = ?2 AND name = ?3`,
    );
  }

  /**
   * Makes all rows of an account whose own row is there.
   * @param seq the journal goes on behind this number
   * @param findMore asked once all of its own are there: further files for it, which go into {@link RECOVERED_FOLDER}
   */
  async build(
    accountId: number,
    staged: StagedRecords,
    seq: number,
    findMore: () => Promise<readonly FileRecord[]> = async () => [],
  ): Promise<RebuiltTree> {
    const { last } = staged;
    const nowMs = Math.max(this.#nowMs, last.atMs);
    const start = Math.max(seq, last.seq);
    const building = new Building({ accountId, staged, seq: start, nowMs, base: this.#lastNodeId() });
    let hasHistory = true;
    const trashed: { id: number; record: FileRecord | FolderRecord; trash: TrashRecord; seq: number }[] = [];
    for (const { number, record } of staged.all()) {
      const id = building.base + number;
      const isRoot = "folder" in record && record.name === ROOT && record.trash === undefined;
      const parentId = isRoot ? null : this.#parentOf(building, id, record);
      if (parentId === undefined) continue;
      if (isRoot) {
        if (building.rootId !== undefined) continue;
        building.rootId = id;
      }
      if (record.born === undefined) hasHistory = false;
      const own = ++building.seq;
      this.#insertNode(building, { id, parentId, seq: own, record });
      if (record.trash !== undefined) trashed.push({ id, record, trash: record.trash, seq: own });
    }
    const rootId = building.rootId ?? this.#makeFolder(building, null, ROOT);
    const lost = this.#adoptOrphans(building, rootId);
    this.#dropUnreachable(accountId, rootId);
    const recovered = await findMore();
    this.#addRecovered(building, rootId, recovered);
    this.#nameAll(building.base, rootId);
    this.#countChildren(building.base);
    for (const { id, record, trash, seq: at } of trashed) this.#describeTrash(building, id, record, trash, at);
    this.#dropBackwardTimes(accountId, start);
    const sums = this.#sum(building, rootId);
    const shares = this.#one("SELECT count(*) AS value FROM shares WHERE account_id = ?1", accountId);
    return { ...sums, trashed: trashed.length, shares, lost, recovered: recovered.length, hasHistory };
  }

  /** @returns undefined for what went with its folder; null is said of roots alone, and of what is to be sheltered */
  #parentOf(building: Building, id: number, record: FileRecord | FolderRecord): number | null | undefined {
    if (record.trash !== undefined) return -id;
    const found = record.in === undefined ? undefined : building.find(record.in);
    if (found === undefined) return null;
    return found.isGone ? undefined : building.base + found.number;
  }

  #insertNode(
    building: Building,
    node: {
      readonly id: number;
      readonly parentId: number | null;
      readonly seq: number;
      readonly record: FileRecord | FolderRecord;
    },
  ): void {
    const { id, parentId, seq, record } = node;
    const { accountId } = building;
    const content = "file" in record ? record.content : undefined;
    const name = parentId === null || parentId < 0 ? record.name : this.#freeName(parentId, record.name);
    const sortKey = fold(name);
    this.#insert.run(
      id,
      "file" in record ? record.file : record.folder,
      accountId,
      parentId,
      content === undefined ? FOLDER : FILE,
      name,
      sortKey,
      record.created,
      record.modified,
      seq,
      content?.size ?? 0,
      content?.type ?? null,
      content === undefined ? null : this.#blobOf(content),
      content?.version ?? null,
      content?.at ?? null,
      content?.by === undefined ? null : this.#userIdOf(content.by),
      "file" in record ? (record.originalName ?? null) : null,
      "file" in record ? (record.fileModifiedAt ?? null) : null,
      "file" in record ? (record.capturedAt ?? null) : null,
      // Public is what has its link.
      "file" in record && record.isPublic === true && record.shares?.some(({ kind }) => kind === "public") === true
        ? 1
        : 0,
      "file" in record ? tagsToJson(record.tags ?? []) : null,
      metadataToJson(record.metadata ?? {}),
      record.born ?? seq,
    );
    this.#insertJournal.run(accountId, seq, id, building.nowMs);
    this.#addPast(building, id, record);
    if (content === undefined) this.#insertFolder.run(id, seq);
    for (const share of record.shares ?? []) this.#addShare(accountId, id, share);
    if (!("file" in record)) return;
    this.#tags.add(accountId, id, record.tags ?? []);
    for (const version of record.versions ?? []) this.#addVersion(id, version);
  }

  /** Where it was made and where it was before, each with its number and time in the journal of the former database. */
  #addPast(building: Building, id: number, record: FileRecord | FolderRecord): void {
    const { accountId } = building;
    const { born, bornAt = record.created, places = [] } = record;
    if (born === undefined) return;
    if (born > 0 && bornAt > 0) this.#insertJournal.run(accountId, born, id, bornAt);
    for (const { seq, at, name, in: folder } of places) {
      const found = folder === undefined ? undefined : building.find(folder);
      // A folder that is gone is nowhere in the past either, and nor is what was in it.
      const parentId = found === undefined || found.isGone ? IN_TRASH : building.base + found.number;
      const kind = "file" in record ? FILE : FOLDER;
      this.#insertPlace.run(id, seq, accountId, at, parentId, kind, name, fold(name), born);
      this.#insertJournal.run(accountId, seq, id, at);
    }
  }

  /** The time of an account never goes back from one number to the next: what says otherwise is left out. */
  #dropBackwardTimes(accountId: number, lastSeq: number): void {
    this.#sqlite.run(
      `DELETE FROM journal WHERE account_id = ?1 AND seq <= ?2 AND seq IN (
         SELECT seq FROM (SELECT seq, at, max(at) OVER (ORDER BY seq) AS latest FROM journal WHERE account_id = ?1 AND seq <= ?2)
         WHERE at < latest)`,
      [accountId, lastSeq],
    );
  }

  /** One for an account that is there no more stays away, and so does one that was ended. */
  #addShare(accountId: number, nodeId: number, share: ShareRecord): void {
    const recipientId = share.recipient === undefined ? null : this.#userIdOf(share.recipient);
    if ((share.recipient !== undefined && recipientId === null) || this.#isEnded(share.id)) return;
    this.#shares.insert(accountId, nodeId, share, recipientId);
  }

  #addVersion(nodeId: number, version: ContentRecord): void {
    const by = version.by === undefined ? null : this.#userIdOf(version.by);
    const { version: number, size, type, at, until = at } = version;
    this.#insertVersion.run(nodeId, number, this.#blobOf(version), size, type, at, by, until);
  }

  #blobOf({ sha256, size, crc32 }: ContentRecord): number {
    return this.#blobs.acquire({ digest: toDigest(sha256), sizeBytes: size, crc32 }, this.#nowMs);
  }

  #freeName(parentId: number, wanted: string): string {
    let name = wanted;
    for (let number = 1; this.#isTaken.get(parentId, fold(name), name) !== null; number++) {
      name = numberedName(wanted, number);
    }
    return name;
  }

  /** What was in a folder that no object tells of is put into a folder of its own, with all below it. @returns how many */
  #adoptOrphans(building: Building, rootId: number): number {
    const lost = this.#sqlite
      .query<{ id: number; name: string }, [number, number]>(
        "SELECT id, name FROM nodes WHERE account_id = ?1 AND parent_id IS NULL AND id <> ?2",
      )
      .all(building.accountId, rootId);
    if (lost.length === 0) return 0;
    const lostFolderId = this.#makeFolder(building, rootId, LOST_FOLDER);
    const move = this.#sqlite.query<undefined, [number, number, string, string]>(
      "UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4 WHERE id = ?1",
    );
    for (const { id, name } of lost) {
      const free = this.#freeName(lostFolderId, name === ROOT ? LOST_FOLDER : name);
      move.run(id, lostFolderId, free, fold(free));
    }
    return lost.length;
  }

  #addRecovered(building: Building, rootId: number, records: readonly FileRecord[]): void {
    if (records.length === 0) return;
    const parentId = this.#makeFolder(building, rootId, RECOVERED_FOLDER);
    for (const record of records) {
      this.#insertNode(building, { id: this.#lastNodeId() + 1, parentId, seq: ++building.seq, record });
    }
  }

  #makeFolder(building: Building, parentId: number | null, name: string): number {
    const nowMs = this.#nowMs;
    const id = this.#lastNodeId() + 1;
    const record = { folder: newId("fold", nowMs), name, created: nowMs, modified: nowMs };
    this.#insertNode(building, { id, parentId, seq: ++building.seq, record });
    return id;
  }

  /** What lies below a folder that is gone, more than one step down. */
  #dropUnreachable(accountId: number, rootId: number): void {
    const sqlite = this.#sqlite;
    const reachable = `WITH RECURSIVE s(id) AS (SELECT ?2 UNION ALL SELECT id FROM nodes WHERE account_id = ?1 AND parent_id = -id
      UNION ALL SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FOLDER})`;
    const gone = sqlite
      .query<{ id: number; blobId: number | null; tags: string | null }, [number, number]>(
        `${reachable} SELECT id, blob_id AS blobId, tags FROM nodes
         WHERE account_id = ?1 AND id <> ?2 AND parent_id <> -id AND parent_id NOT IN (SELECT id FROM s)`,
      )
      .all(accountId, rootId);
    for (const { id, blobId, tags } of gone) {
      const versions = sqlite.query<{ blobId: number }, [number]>(
        "SELECT blob_id AS blobId FROM versions WHERE node_id = ?1",
      );
      for (const version of versions.all(id)) this.#blobs.release(version.blobId, this.#nowMs);
      if (blobId !== null) this.#blobs.release(blobId, this.#nowMs);
      this.#tags.remove(accountId, id, parseTags(tags));
      sqlite.run("DELETE FROM versions WHERE node_id = ?1", [id]);
      sqlite.run("DELETE FROM shares WHERE node_id = ?1", [id]);
      sqlite.run("DELETE FROM former_places WHERE node_id = ?1", [id]);
      sqlite.run("DELETE FROM journal WHERE account_id = ?1 AND node_id = ?2", [accountId, id]);
      sqlite.run("DELETE FROM folders WHERE node_id = ?1", [id]);
      sqlite.run("DELETE FROM nodes WHERE id = ?1", [id]);
    }
  }

  /** All at once: the index of names writes out what it has gathered whenever other tables are written in between. */
  #nameAll(afterId: number, rootId: number): void {
    this.#sqlite.run(
      "INSERT INTO node_names (rowid, t) SELECT id, sort_key FROM nodes WHERE id > ?1 AND id <> ?2 ORDER BY id",
      [afterId, rootId],
    );
  }

  #countChildren(afterId: number): void {
    this.#sqlite.run(
      `UPDATE folders SET
         child_folders = (SELECT count(*) FROM nodes INDEXED BY nodes_name WHERE parent_id = node_id AND kind = ${FOLDER}),
         child_files = (SELECT count(*) FROM nodes INDEXED BY nodes_size WHERE parent_id = node_id AND kind = ${FILE})
       WHERE node_id > ?1`,
      [afterId],
    );
  }

  #describeTrash(
    building: Building,
    id: number,
    record: FileRecord | FolderRecord,
    trash: TrashRecord,
    seq: number,
  ): void {
    const from = trash.in === undefined ? undefined : building.find(trash.in);
    const parentId =
      from === undefined || from.isGone ? 0 : this.#there(building.base + from.number, building.accountId);
    const sums = "file" in record ? this.#sumsOfFile(id, record) : this.#sumsBelow(id);
    this.#insertTrash.run(
      id,
      building.accountId,
      trash.at,
      seq,
      parentId,
      trash.path,
      sums.files,
      sums.folders,
      sums.fileBytes,
      sums.versionBytes,
      toJson(sums.types),
      toJson(sums.tags),
    );
    const kind = "file" in record ? FILE : FOLDER;
    const publicId = "file" in record ? record.file : record.folder;
    this.#insertTombstone.run(building.accountId, seq, id, publicId, kind, trash.at);
  }

  /** The id, where the account has such a node; else 0. */
  #there(id: number, accountId: number): number {
    const sql = "SELECT id FROM nodes WHERE id = ?1 AND account_id = ?2";
    return this.#sqlite.query<{ id: number }, [number, number]>(sql).get(id, accountId)?.id ?? 0;
  }

  #sumsOfFile(id: number, { content, tags = [] }: FileRecord) {
    return {
      files: 1,
      folders: 0,
      fileBytes: content.size,
      versionBytes: this.#one("SELECT ifnull(sum(size_bytes), 0) AS value FROM versions WHERE node_id = ?1", id),
      types: { [usageType(content.type)]: [1, content.size] },
      tags: Object.fromEntries(tags.map((tag) => [fold(tag), 1])),
    };
  }

  #sumsBelow(id: number) {
    const rows = this.#sqlite
      .query<{ type: string; bytes: number; tags: string | null }, [number]>(
        `${SUBTREE} SELECT n.media_type AS type, n.size_bytes AS bytes, n.tags ${FILES_BELOW}`,
      )
      .all(id);
    const types: Record<string, [number, number]> = {};
    const tags: Record<string, number> = {};
    for (const row of rows) {
      const sum = (types[usageType(row.type)] ??= [0, 0]);
      sum[0]++;
      sum[1] += row.bytes;
      for (const tag of parseTags(row.tags)) tags[fold(tag)] = (tags[fold(tag)] ?? 0) + 1;
    }
    return {
      files: rows.length,
      folders: this.#one(`${SUBTREE} SELECT count(*) AS value FROM s`, id),
      fileBytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      versionBytes: this.#one(
        `${SUBTREE} SELECT ifnull(sum(v.size_bytes), 0) AS value ${FILES_BELOW} CROSS JOIN versions v ON v.node_id = n.id`,
        id,
      ),
      types,
      tags,
    };
  }

  /** Writes the account's sums. What is in the trash counts for media types and labels, as it does while it is there. */
  #sum({ accountId, seq, nowMs }: Building, rootId: number): Pick<RebuiltTree, "files" | "folders" | "versions"> {
    const sqlite = this.#sqlite;
    const files = this.#one(`${SUBTREE} SELECT count(*) AS value ${FILES_BELOW}`, rootId);
    const folders = this.#one(`${SUBTREE} SELECT count(*) - 1 AS value FROM s`, rootId);
    const fileBytes = this.#one(`${SUBTREE} SELECT ifnull(sum(n.size_bytes), 0) AS value ${FILES_BELOW}`, rootId);
    const versions = `${SUBTREE} SELECT %s AS value ${FILES_BELOW} CROSS JOIN versions v ON v.node_id = n.id`;
    const versionBytes = this.#one(versions.replace("%s", "ifnull(sum(v.size_bytes), 0)"), rootId);
    const trashBytes = this.#one(
      "SELECT ifnull(sum(file_bytes + version_bytes), 0) AS value FROM trash WHERE account_id = ?1",
      accountId,
    );
    sqlite
      .query<undefined, number[]>(
        `UPDATE accounts SET root_id = ?2, seq = ?3, files = ?4, folders = ?5, file_bytes = ?6, version_bytes = ?7,
           trash_bytes = ?8, changed_at = ?9,
           trash_nodes = (SELECT ifnull(sum(files + folders), 0) FROM trash WHERE account_id = ?1) WHERE id = ?1`,
      )
      .run(accountId, rootId, seq, files, folders, fileBytes, versionBytes, trashBytes, nowMs);
    backfillHeights(sqlite, accountId);
    const types = sqlite
      .query<{ type: string; files: number; bytes: number }, [number]>(
        `SELECT media_type AS type, count(*) AS files, sum(size_bytes) AS bytes FROM nodes
         WHERE account_id = ?1 AND kind = ${FILE} GROUP BY 1`,
      )
      .all(accountId);
    const addType = sqlite.query<undefined, [number, string, number, number]>(
      `INSERT INTO usage_types (account_id, type, files, bytes) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET files = files + excluded.files, bytes = bytes + excluded.bytes`,
    );
    for (const { type, files: count, bytes } of types) addType.run(accountId, usageType(type), count, bytes);
    return { files, folders, versions: this.#one(versions.replace("%s", "count(*)"), rootId) };
  }

  #one(sql: string, parameter: number): number {
    return this.#sqlite.query<{ value: number }, [number]>(sql).get(parameter)?.value ?? 0;
  }

  #lastNodeId(): number {
    return this.#sqlite.query<{ id: number }, []>("SELECT ifnull(max(id), 0) AS id FROM nodes").get()?.id ?? 0;
  }
}

/** One account while it is made. */
class Building {
  readonly accountId: number;
  /** A node's id is this and the number of its line. */
  readonly base: number;
  /** The time of what is made here, by the account's own clock, which never goes back. */
  readonly nowMs: number;
  rootId: number | undefined;
  seq: number;
  readonly #staged: StagedRecords;
  readonly #found = new Map<string, ReturnType<StagedRecords["find"]>>();

  constructor(options: {
    readonly accountId: number;
    readonly staged: StagedRecords;
    readonly seq: number;
    readonly nowMs: number;
    readonly base: number;
  }) {
    this.accountId = options.accountId;
    this.base = options.base;
    this.nowMs = options.nowMs;
    this.seq = options.seq;
    this.#staged = options.staged;
  }

  /** A folder by its public id. */
  find(publicId: string): ReturnType<StagedRecords["find"]> {
    if (this.#found.has(publicId)) return this.#found.get(publicId);
    const found = this.#staged.find(publicId);
    this.#found.set(publicId, found);
    return found;
  }
}

function toJson(sums: object): string | null {
  return Object.keys(sums).length === 0 ? null : JSON.stringify(sums);
}
