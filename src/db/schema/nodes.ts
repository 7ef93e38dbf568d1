import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";
import { blobs } from "./blobs.ts";

/** The tree: files and folders. Only `tree` writes here. Every index serves one listing or lookup. */
export const nodes = sqliteTable(
  "nodes",
  {
    /** Never reused: delayed counts and running searches refer to nodes by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    /**
     * Null: an account's root, or detached from the tree (its chain does not end at the root, so it counts as deleted).
     */
    parentId: integer("parent_id"),
    /** 0 folder, 1 file. */
    kind: integer("kind").notNull(),
    name: text("name").notNull(),
    /** `fold(name)`. */
    sortKey: text("sort_key").notNull(),
    createdAt: integer("created_at").notNull(),
    modifiedAt: integer("modified_at").notNull(),
    /** Journal number of its last change. */
    seq: integer("seq").notNull(),
    /**
     * Journal number of its creation. Negative for a node created below the copy of a large folder before the copy
     * became visible: minus the id of the copy, whose journal number counts.
     */
    createdSeq: integer("created_seq").notNull(),
    /** 0 for folders, so that they can be sorted by size too. */
    sizeBytes: integer("size_bytes").notNull(),
    mediaType: text("media_type"),
    blobId: integer("blob_id").references(() => blobs.id),
    version: integer("version"),
    /** When the current version was stored. */
    contentAt: integer("content_at"),
    /** The user who stored the current version. */
    contentBy: integer("content_by"),
    /** The device that uploaded it, if any. */
    contentDeviceId: integer("content_device_id"),
    /** The uploaded name, if it differs from `name`. */
    originalName: text("original_name"),
    /**
     * The modification time on the uploading device, and when a photo was taken (with its offset), as the client sent
     * them.
     */
    fileModifiedAt: text("file_modified_at"),
    capturedAt: text("captured_at"),
    /** The file's own date in ms, to sort by: `fileModifiedAt`, else `contentAt`. For folders `createdAt`. */
    fileAt: integer("file_at").notNull().default(0),
    /** `naturalKey(name)`; null until it is stored, see `tree/tables/natural-keys.ts`. */
    naturalKey: text("natural_key"),
    isPublic: integer("is_public").notNull().default(0),
    /** JSON array in the given order, null for none, so that a listing needs no join. */
    tags: text("tags"),
    /** JSON object of strings, `description` among them; null for none. */
    metadata: text("metadata"),
  },
  (table) => [
    uniqueIndex("nodes_public").on(table.publicId),
    uniqueIndex("nodes_name").on(table.parentId, table.kind, table.sortKey, table.name),
    index("nodes_size").on(table.parentId, table.kind, table.sizeBytes),
    index("nodes_created").on(table.parentId, table.kind, table.createdAt),
    index("nodes_modified").on(table.parentId, table.kind, table.modifiedAt),
    index("nodes_file_at").on(table.parentId, table.kind, table.fileAt),
    index("nodes_natural")
      .on(table.parentId, table.kind, table.naturalKey, table.name)
      .where(sql`natural_key IS NOT NULL`),
    index("nodes_unkeyed").on(table.parentId, table.kind).where(sql`natural_key IS NULL`),
    index("nodes_blob").on(table.blobId, table.accountId).where(sql`blob_id IS NOT NULL`),
    check("nodes_kind", sql`${table.kind} IN (0, 1)`),
  ],
);

/** Columns of folders only: counts of their children, so that totals need no scan. */
export const folders = sqliteTable(
  "folders",
  {
    nodeId: integer("node_id")
      .primaryKey()
      .references(() => nodes.id),
    childFolders: integer("child_folders").notNull().default(0),
    childFiles: integer("child_files").notNull().default(0),
    /** Raised by each change of a direct child. */
    childrenRev: integer("children_rev").notNull().default(0),
    /** Journal number of the last rename or move of this folder. */
    pathSeq: integer("path_seq").notNull().default(0),
    /** Upper bound of the number of folder levels below; see `tree/tables/heights.ts`. */
    levelsBelow: integer("levels_below").notNull().default(0),
    /** Upper bound of the bytes of the longest path from here to a folder below. */
    bytesBelow: integer("bytes_below").notNull().default(0),
    /** Bytes of the direct files plus `treeBytes` of the direct folders; null until they are added up. */
    bytes: integer("bytes"),
    /** `bytes` when the folder was last refreshed: what `bytes` of its parent includes. */
    treeBytes: integer("tree_bytes"),
    /** Number of the state of everything below, raised when the folder is refreshed; see `tree/tables/folder-states.ts`. */
    treeRev: integer("tree_rev").notNull().default(0),
    /** When a direct child was last changed in a way that listings show; null if that is unknown. */
    childrenAt: integer("children_at"),
  },
  (table) => [index("folders_unfilled").on(table.nodeId).where(sql`bytes IS NULL`)],
);

