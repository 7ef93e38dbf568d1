/** Totals of a rebuilt tree: those of an account, and those of what a row of `trash` stands for. */
import type { Database } from "bun:sqlite";
import { fold } from "../../../lib/path.ts";
import { FILE, FOLDER, parseTags } from "../../../tree/model/rows.ts";
import { usageType } from "../../../tree/tables/accounts.ts";
import { backfillHeights } from "../../../tree/tables/heights.ts";
import type { AccountBuild } from "./account-build.ts";
import type { FileRecord } from "./records.ts";

/** Totals of a file, or of a folder with everything in it. */
interface SubtreeTotals {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  readonly versionBytes: number;
  /** Files and bytes by media type. */
  readonly types: Readonly<Record<string, readonly [files: number, bytes: number]>>;
  /** Files by folded tag. */
  readonly tags: Readonly<Record<string, number>>;
}

/** The visible nodes of an account. */
interface TreeCounts {
  readonly files: number;
  readonly folders: number;
  readonly versions: number;
}

const SUBTREE = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
  SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FOLDER})`;
const FILES_BELOW = `FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = ${FILE}`;
const VERSIONS_BELOW = `${FILES_BELOW} CROSS JOIN versions v ON v.node_id = n.id`;

/** The totals of one file. */
export function fileTotals(sqlite: Database, id: number, { content, tags = [] }: FileRecord): SubtreeTotals {
  return {
    files: 1,
    folders: 0,
    fileBytes: content.size,
    versionBytes: readNumber(sqlite, "SELECT ifnull(sum(size_bytes), 0) AS value FROM versions WHERE node_id = ?1", id),
    types: { [usageType(content.type)]: [1, content.size] },
    tags: Object.fromEntries(tags.map((tag) => [fold(tag), 1])),
  };
}

/** The totals of a folder, itself included. */
export function folderTotals(sqlite: Database, id: number): SubtreeTotals {
  const rows = sqlite
    .query<{ type: string; bytes: number; tags: string | null }, [number]>(
      `${SUBTREE} SELECT n.media_type AS type, n.size_bytes AS bytes, n.tags ${FILES_BELOW}`,
    )
    .all(id);
  const types: Record<string, [files: number, bytes: number]> = {};
  const tags: Record<string, number> = {};
  for (const row of rows) {
    const total = (types[usageType(row.type)] ??= [0, 0]);
    total[0]++;
    total[1] += row.bytes;
    for (const tag of parseTags(row.tags)) tags[fold(tag)] = (tags[fold(tag)] ?? 0) + 1;
  }
  return {
    files: rows.length,
    folders: readNumber(sqlite, `${SUBTREE} SELECT count(*) AS value FROM s`, id),
    fileBytes: rows.reduce((total, { bytes }) => total + bytes, 0),
    versionBytes: versionBytesBelow(sqlite, id),
    types,
    tags,
  };
}

/**
 * Writes the totals of an account. Nodes in the trash count for media types and tags, as they do while they are there.
 */
export function writeAccountTotals(sqlite: Database, build: AccountBuild, rootId: number): TreeCounts {
  const { accountId, seq, nowMs } = build;
  const files = readNumber(sqlite, `${SUBTREE} SELECT count(*) AS value ${FILES_BELOW}`, rootId);
  const folders = readNumber(sqlite, `${SUBTREE} SELECT count(*) - 1 AS value FROM s`, rootId);
  const fileBytes = readNumber(
    sqlite,
    `${SUBTREE} SELECT ifnull(sum(n.size_bytes), 0) AS value ${FILES_BELOW}`,
    rootId,
  );
  const trashBytes = readNumber(
    sqlite,
    "SELECT ifnull(sum(file_bytes + version_bytes), 0) AS value FROM trash WHERE account_id = ?1",
    accountId,
  );
  sqlite
    .query<undefined, number[]>(
      `UPDATE accounts SET root_id = ?2, seq = ?3, files = ?4, folders = ?5, file_bytes = ?6, version_bytes = ?7,
         trash_bytes = ?8, changed_at = ?9,
         trash_nodes = (SELECT ifnull(sum(files + folders), 0) FROM trash WHERE account_id = ?1) WHERE id = ?1`,
    )
    .run(accountId, rootId, seq, files, folders, fileBytes, versionBytesBelow(sqlite, rootId), trashBytes, nowMs);
  backfillHeights(sqlite, accountId);
  writeTypeTotals(sqlite, build);
  const versions = readNumber(sqlite, `${SUBTREE} SELECT count(*) AS value ${VERSIONS_BELOW}`, rootId);
  return { files, folders, versions };
}

function writeTypeTotals(sqlite: Database, { accountId, base }: AccountBuild): void {
  const types = sqlite
    .query<{ type: string; files: number; bytes: number }, [number, number]>(
      `SELECT media_type AS type, count(*) AS files, sum(size_bytes) AS bytes FROM nodes
       WHERE id > ?2 AND account_id = ?1 AND kind = ${FILE} GROUP BY 1`,
    )
    .all(accountId, base);
  const add = sqlite.query<undefined, [number, string, number, number]>(
    `INSERT INTO usage_types (account_id, type, files, bytes) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT DO UPDATE SET files = files + excluded.files, bytes = bytes + excluded.bytes`,
  );
  for (const { type, files, bytes } of types) add.run(accountId, usageType(type), files, bytes);
}

function versionBytesBelow(sqlite: Database, id: number): number {
  return readNumber(sqlite, `${SUBTREE} SELECT ifnull(sum(v.size_bytes), 0) AS value ${VERSIONS_BELOW}`, id);
}

/** The single `value` of a statement with one parameter. */
export function readNumber(sqlite: Database, sql: string, parameter: number): number {
  return sqlite.query<{ value: number }, [number]>(sql).get(parameter)?.value ?? 0;
}
