import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { nodes } from "./nodes.ts";

/**
 * Locks of WebDAV clients (RFC 4918, section 6). Rows, so that a restart ends none. An expired lock is ignored
 * and is removed later. Only `tree` writes here.
 */
export const locks = sqliteTable(
  "locks",
  {
    id: integer("id").primaryKey(),
    /** `lck_…`, for the API: it shows no token. */
    publicId: text("public_id").notNull(),
    /** `larder:lock:…` */
    token: text("token").notNull(),
    /** The owner of the node. */
    accountId: integer("account_id").notNull(),
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    /** Row id of the user whose program made the lock. */
    createdBy: integer("created_by").notNull(),
    /** Name of that program's app password. */
    program: text("program"),
    /** The element DAV:owner, with all namespace declarations that it needs. */
    ownerXml: text("owner_xml"),
    /** 0: shared (RFC 4918, section 6.2). */
    isExclusive: integer("is_exclusive").notNull(),
    /** 1 if it also locks everything below a folder. */
    isDeep: integer("is_deep").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("locks_public").on(table.publicId),
    uniqueIndex("locks_token").on(table.token),
    index("locks_node").on(table.nodeId),
    index("locks_account").on(table.accountId, table.expiresAt),
    index("locks_expiry").on(table.expiresAt),
  ],
);
