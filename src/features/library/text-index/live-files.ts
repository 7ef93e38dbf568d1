/** What the text index reads of the main database: which blobs are in use, and which files a caller may read. */
import type { Database } from "bun:sqlite";
import { parseNumbers } from "../../../db/parse-numbers.ts";
import { openReadOnly } from "../../../db/open.ts";
import { FILE, FOLDER } from "../../../tree/model/rows.ts";
import { documentFormat } from "../../media/documents/types.ts";
import type { SearchScope, WaitingBlob } from "./types.ts";

/** A file with a text. */
export interface FoundFile {
  readonly id: number;
  readonly accountId: number;
  readonly blobId: number;
  /** 0 if it is in no folder, as in the trash. */
  readonly parentId: number;
  readonly modifiedAtMs: number;
}

/** The content of a file. */
interface FileContent extends WaitingBlob {
  readonly nodeId: number;
}

/** Files that are looked at for one blob. */
const USES_MAX = 1_000;
/** Files that a search finds in one account. */
const FOUND_MAX = 20_000;
/** Levels of folders; more than a tree can have. */
const LEVELS_MAX = 1_000;
/** Scopes whose blobs are remembered. */
const SCOPES_MAX = 32;

const CONTENT = `n.id AS nodeId, n.blob_id AS blobId, b.digest, n.media_type AS mediaType
  FROM nodes n JOIN blobs b ON b.id = n.blob_id`;

/** The position of a row in the index of the names in its folder. */
interface Position {
  readonly nodeId: number;
  readonly sortKey: string;
  readonly name: string;
}

/** Rows of one folder that are read at once. */
const ROWS_TOGETHER = 500;
const NEXT_IN_FOLDER = "n.parent_id = ?1 AND (n.sort_key, n.name) > (?2, ?3) ORDER BY n.sort_key, n.name LIMIT ?4";
const FILES_IN = `SELECT n.id AS nodeId, n.blob_id AS blobId, b.digest, n.media_type AS mediaType, n.sort_key AS sortKey, n.name
  FROM nodes n INDEXED BY nodes_name CROSS JOIN blobs b ON b.id = n.blob_id WHERE n.kind = ${FILE} AND ${NEXT_IN_FOLDER}`;
const FOLDERS_IN = `SELECT n.id AS nodeId, n.sort_key AS sortKey, n.name
  FROM nodes n INDEXED BY nodes_name WHERE n.kind = ${FOLDER} AND ${NEXT_IN_FOLDER}`;

/** Reads the main database, in the thread of the index. No statement stays open, so that its log can be merged. */
export class LiveFiles {
  readonly #sqlite: Database;
  readonly #parent;
  readonly #uses;
  readonly #usesOf;
  readonly #found;
  readonly #seen = new Map<string, { readonly seq: number; readonly blobs: ReadonlySet<number> }>();

