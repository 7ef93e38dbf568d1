import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { albums } from "./albums.ts";
import { nodes } from "./nodes.ts";
import { users } from "./users.ts";

/** Shares of nodes and albums: by a link, or with another account. Tokens are not stored: see `features/sharing/shares`. */
export const shares = sqliteTable(
  "shares",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    /** The owner of the node or album. */
    accountId: integer("account_id").notNull().default(0),
    nodeId: integer("node_id").references(() => nodes.id, { onDelete: "cascade" }),
    /** Instead of a node. */
    albumId: integer("album_id").references(() => albums.id, { onDelete: "cascade" }),
    /**
     * `public`: the one link of a file that is public. `link`: reads a file or folder. `upload`: a drop box, a folder
     * that accepts files and shows none. `account`: for one other account of this server,
     * or for the members of a group.
     */
    kind: text("kind", { enum: ["public", "link", "upload", "account"] }).notNull(),
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** When its content was first downloaded. */
    downloadedAt: integer("downloaded_at"),
    label: text("label"),
    expiresAt: integer("expires_at"),
    /** argon2id; null for none. */
    passwordHash: text("password_hash"),
    /** Raised whenever share or password change: earlier grants become invalid. */
    grantEpoch: integer("grant_epoch").notNull().default(0),
    /** Null: unlimited. */
    maxDownloads: integer("max_downloads"),
    downloads: integer("downloads").notNull().default(0),
    views: integer("views").notNull().default(0),
    lastAccessedAt: integer("last_accessed_at"),
    /** The version of the file that is shared; null: always the current one. */
    pinnedVersion: integer("pinned_version"),
    /** 1: photos are sent without location and camera data. */
    hidesLocation: integer("hides_location").notNull().default(0),
    /** The total size a drop box accepts; null: what the owner's quota leaves. */
    maxUploadBytes: integer("max_upload_bytes"),
    uploads: integer("uploads").notNull().default(0),
    uploadedBytes: integer("uploaded_bytes").notNull().default(0),
    /** Uploads in progress that a drop box accepts from one address; null: the default. */
    maxUploadsPerAddress: integer("max_uploads_per_address"),
    /** When the owner was last notified of wrong passwords. */
    guessesNotifiedAt: integer("guesses_notified_at"),
    /** 1: an `account` share with write access. */
    canWrite: integer("can_write").notNull().default(0),
    /** 1: an `account` share that includes earlier versions; 0: current versions only; null: as `can_write`. */
    showsVersions: integer("shows_versions"),
    /** Of an `account` share: the case-folded email of the recipient, who may have no account yet, */
    recipientEmailKey: text("recipient_email_key"),
    /** and the recipient's account, once there is one. */
    recipientId: integer("recipient_id").references(() => users.id, { onDelete: "cascade" }),
    /** Instead of an email: the row id of the group in `groups` that it is for. A foreign key, in the migration. */
    groupId: integer("group_id"),
  },
  (table) => [
    uniqueIndex("shares_public").on(table.publicId),
    uniqueIndex("shares_token").on(table.tokenHash),
    index("shares_node").on(table.nodeId),
    index("shares_album").on(table.albumId).where(sql`album_id IS NOT NULL`),
    index("shares_account").on(table.accountId, table.id),
    index("shares_recipient").on(table.recipientId).where(sql`recipient_id IS NOT NULL`),
    index("shares_waiting").on(table.recipientEmailKey).where(sql`recipient_email_key IS NOT NULL`),
    index("shares_group").on(table.groupId).where(sql`group_id IS NOT NULL`),
    index("shares_expiry").on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
    check("shares_target", sql`(node_id IS NULL) <> (album_id IS NULL)`),
  ],
);

/** Addresses that entered the right password of a share in the last 30 days. */
export const shareOpeners = sqliteTable(
  "share_openers",
  {
    shareId: integer("share_id")
      .notNull()
      .references(() => shares.id, { onDelete: "cascade" }),
    /** Of the share's public id and the address, or its /64. */
    addressHash: blob("address_hash", { mode: "buffer" }).notNull(),
    openedAt: integer("opened_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.shareId, table.addressHash] }),
    index("share_openers_age").on(table.openedAt),
  ],
);
