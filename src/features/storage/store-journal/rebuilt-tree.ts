/**
 * Rebuilds the trees of accounts from the records in the store journal. The database is new and nobody has opened it,
 * so rows are inserted in their final form, with the ids, times and names of the former database.
 */
import type { Database } from "bun:sqlite";
import { newId } from "../../../lib/id.ts";
import { fold } from "../../../lib/path.ts";
import { FILE, FOLDER } from "../../../tree/model/rows.ts";
import { AccountBuild } from "./account-build.ts";
import { toRow } from "./node-row.ts";
import { RebuiltRows, type RebuiltRowsOptions } from "./rebuilt-rows.ts";
import { fileTotals, folderTotals, readNumber, writeAccountTotals } from "./rebuilt-totals.ts";
import { type FileRecord, type FolderRecord, ROOT, type TrashRecord } from "./records.ts";
import type { StagedRecords } from "./staged-records.ts";

/** The folder, below the root, for nodes whose folder no record names. */
export const LOST_FOLDER = "lost+found";

/** The folder, below the root, for blobs that no record names. */
const RECOVERED_FOLDER = "recovered";

/** Counts of a rebuilt account. */
export interface RebuiltTree {
  /** Without nodes in the trash. */
  readonly files: number;
  readonly folders: number;
  readonly versions: number;
  readonly trashed: number;
  /** Links, drop boxes and shares with accounts. */
  readonly shares: number;
  /** Nodes in {@link LOST_FOLDER}. */
  readonly lost: number;
  /** Files in {@link RECOVERED_FOLDER}. */
  readonly recovered: number;
  /** Whether all records have the former locations of their nodes. */
  readonly hasHistory: boolean;
}

/** A node in the trash, whose row of `trash` is still to be inserted. */
interface TrashedNode {
  readonly id: number;
  readonly seq: number;
  readonly record: FileRecord | FolderRecord;
  readonly trash: TrashRecord;
}

type Value = string | number | null;

/** Rebuilds the trees of accounts in a new database, account by account. */
export class TreeBuilder {
  readonly #sqlite: Database;
  readonly #nowMs: number;
  readonly #rows: RebuiltRows;
  readonly #insertTrash;
  readonly #insertTombstone;