/** Folders with changes of direct children that `treeRev` and `treeBytes` do not show yet: they are to be refreshed. */
export const changedFolders = sqliteTable(
  "changed_folders",
  { accountId: integer("account_id").notNull(), nodeId: integer("node_id").notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.nodeId] })],
);

/** Earlier versions of files; the current version is in the node. */
export const versions = sqliteTable(
  "versions",
  {
    nodeId: integer("node_id").notNull(),
    version: integer("version").notNull(),
    blobId: integer("blob_id")
      .notNull()
      .references(() => blobs.id),
    sizeBytes: integer("size_bytes").notNull(),
    mediaType: text("media_type").notNull(),
    createdAt: integer("created_at").notNull(),
    createdBy: integer("created_by"),
    /** When the next version was stored: until then this was the current one. */
    replacedAt: integer("replaced_at").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.version] }), index("versions_blob").on(table.blobId)],
);

/** How often a file was downloaded, and when last. Written at most a second late. */
export const nodeAccess = sqliteTable("node_access", {
  nodeId: integer("node_id").primaryKey(),
  downloads: integer("downloads").notNull(),
  lastAccessedAt: integer("last_accessed_at").notNull(),
});

/** Numbered changes of an account, which synchronization reads. */
export const journal = sqliteTable(
  "journal",
  {
    accountId: integer("account_id").notNull(),
    seq: integer("seq").notNull(),
    nodeId: integer("node_id").notNull(),
    /** When, by the account's own clock, which never goes back. */
    at: integer("at").notNull().default(0),
    /** The device that requested it, if any. */
    deviceId: integer("device_id"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.seq] })],
);

/** Tombstones of deleted nodes, for as long as a device may still need them. */
export const tombstones = sqliteTable(
  "tombstones",
  {
    accountId: integer("account_id").notNull(),
    seq: integer("seq").notNull(),
    nodeId: integer("node_id").notNull(),
    publicId: text("public_id").notNull(),
    kind: integer("kind").notNull(),
    createdSeq: integer("created_seq").notNull(),
    deletedAt: integer("deleted_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.seq] }), index("tombstones_public").on(table.publicId)],
);

/** Tags of an account and how many files have each. `key` is `fold(name)`. */
export const tags = sqliteTable(
  "tags",
  {
    id: integer("id").primaryKey(),
    accountId: integer("account_id").notNull(),
    key: text("key").notNull(),
    name: text("name").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [uniqueIndex("tags_key").on(table.accountId, table.key)],
);

/** Which file has which tag. */
export const nodeTags = sqliteTable(
  "node_tags",
  { tagId: integer("tag_id").notNull(), nodeId: integer("node_id").notNull() },
  (table) => [primaryKey({ columns: [table.tagId, table.nodeId] })],
);

/** Properties that WebDAV clients store with a file or folder ("dead properties", RFC 4918 section 4.2). */
export const nodeProperties = sqliteTable(
  "node_properties",
  {
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    /** URI of the XML namespace; empty for none. */
    namespace: text("namespace").notNull(),
    name: text("name").notNull(),
    /** The whole property element as XML. It declares every namespace that it uses. */
    value: text("value").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.namespace, table.name] })],
);

/** Blobs whose files an account has deleted, until it has a file with the same content again. */
export const deletedContents = sqliteTable(
  "deleted_contents",
  {
    accountId: integer("account_id").notNull(),
    digest: blob("digest", { mode: "buffer" }).notNull(),
    deletedAt: integer("deleted_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.digest] })],
);

/** Changes by devices with the state before, so that they can be undone (rewind). Stored for 30 days. */
export const undo = sqliteTable(
  "undo",
  {
    accountId: integer("account_id").notNull(),
    deviceId: integer("device_id").notNull(),
    /** Journal number of the change. */
    seq: integer("seq").notNull(),
    /** When, by the account's own clock; for nodes in a deleted folder, when the folder was deleted. */
    at: integer("at").notNull(),
    nodeId: integer("node_id").notNull(),
    publicId: text("public_id").notNull(),
    /** As in `nodes`. */
    kind: integer("kind").notNull(),
    /** create, change, content, delete, reap or restore; see `tree/tables/undo.ts`. */
    what: text("what").notNull(),
    /** JSON of the state before and after. */
    before: text("before").notNull(),
    /** 1 for changes that were rewound, and for those of the rewind itself. */
    rewound: integer("rewound").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.deviceId, table.seq] }),
    index("undo_node").on(table.nodeId),
  ],
);