  constructor(path: string) {
    this.#sqlite = openReadOnly(path).sqlite;
    this.#parent = this.#sqlite.prepare<{ parentId: number | null; name: string }, [number]>(
      "SELECT parent_id AS parentId, name FROM nodes WHERE id = ?1",
    );
    this.#uses = this.#sqlite.prepare<{ id: number }, [number, number]>(
      "SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = ?1 LIMIT ?2",
    );
    this.#usesOf = this.#sqlite.prepare<{ id: number }, [number, number, number]>(
      "SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = ?1 AND account_id = ?2 LIMIT ?3",
    );
    this.#found = this.#sqlite.prepare<
      Record<"ids" | "blobs" | "parents" | "times", string | null>,
      [string, number, number]
    >(
      `SELECT group_concat(id) AS ids, group_concat(blob_id) AS blobs, group_concat(parent_id) AS parents,
         group_concat(modified_at) AS times
       FROM (SELECT n.id, n.blob_id, max(0, ifnull(n.parent_id, 0)) AS parent_id, max(0, n.modified_at) AS modified_at
         FROM json_each(?1) j CROSS JOIN nodes n INDEXED BY nodes_blob ON n.blob_id = j.value AND n.account_id = ?2
         LIMIT ?3)`,
    );
  }

  close(): void {
    this.#sqlite.close();
  }

  /** The journal heads of all accounts. */
  heads(): Map<number, number> {
    const found = this.#sqlite.query<{ id: number; seq: number }, []>("SELECT id, seq FROM accounts WHERE root_id > 0");
    return new Map(found.all().map(({ id, seq }) => [id, seq]));
  }

  /** The next entries of an account's journal. `floor` is the number before which entries are missing. */
  changesAfter(accountId: number, seq: number, limit: number): { readonly seq: number; readonly nodeId: number }[] {
    return this.#sqlite
      .query<{ seq: number; nodeId: number }, [number, number, number]>(
        "SELECT seq, node_id AS nodeId FROM journal WHERE account_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
      )
      .all(accountId, seq, limit);
  }

  /** Whether the row of a node exists, and is of a folder or of a file. */
  kindOf(nodeId: number): "file" | "folder" | undefined {
    const row = this.#sqlite.query<{ kind: number }, [number]>("SELECT kind FROM nodes WHERE id = ?1").get(nodeId);
    if (row === null) return undefined;
    return row.kind === FILE ? "file" : "folder";
  }

  /** The content of a file now, and of its earlier versions: those that this change may have added or replaced. */
  contentsOf(nodeId: number): { readonly now: FileContent | undefined; readonly earlier: readonly number[] } {
    const now = this.#sqlite.query<FileContent, [number]>(`SELECT ${CONTENT} WHERE n.id = ?1`).get(nodeId);
    const earlier = this.#sqlite
      .query<{ id: number }, [number]>(
        "SELECT blob_id AS id FROM versions WHERE node_id = ?1 ORDER BY version DESC LIMIT 100",
      )
      .all(nodeId);
    return { now: now ?? undefined, earlier: earlier.map(({ id }) => id) };
  }

  /** The files with text among those from an id on. */
  filesFrom(
    nodeId: number,
    limit: number,
  ): { readonly files: readonly FileContent[]; readonly nextId: number | undefined } {
    const found = this.#sqlite
      .query<FileContent, [number, number]>(`SELECT ${CONTENT} WHERE n.id >= ?1 ORDER BY n.id LIMIT ?2`)
      .all(nodeId, limit);
    const last = found.at(-1);
    return {
      files: found.filter(({ mediaType }) => hasText(mediaType)),
      nextId: last === undefined || found.length < limit ? undefined : last.nodeId + 1,
    };
  }

  /**
   * The contents of all files below a folder, at any depth. They are read from the database as they are taken, some at a
   * time. What changes in the meantime may be missing: it is in the journal.
   */
  *filesBelow(folderId: number): Generator<FileContent> {
    const folders = [folderId];
    for (let id = folders.pop(); id !== undefined; id = folders.pop()) {
      yield* this.#inFolder<FileContent & Position>(FILES_IN, id);
      for (const { nodeId } of this.#inFolder<Position>(FOLDERS_IN, id)) folders.push(nodeId);
    }
  }

  /** Whether a content still has the row of a blob: its file is then not deleted yet. */
  exists(blobId: number, digest: Uint8Array): boolean {
    const blob = this.#sqlite
      .query<{ digest: Uint8Array }, [number]>("SELECT digest FROM blobs WHERE id = ?1")
      .get(blobId);
    return blob !== null && Buffer.compare(blob.digest, digest) === 0;
  }

  /** Whether a blob still has this digest, and is the content of a file in some tree. @param reached see {@link reaches} */
  isLive(blobId: number, digest: Uint8Array, reached: Map<number, boolean>): boolean {
    if (!this.exists(blobId, digest)) return false;
    return this.#uses.all(blobId, USES_MAX).some(({ id }) => this.reaches(id, null, reached));
  }

  /**
   * Whether a node is below a folder (or is this node), or with null below the root of an account: not in the trash, nor
   * deleted. @param reached what is already known about folders, for this root
   */
  reaches(nodeId: number, rootId: number | null, reached: Map<number, boolean>): boolean {
    const way: number[] = [];
    let found = false;
    for (let id = nodeId; way.length < LEVELS_MAX; ) {
      const known = reached.get(id);
      if (known !== undefined || id === rootId) {
        found = known ?? true;
        break;
      }
      const row = this.#parent.get(id);
      way.push(id);
      if (row === null || row.parentId === null || row.parentId < 0) {
        found = rootId === null && row !== null && row.parentId === null && row.name === "/";
        break;
      }
      id = row.parentId;
    }
    for (const id of way) reached.set(id, found);
    return found;
  }

  /** The files of an account with this blob. */
  filesWith(blobId: number, accountId: number): { readonly id: number }[] {
    return this.#usesOf.all(blobId, accountId, USES_MAX);
  }

  /** The files of an account with these blobs, in their order; at most {@link FOUND_MAX}. */
  filesWithAny(blobIds: readonly number[], accountId: number): FoundFile[] {
    // Texts of numbers are read several times faster than as many rows.
    const row = this.#found.get(JSON.stringify(blobIds), accountId, FOUND_MAX);
    const [ids, blobs, parents, times] = [row?.ids, row?.blobs, row?.parents, row?.times].map(parseNumbers);
    return Array.from(ids ?? [], (id, at) => ({
      id,
      accountId,
      blobId: blobs?.[at] ?? 0,
      parentId: parents?.[at] ?? 0,
      modifiedAtMs: times?.[at] ?? 0,
    }));
  }

  /** The blobs of the files in a scope; also some that are deleted. */
  blobsIn({ accountId, rootId }: SearchScope): ReadonlySet<number> {
    const seq =
      this.#sqlite.query<{ seq: number }, [number]>("SELECT seq FROM accounts WHERE id = ?1").get(accountId)?.seq ?? 0;
    const key = `${accountId} ${rootId}`;
    const known = this.#seen.get(key);
    if (known?.seq === seq) return known.blobs;
    const blobs = rootId === null ? this.#blobsOfAccount(accountId) : this.#blobsBelow(rootId);
    this.#seen.delete(key);
    this.#seen.set(key, { seq, blobs });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > SCOPES_MAX && oldest !== undefined) this.#seen.delete(oldest);
    return blobs;
  }

  /** The files of an account that match a query of the index of names. */
  matchElsewhere(accountId: number, query: string, limit: number): Set<number> {
    const found = this.#sqlite
      .query<{ id: number }, [string, number, number]>(
        `SELECT rowid & ((1 << 36) - 1) AS id FROM search_text
         WHERE search_text MATCH ?1 AND rowid BETWEEN (?2 << 36) AND ((?2 + 1) << 36) - 1 LIMIT ?3`,
      )
      .all(query, accountId, limit);
    return new Set(found.map(({ id }) => id));
  }

  #blobsOfAccount(accountId: number): ReadonlySet<number> {
    // The index alone is read: it has the account.
    const found = this.#sqlite
      .query<{ id: number }, [number]>(
        "SELECT blob_id AS id FROM nodes INDEXED BY nodes_blob WHERE blob_id IS NOT NULL AND account_id = ?1",
      )
      .all(accountId);
    return new Set(found.map(({ id }) => id));
  }

  /** The rows of a folder that a statement selects, some at a time. */
  *#inFolder<T extends Position>(sql: string, folderId: number): Generator<T> {
    const statement = this.#sqlite.query<T, [number, string, string, number]>(sql);
    let [sortKey, name] = ["", ""];
    for (;;) {
      const rows = statement.all(folderId, sortKey, name, ROWS_TOGETHER);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_TOGETHER) return;
      ({ sortKey, name } = last);
    }
  }

  #blobsBelow(rootId: number): ReadonlySet<number> {
    if (this.kindOf(rootId) === "folder") {
      const found = this.#sqlite.query<{ id: number }, [number]>(
        `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL SELECT c.id FROM s
           CROSS JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = ${FOLDER})
         SELECT n.blob_id AS id FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FILE}`,
      );
      return new Set(found.all(rootId).map(({ id }) => id));
    }
    const { now } = this.contentsOf(rootId);
    return new Set(now === undefined ? [] : [now.blobId]);
  }
}

/** Whether text is read from files of a media type. */
export function hasText(mediaType: string): boolean {
  return documentFormat(mediaType) !== undefined;
}