  constructor(sqlite: Database, options: RebuiltRowsOptions) {
    this.#sqlite = sqlite;
    this.#nowMs = options.nowMs;
    this.#rows = new RebuiltRows(sqlite, options);
    this.#insertTrash = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO trash (node_id, account_id, trashed_at, seq, parent_id, folder, files, folders, file_bytes, version_bytes,
         types, tags) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    );
    this.#insertTombstone = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO tombstones (account_id, seq, node_id, public_id, kind, created_seq, deleted_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?2, ?6)`,
    );
  }

  /**
   * Inserts all rows of an account whose row in `accounts` exists.
   * @param seq the journal continues after this number
   * @param findMore called once the recorded nodes are inserted; returns more files, for {@link RECOVERED_FOLDER}
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
    const build = new AccountBuild({ accountId, staged, seq: start, nowMs, base: this.#lastNodeId() });
    const { trashed, hasHistory } = this.#insertRecorded(build, staged);
    const rootId = build.rootId ?? this.#makeFolder(build, null, ROOT);
    const lost = this.#adoptOrphans(build, rootId);
    this.#deleteUnreachable(build, rootId);
    const recovered = await findMore();
    this.#addRecovered(build, rootId, recovered);
    this.#indexNames(build.base, rootId);
    this.#countChildren(build.base);
    for (const node of trashed) this.#addToTrash(build, node);
    this.#dropBackwardTimes(accountId, start);
    const counts = writeAccountTotals(this.#sqlite, build, rootId);
    const shares = readNumber(this.#sqlite, "SELECT count(*) AS value FROM shares WHERE account_id = ?1", accountId);
    return { ...counts, trashed: trashed.length, shares, lost, recovered: recovered.length, hasHistory };
  }

  #insertRecorded(build: AccountBuild, staged: StagedRecords): { trashed: TrashedNode[]; hasHistory: boolean } {
    const trashed: TrashedNode[] = [];
    let hasHistory = true;
    for (const { number, record } of staged.all()) {
      const id = build.base + number;
      const isRoot = "folder" in record && record.name === ROOT && record.trash === undefined;
      const parentId = isRoot ? null : this.#findParentId(build, id, record);
      if (parentId === undefined) continue;
      if (isRoot) {
        if (build.rootId !== undefined) continue;
        build.rootId = id;
      }
      if (record.born === undefined) hasHistory = false;
      const seq = ++build.seq;
      this.#rows.insert(build, { id, parentId, seq, record });
      if (record.trash !== undefined) trashed.push({ id, seq, record, trash: record.trash });
    }
    return { trashed, hasHistory };
  }

  /** @returns undefined for a node that was deleted with its folder; null for one that {@link #adoptOrphans} moves */
  #findParentId(build: AccountBuild, id: number, record: FileRecord | FolderRecord): number | null | undefined {
    if (record.trash !== undefined) return -id;
    const folder = record.in === undefined ? undefined : build.findFolder(record.in);
    if (folder === undefined) return null;
    return folder.isGone ? undefined : build.base + folder.number;
  }

  /** Moves nodes whose folder no record names into {@link LOST_FOLDER}, with everything in them. @returns how many */
  #adoptOrphans(build: AccountBuild, rootId: number): number {
    const orphans = this.#sqlite
      .query<{ id: number; name: string }, [number, number]>(
        "SELECT id, name FROM nodes WHERE account_id = ?1 AND parent_id IS NULL AND id <> ?2",
      )
      .all(build.accountId, rootId);
    if (orphans.length === 0) return 0;
    const lostFolderId = this.#makeFolder(build, rootId, LOST_FOLDER);
    const move = this.#sqlite.query<undefined, [number, number, string, string]>(
      "UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4 WHERE id = ?1",
    );
    for (const { id, name } of orphans) {
      const free = this.#rows.freeName(lostFolderId, name === ROOT ? LOST_FOLDER : name);
      move.run(id, lostFolderId, free, fold(free));
    }
    return orphans.length;
  }

  #addRecovered(build: AccountBuild, rootId: number, records: readonly FileRecord[]): void {
    if (records.length === 0) return;
    const parentId = this.#makeFolder(build, rootId, RECOVERED_FOLDER);
    for (const record of records) {
      this.#rows.insert(build, { id: this.#lastNodeId() + 1, parentId, seq: ++build.seq, record });
    }
  }

  #makeFolder(build: AccountBuild, parentId: number | null, name: string): number {
    const nowMs = this.#nowMs;
    const id = this.#lastNodeId() + 1;
    const record = { folder: newId("fold", nowMs), name, created: nowMs, modified: nowMs };
    this.#rows.insert(build, { id, parentId, seq: ++build.seq, record });
    return id;
  }

  /**
   * Deletes nodes that are more than one level below a deleted folder: {@link #findParentId} finds only those directly in
   * it. Reads only the nodes of this build, which have the highest ids.
   */
  #deleteUnreachable({ accountId, base }: AccountBuild, rootId: number): void {
    const reachable = `WITH RECURSIVE s(id) AS (SELECT ?2
      UNION ALL SELECT id FROM nodes WHERE id > ?3 AND account_id = ?1 AND parent_id = -id
      UNION ALL SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FOLDER})`;
    const unreachable = this.#sqlite
      .query<{ id: number; blobId: number | null; tags: string | null }, [number, number, number]>(
        `${reachable} SELECT id, blob_id AS blobId, tags FROM nodes
         WHERE id > ?3 AND account_id = ?1 AND id <> ?2 AND parent_id <> -id AND parent_id NOT IN (SELECT id FROM s)`,
      )
      .all(accountId, rootId, base);
    for (const node of unreachable) this.#rows.delete(accountId, node);
  }

  /** All in one statement: the name index writes out its buffer whenever other tables are written in between. */
  #indexNames(afterId: number, rootId: number): void {
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

  #addToTrash(build: AccountBuild, { id, seq, record, trash }: TrashedNode): void {
    const { accountId } = build;
    const totals = "file" in record ? fileTotals(this.#sqlite, id, record) : folderTotals(this.#sqlite, id);
    this.#insertTrash.run(
      id,
      accountId,
      trash.at,
      seq,
      this.#existingFolder(build.folderId(trash.in), accountId),
      trash.path,
      totals.files,
      totals.folders,
      totals.fileBytes,
      totals.versionBytes,
      toJson(totals.types),
      toJson(totals.tags),
    );
    const { publicId, kind } = toRow(record);
    this.#insertTombstone.run(accountId, seq, id, publicId, kind, trash.at);
  }

  /** The journal's times never go back from one number to the next: deletes entries that contradict that. */
  #dropBackwardTimes(accountId: number, lastSeq: number): void {
    this.#sqlite.run(
      `DELETE FROM journal WHERE account_id = ?1 AND seq <= ?2 AND seq IN (
         SELECT seq FROM (SELECT seq, at, max(at) OVER (ORDER BY seq) AS latest FROM journal WHERE account_id = ?1 AND seq <= ?2)
         WHERE at < latest)`,
      [accountId, lastSeq],
    );
  }

  /** The id of a folder, or 0 if the account has no such node. */
  #existingFolder(id: number | undefined, accountId: number): number {
    if (id === undefined) return 0;
    const sql = "SELECT id FROM nodes WHERE id = ?1 AND account_id = ?2";
    return this.#sqlite.query<{ id: number }, [number, number]>(sql).get(id, accountId)?.id ?? 0;
  }

  #lastNodeId(): number {
    return this.#sqlite.query<{ id: number }, []>("SELECT ifnull(max(id), 0) AS id FROM nodes").get()?.id ?? 0;
  }
}

function toJson(totals: object): string | null {
  return Object.keys(totals).length === 0 ? null : JSON.stringify(totals);
}
