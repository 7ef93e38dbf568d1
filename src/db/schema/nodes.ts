import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { accounts } from "./accounts.ts";
import { blobs } from "./blobs.ts";

/** The tree: files and folders. Only `tree` writes here. Every index answers one listing or look-up. */
export const nodes = sqliteTable(
  "nodes",
  {
    /** Never given again: counts written behind and searches under way name nodes by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    /** Null: an account's root, or cut off from the tree (its chain does not end at the root: gone). */
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
     * Journal number of its making. Negative for what was made below the copy of a large folder before that was to be
     * seen: minus the id of the copy, at whose number it appeared.
     */
    createdSeq: integer("created_seq").notNull(),
    /** 0 for folders, so that they too have a place in the sort by size. */
    sizeBytes: integer("size_bytes").notNull(),
    mediaType: text("media_type"),
    blobId: integer("blob_id").references(() => blobs.id),
    version: integer("version"),
    /** When the present content came. */
    contentAt: integer("content_at"),
    /** The user who stored it. */
    contentBy: integer("content_by"),
    /** The device that sent it, where it was one. */
    contentDeviceId: integer("content_device_id"),
    /** The name as uploaded, where it differs from `name`. */
    originalName: text("original_name"),
    /** The file's own modification time on the device that sent it, and when a photo was taken (with its offset), as told (D27). */
    fileModifiedAt: text("file_modified_at"),
    capturedAt: text("captured_at"),
    isPublic: integer("is_public").notNull().default(0),
    /** JSON array, in the order given; null for none: a listing needs no join. */
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
    index("nodes_blob").on(table.blobId, table.accountId).where(sql`blob_id IS NOT NULL`),
    check("nodes_kind", sql`${table.kind} IN (0, 1)`),
  ],
);

/** What only folders have: counts of their children, so that a total needs no scan. */
export const folders = sqliteTable("folders", {
  nodeId: integer("node_id")
    .primaryKey()
    .references(() => nodes.id),
  childFolders: integer("child_folders").notNull().default(0),
  childFiles: integer("child_files").notNull().default(0),
  /** Raised by each change of a direct child. */
  childrenRev: integer("children_rev").notNull().default(0),
  /** Journal number of the last rename or move of this folder. */
  pathSeq: integer("path_seq").notNull().default(0),
  /** How many levels of folders lie below, at most; see `tree/heights.ts`. */
  levelsBelow: integer("levels_below").notNull().default(0),
  /** Bytes of the longest path from here to a folder below, at most. */
  bytesBelow: integer("bytes_below").notNull().default(0),
});

/** Earlier contents of files; the present one is the node's own. */
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
    /** When the next content came: it was the present one until then. */
    replacedAt: integer("replaced_at").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.nodeId, table.version] }), index("versions_blob").on(table.blobId)],
);

/** How often a file was downloaded, and when last. Written behind, at most a second late. */
export const nodeAccess = sqliteTable("node_access", {
  nodeId: integer("node_id").primaryKey(),
  downloads: integer("downloads").notNull(),
  lastAccessedAt: integer("last_accessed_at").notNull(),
});

/** Numbered changes of an account: what synchronisation reads. */
export const journal = sqliteTable(
  "journal",
  {
    accountId: integer("account_id").notNull(),
    seq: integer("seq").notNull(),
    nodeId: integer("node_id").notNull(),
    /** When, by the account's own clock, which never goes back. */
    at: integer("at").notNull().default(0),
    /** The device whose request it was, where it was one. */
    deviceId: integer("device_id"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.seq] })],
);

/** What is left of a deleted node, for as long as a device may still ask. */
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

/** Labels of an account and how many files carry each. `key` is `fold(name)`. */
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

/** Which file carries which label. */
export const nodeTags = sqliteTable(
  "node_tags",
  { tagId: integer("tag_id").notNull(), nodeId: integer("node_id").notNull() },
  (table) => [primaryKey({ columns: [table.tagId, table.nodeId] })],
);

/** Contents that an account has deleted, for as long as it has no file with them again (D25). */
export const deletedContents = sqliteTable(
  "deleted_contents",
  {
    accountId: integer("account_id").notNull(),
    digest: blob("digest", { mode: "buffer" }).notNull(),
    deletedAt: integer("deleted_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.digest] })],
);

/** What devices changed and how it was before, so that it can be undone (rewind). Kept for 30 days. */
export const undo = sqliteTable(
  "undo",
  {
    accountId: integer("account_id").notNull(),
    deviceId: integer("device_id").notNull(),
    /** Journal number of the change. */
    seq: integer("seq").notNull(),
    /** When, by the account's own clock; for what lay in a deleted folder, when that was deleted. */
    at: integer("at").notNull(),
    nodeId: integer("node_id").notNull(),
    publicId: text("public_id").notNull(),
    /** As in `nodes`. */
    kind: integer("kind").notNull(),
    /** create, change, content, delete, reap or restore; see `tree/undo.ts`. */
    what: text("what").notNull(),
    /** JSON: what was before and what came of it. */
    before: text("before").notNull(),
    /** 1 for what was rewound, and for changes of the rewind itself. */
    rewound: integer("rewound").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.deviceId, table.seq] }),
    index("undo_node").on(table.nodeId),
  ],
);
