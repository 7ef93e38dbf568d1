import { rows } from "../../db/reader.ts";
import { fold } from "../../lib/path.ts";
import type { NodeTotals, TreeNode } from "../model/types.ts";
import { usageType } from "../tables/accounts.ts";
import type { TreeStore } from "../tables/store.ts";

/** The totals of a folder, and the state of its account in which they are valid. */
export interface FolderSize {
  readonly folderId: number;
  readonly head: string;
  readonly totals: NodeTotals;
}

/** From this many files in the account on, folders are measured in the reading thread; below it on the main thread. */
export const MEASURED_IN_READER_MIN = 2_000;

const SUBTREE = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
  SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)`;
const FILES_BELOW = "FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 1";

const MEASURE_FOLDERS = `${SUBTREE} SELECT count(*) AS folders FROM s`;
const MEASURE_TYPES = `${SUBTREE} SELECT n.media_type AS type, count(*) AS files, sum(n.size_bytes) AS bytes ${FILES_BELOW} GROUP BY 1`;
const MEASURE_TAGS = `${SUBTREE} SELECT j.value AS tag, count(*) AS files ${FILES_BELOW} CROSS JOIN json_each(n.tags) j
  WHERE n.tags IS NOT NULL GROUP BY 1`;
const MEASURE_VERSIONS = `${SUBTREE} SELECT ifnull(sum(v.size_bytes), 0) AS bytes ${FILES_BELOW}
  CROSS JOIN versions v ON v.node_id = n.id`;

/**
 * Changes with everything that changes totals. It includes the bytes of versions, because deleting a version takes no
 * journal number.
 */
const HEAD = "SELECT seq || ' ' || version_bytes AS head FROM accounts WHERE id = ?1";

interface MeasuredRows {
  readonly folders: readonly { readonly folders: number }[];
  readonly types: readonly { readonly type: string; readonly files: number; readonly bytes: number }[];
  readonly tags: readonly { readonly tag: string; readonly files: number }[];
  readonly versions: readonly { readonly bytes: number }[];
}

/** Whether to measure a node in the reading thread: a folder in an account with many files. */
export function isLarge(store: TreeStore, { kind, accountId }: TreeNode): boolean {
  return kind === "folder" && store.accounts.usage(accountId).files >= MEASURED_IN_READER_MIN;
}

/** The totals of a folder and all below it, read in the reading thread. Valid while the account is at `head`. */
export async function measureInReader(store: TreeStore, accountId: number, folderId: number): Promise<FolderSize> {
  const [heads, folders, types, tags, versions] = await store.reader.read([
    rows<{ head: string }>(HEAD, [accountId]),
    rows<MeasuredRows["folders"][number]>(MEASURE_FOLDERS, [folderId]),
    rows<MeasuredRows["types"][number]>(MEASURE_TYPES, [folderId]),
    rows<MeasuredRows["tags"][number]>(MEASURE_TAGS, [folderId]),
    rows<MeasuredRows["versions"][number]>(MEASURE_VERSIONS, [folderId]),
  ]);
  return { folderId, head: heads[0]?.head ?? "", totals: toTotals({ folders, types, tags, versions }) };
}

/** Bytes of all files below a folder. */
export async function bytesBelow(store: TreeStore, folderId: number): Promise<number> {
  const sql = `${SUBTREE} SELECT ifnull(sum(n.size_bytes), 0) AS bytes
    FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1`;
  const [sums] = await store.reader.read([rows<{ bytes: number }>(sql, [folderId])]);
  return sums[0]?.bytes ?? 0;
}

function measureNow(store: TreeStore, folderId: number): NodeTotals {
  const all = <Row>(sql: string) => store.sqlite.query<Row, [number]>(sql).all(folderId);
  return toTotals({
    folders: all(MEASURE_FOLDERS),
    types: all(MEASURE_TYPES),
    tags: all(MEASURE_TAGS),
    versions: all(MEASURE_VERSIONS),
  });
}

function toTotals({ folders, types, tags, versions }: MeasuredRows): NodeTotals {
  const byType: Record<string, [number, number]> = {};
  for (const { type, files, bytes } of types) {
    const total = (byType[usageType(type)] ??= [0, 0]);
    total[0] += files;
    total[1] += bytes;
  }
  const byTag: Record<string, number> = {};
  for (const { tag, files } of tags) byTag[fold(tag)] = (byTag[fold(tag)] ?? 0) + files;
  return {
    files: types.reduce((sum, { files }) => sum + files, 0),
    folders: folders[0]?.folders ?? 0,
    fileBytes: types.reduce((sum, { bytes }) => sum + bytes, 0),
    versionBytes: versions[0]?.bytes ?? 0,
    types: byType,
    tags: byTag,
  };
}

/** Whether nothing changed in an account since one of its folders was measured. */
export function isCurrent(store: TreeStore, accountId: number, measured: FolderSize): boolean {
  return store.sqlite.query<{ head: string }, [number]>(HEAD).get(accountId)?.head === measured.head;
}

/** The totals of a node: measured before if still valid, else measured now. */
export function totalsOf(store: TreeStore, node: TreeNode, measured: FolderSize | undefined): NodeTotals {
  if (node.kind === "folder") {
    const isValid = measured?.folderId === node.id && isCurrent(store, node.accountId, measured);
    return isValid ? measured.totals : measureNow(store, node.id);
  }
  return {
    files: 1,
    folders: 0,
    fileBytes: node.sizeBytes,
    versionBytes: node.version > 1 ? versionBytesOf(store, node.id) : 0,
    types: { [usageType(node.mediaType)]: [1, node.sizeBytes] },
    tags: Object.fromEntries(node.tags.map((tag) => [fold(tag), 1])),
  };
}

function versionBytesOf(store: TreeStore, nodeId: number): number {
  const row = store.sqlite
    .query<{ bytes: number }, [number]>("SELECT ifnull(sum(size_bytes), 0) AS bytes FROM versions WHERE node_id = ?1")
    .get(nodeId);
  return row?.bytes ?? 0;
}
