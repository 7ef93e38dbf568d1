import type { Database } from "bun:sqlite";
import { toDigest } from "../../../blobs/digest.ts";
import { fold } from "../../../lib/path.ts";
import { FILE, FOLDER, parseTags } from "../../../tree/model/rows.ts";
import { BlobRows } from "../../../tree/tables/blob-rows.ts";
import { IN_TRASH } from "../../../tree/tables/history.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import { Tags } from "../../../tree/tables/tags.ts";
import type { AccountBuild } from "./account-build.ts";
import { toRow } from "./node-row.ts";
import type { ContentRecord, FileRecord, FolderRecord, ShareRecord } from "./records.ts";
import { ShareRecords } from "./share-rows.ts";

/** Dependencies of {@link RebuiltRows}. */
export interface RebuiltRowsOptions {
  readonly nowMs: number;
  /** The row id of an account; null for one that was erased. */
  readonly userIdOf: (publicId: string) => number | null;
  /** Whether a share ended after a record of it was written. */
  readonly isEnded: (shareId: string) => boolean;
}

/** A node that gets its rows. */
interface NewNode {
  readonly id: number;
  /** Null for a root, and for a node whose folder no record names; the negated id in the trash. */
  readonly parentId: number | null;
  readonly seq: number;
  readonly record: FileRecord | FolderRecord;
}

type Value = string | number | null | Uint8Array;

/** Inserts and deletes all rows of a node: its own and those of its versions, shares, tags and former locations. */
export class RebuiltRows {
  readonly #sqlite: Database;
  readonly #options: RebuiltRowsOptions;
  readonly #blobs: BlobRows;
  readonly #tags: Tags;
  readonly #shares: ShareRecords;
  readonly #insertNode;
  readonly #insertFolder;
  readonly #insertVersion;
  readonly #insertJournal;
  readonly #insertLocation;
  readonly #isTaken;

