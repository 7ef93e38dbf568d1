import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openEndedShares, openStoreJournal } from "../../../../src/features/storage/store-journal/open.ts";
import { rebuildDatabase, type RebuildReport } from "../../../../src/features/storage/store-journal/rebuild.ts";
import type { StoreJournal } from "../../../../src/features/storage/store-journal/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import type { TestTree } from "../../tree/support.ts";

/** The folder with the objects of a tree's accounts. */
export function journalOf(tree: TestTree): string {
  return join(tree.directory, "blobs", "journal");
}

/** The store journal of a tree's database. */
export function openJournal(tree: TestTree, epoch = ""): StoreJournal {
  const blobs = join(tree.directory, "blobs");
  mkdirSync(join(blobs, "sha256"), { recursive: true });
  const { sqlite } = tree.db;
  const common = {
    sqlite,
    reader: tree.thread,
    writer: tree.writer,
    log: silentLog,
    blobs,
    checkStore: () => undefined,
  };
  return openStoreJournal({ ...common, clock: tree.clock, endedShares: openEndedShares(common), epoch });
}

/** Rebuilds the database from the objects. @returns the report, and the rows of the new database */
export async function rebuild(
  tree: TestTree,
): Promise<{ report: RebuildReport; path: string; contents: DatabaseContents }> {
  const path = join(tree.directory, "rebuilt.db");
  const report = await rebuildDatabase({
    dataDirectory: tree.directory,
    target: path,
    storeId: "store",
    passwordHash: "nobody's",
    nowMs: 1_800_000_000_000,
  });
  const sqlite = new Database(path, { strict: true });
  try {
    return { report, path, contents: contentsOf(sqlite) };
  } finally {
    sqlite.close();
  }
}

/** The rows of accounts in a database, by table, without row ids and journal numbers. */
export type DatabaseContents = Record<string, readonly unknown[]>;

const TABLE_CONTENTS: Readonly<Record<string, string>> = {
  accounts: `SELECT u.public_id, u.email, u.name, u.role, u.plan, u.disabled_at, u.created_at, u.settings, u.email_unconfirmed_since, a.files, a.folders,
    a.file_bytes, a.version_bytes, a.trash_bytes, a.quota_bytes, (SELECT public_id FROM nodes WHERE id = a.root_id) AS root
    FROM users u JOIN accounts a ON a.id = u.id WHERE a.root_id > 0 ORDER BY 1`,
  nodes: `SELECT n.public_id, (SELECT public_id FROM users WHERE id = n.account_id) AS account,
    (SELECT public_id FROM nodes WHERE id = n.parent_id) AS parent, n.parent_id < 0 AS is_trashed, n.kind, n.name, n.sort_key,
    n.created_at, n.modified_at, n.size_bytes, n.media_type, lower(hex(b.digest)) AS digest, b.crc32, n.version, n.content_at,
    (SELECT public_id FROM users WHERE id = n.content_by) AS content_by, n.original_name, n.file_modified_at, n.captured_at,
    n.is_public, n.tags, n.metadata, f.child_folders, f.child_files
    FROM nodes n LEFT JOIN blobs b ON b.id = n.blob_id LEFT JOIN folders f ON f.node_id = n.id ORDER BY 1`,
  versions: `SELECT n.public_id, v.version, lower(hex(b.digest)) AS digest, v.size_bytes, v.media_type, v.created_at,
    (SELECT public_id FROM users WHERE id = v.created_by) AS created_by, v.replaced_at
    FROM versions v JOIN nodes n ON n.id = v.node_id JOIN blobs b ON b.id = v.blob_id ORDER BY 1, 2`,
  trash: `SELECT n.public_id, t.trashed_at, (SELECT public_id FROM nodes WHERE id = t.parent_id) AS parent, t.folder, t.files,
    t.folders, t.file_bytes, t.version_bytes, (SELECT json_group_array(key || value) FROM (SELECT * FROM json_each(t.types)
    ORDER BY key)) AS types, (SELECT json_group_array(key || value) FROM (SELECT * FROM json_each(t.tags) ORDER BY key)) AS tags
    FROM trash t JOIN nodes n ON n.id = t.node_id ORDER BY 1`,
  tags: `SELECT (SELECT public_id FROM users WHERE id = t.account_id) AS account, t.key, t.count,
    (SELECT group_concat(public_id) FROM (SELECT n.public_id FROM node_tags l JOIN nodes n ON n.id = l.node_id
     WHERE l.tag_id = t.id ORDER BY 1)) AS nodes FROM tags t ORDER BY 1, 2`,
  types: `SELECT (SELECT public_id FROM users WHERE id = account_id) AS account, type, files, bytes FROM usage_types
    WHERE files > 0 ORDER BY 1, 2`,
  shares: `SELECT s.public_id, n.public_id AS node, s.kind, hex(s.nonce), hex(s.token_hash), s.created_at, s.label, s.expires_at,
    s.grant_epoch, s.pinned_version, s.hides_location, s.can_write, s.shows_versions, s.recipient_email_key, s.password_hash,
    s.max_downloads, s.max_upload_bytes, s.max_uploads_per_address, CASE WHEN ifnull(s.max_downloads, s.max_upload_bytes) IS NOT NULL
      THEN json_array(s.downloads, s.uploaded_bytes) END AS used,
    (SELECT public_id FROM users WHERE id = s.recipient_id) AS recipient,
    (SELECT public_id FROM groups WHERE id = s.group_id) AS recipient_group,
    (SELECT public_id FROM users WHERE id = s.account_id) AS account FROM shares s JOIN nodes n ON n.id = s.node_id
    ORDER BY 1`,
  places: `SELECT n.public_id, p.at, (SELECT public_id FROM nodes WHERE id = p.parent_id) AS parent, p.kind, p.name, p.sort_key
    FROM former_places p JOIN nodes n ON n.id = p.node_id ORDER BY 1, p.seq`,
  favorites: `SELECT n.public_id, u.public_id AS account FROM favorites f JOIN nodes n ON n.id = f.node_id
    JOIN users u ON u.id = f.account_id ORDER BY 1, 2`,
  // A group without members and shares is in no record.
  groups: `SELECT public_id, name, name_key FROM groups g WHERE EXISTS (SELECT 1 FROM group_members m WHERE m.group_id = g.id)
    OR EXISTS (SELECT 1 FROM shares s WHERE s.group_id = g.id) ORDER BY 1`,
  members: `SELECT g.public_id, u.public_id AS account, m.added_at FROM group_members m JOIN groups g ON g.id = m.group_id
    JOIN users u ON u.id = m.user_id ORDER BY 1, 2`,
  avatars: `SELECT u.public_id, hex(p.digest), hex(p.large), hex(p.small), p.changed_at FROM avatars p
    JOIN users u ON u.id = p.user_id ORDER BY 1`,
  hidden: `SELECT s.public_id, u.public_id AS account FROM hidden_shares h JOIN shares s ON s.id = h.share_id
    JOIN users u ON u.id = h.user_id ORDER BY 1, 2`,
  blobs: "SELECT lower(hex(digest)) AS digest, size_bytes, crc32, refs FROM blobs WHERE refs > 0 ORDER BY 1",
};

/** Reads the rows of a database. */
export function contentsOf(sqlite: Database): DatabaseContents {
  return Object.fromEntries(
    Object.entries(TABLE_CONTENTS).map(([table, sql]) => [table, sqlite.query<object, []>(sql).all()]),
  );
}