  constructor(sqlite: Database, options: RebuiltRowsOptions) {
    this.#sqlite = sqlite;
    this.#options = options;
    this.#blobs = new BlobRows(sqlite);
    this.#tags = new Tags(sqlite);
    this.#shares = new ShareRecords(sqlite);
    this.#insertNode = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
         size_bytes, media_type, blob_id, version, content_at, content_by, original_name, file_modified_at, captured_at,
         is_public, tags, metadata, file_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)`,
    );
    // Without a size: the server adds the sizes up in the background.
    this.#insertFolder = sqlite.prepare<undefined, [number, number, number]>(
      "INSERT INTO folders (node_id, path_seq, tree_rev) VALUES (?1, ?2, ?3)",
    );
    this.#insertVersion = sqlite.prepare<undefined, Value[]>(
      `INSERT OR IGNORE INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by, replaced_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    );
    this.#insertJournal = sqlite.prepare<undefined, [number, number, number, number]>(
      "INSERT OR IGNORE INTO journal (account_id, seq, node_id, at) VALUES (?1, ?2, ?3, ?4)",
    );
    this.#insertLocation = sqlite.prepare<undefined, Value[]>(
      `INSERT OR IGNORE INTO former_places (node_id, seq, account_id, at, parent_id, kind, name, sort_key, born_seq)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    );
    this.#isTaken = sqlite.prepare<{ one: 1 }, [number, string, string]>(
      `SELECT 1 AS one FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind IN (${FOLDER}, ${FILE})
         AND sort_key = ?2 AND name = ?3`,
    );
  }

  /** Inserts a node. Its name gets a number if the folder has that name already. */
  insert(build: AccountBuild, { id, parentId, seq, record }: NewNode): void {
    const { accountId } = build;
    const row = toRow(record);
    const content = "file" in record ? record.content : undefined;
    const name = parentId === null || parentId < 0 ? record.name : this.freeName(parentId, record.name);
    this.#insertNode.run(
      id,
      row.publicId,
      accountId,
      parentId,
      row.kind,
      name,
      fold(name),
      row.createdAt,
      row.modifiedAt,
      seq,
      record.born ?? seq,
      row.sizeBytes,
      row.mediaType,
      content === undefined ? null : this.#findOrAddBlob(content),
      row.version,
      row.contentAt,
      this.#userIdOf(content?.by),
      row.originalName,
      row.fileModifiedAt,
      row.capturedAt,
      row.isPublic,
      row.tags,
      row.metadata,
      row.fileAt,
    );
    this.#insertJournal.run(accountId, seq, id, build.nowMs);
    this.#insertPast(build, id, record);
    for (const share of record.shares ?? []) this.#addShare(accountId, id, share);
    if ("file" in record) this.#addToFile(accountId, id, record);
    else this.#insertFolder.run(id, seq, build.nowMs);
  }

  /** Deletes all rows of a node that has no children. */
  delete(accountId: number, { id, blobId, tags }: { id: number; blobId: number | null; tags: string | null }): void {
    const sqlite = this.#sqlite;
    const { nowMs } = this.#options;
    const versions = sqlite.query<{ blobId: number }, [number]>(
      "SELECT blob_id AS blobId FROM versions WHERE node_id = ?1",
    );
    for (const version of versions.all(id)) this.#blobs.release(version.blobId, nowMs);
    if (blobId !== null) this.#blobs.release(blobId, nowMs);
    this.#tags.remove(accountId, id, parseTags(tags));
    for (const table of ["versions", "shares", "former_places", "folders"]) {
      sqlite.run(`DELETE FROM ${table} WHERE node_id = ?1`, [id]);
    }
    sqlite.run("DELETE FROM journal WHERE account_id = ?1 AND node_id = ?2", [accountId, id]);
    sqlite.run("DELETE FROM nodes WHERE id = ?1", [id]);
  }

  /** The name, or the first numbered one that the folder does not have. */
  freeName(parentId: number, name: string): string {
    let free = name;
    for (let number = 1; this.#isTaken.get(parentId, fold(free), free) !== null; number++) {
      free = numberedName(name, number);
    }
    return free;
  }

  /**
   * The creation and the former locations of a node, each with its number and time in the former database's journal.
   */
  #insertPast(build: AccountBuild, id: number, record: FileRecord | FolderRecord): void {
    const { accountId } = build;
    const { born, bornAt = record.created, places = [] } = record;
    if (born === undefined) return;
    if (born > 0 && bornAt > 0) this.#insertJournal.run(accountId, born, id, bornAt);
    const kind = "file" in record ? FILE : FOLDER;
    for (const { seq, at, name, in: folder } of places) {
      // A deleted folder is missing in the past as well, and so are the nodes in it.
      const parentId = build.folderId(folder) ?? IN_TRASH;
      this.#insertLocation.run(id, seq, accountId, at, parentId, kind, name, fold(name), born);
      this.#insertJournal.run(accountId, seq, id, at);
    }
  }

  /** Skips a share that has ended, and one for an account that was erased. */
  #addShare(accountId: number, nodeId: number, share: ShareRecord): void {
    const recipientId = this.#userIdOf(share.recipient);
    if ((share.recipient !== undefined && recipientId === null) || this.#options.isEnded(share.id)) return;
    this.#shares.insert(accountId, nodeId, share, recipientId);
  }

  #addToFile(accountId: number, nodeId: number, { tags = [], versions = [] }: FileRecord): void {
    this.#tags.add(accountId, nodeId, tags);
    for (const version of versions) {
      const { version: number, size, type, at, until = at } = version;
      const by = this.#userIdOf(version.by);
      this.#insertVersion.run(nodeId, number, this.#findOrAddBlob(version), size, type, at, by, until);
    }
  }

  #userIdOf(publicId: string | undefined): number | null {
    return publicId === undefined ? null : this.#options.userIdOf(publicId);
  }

  #findOrAddBlob({ sha256, size, crc32 }: ContentRecord): number {
    return this.#blobs.acquire({ digest: toDigest(sha256), sizeBytes: size, crc32 }, this.#options.nowMs);
  }
}
