import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { nodes } from "./nodes.ts";
import { users } from "./users.ts";

/** What opens a node for others: by a link, or for another account. A token itself is kept nowhere: see `features/sharing/shares`. */
export const shares = sqliteTable(
  "shares",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    /** Whose node it is. */
    accountId: integer("account_id").notNull().default(0),
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    /**
     * `public`: the one link of a file that is public. `link`: reads a file or folder. `upload`: a drop box, a folder that
     * takes files and shows none. `account`: for one other account of this server.
     */
    kind: text("kind", { enum: ["public", "link", "upload", "account"] }).notNull(),
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** When its content was first fetched. */
    downloadedAt: integer("downloaded_at"),
    label: text("label"),
    expiresAt: integer("expires_at"),
    /** argon2id; null for none. */
    passwordHash: text("password_hash"),
    /** Raised whenever share or password change: grants of before open nothing. */
    grantEpoch: integer("grant_epoch").notNull().default(0),
    /** Null: as many as one likes. */
    maxDownloads: integer("max_downloads"),
    downloads: integer("downloads").notNull().default(0),
    views: integer("views").notNull().default(0),
    lastAccessedAt: integer("last_accessed_at"),
    /** The version of the file that is shown; null follows the latest. */
    pinnedVersion: integer("pinned_version"),
    /** 1: pictures are given without location and camera data (D67). */
    hidesLocation: integer("hides_location").notNull().default(0),
    /** Bytes that a drop box takes in all; null for what the owner's quota leaves. */
    maxUploadBytes: integer("max_upload_bytes"),
    uploads: integer("uploads").notNull().default(0),
    uploadedBytes: integer("uploaded_bytes").notNull().default(0),
    /** Uploads in progress that a drop box takes from one address; null for the default. */
    maxUploadsPerAddress: integer("max_uploads_per_address"),
    /** When the owner was last notified of wrong passwords. */
    guessesNotifiedAt: integer("guesses_notified_at"),
    /** 1: an `account` share that may also be written to. */
    canWrite: integer("can_write").notNull().default(0),
    /** 1: an `account` share that shows earlier contents, too; 0: the present ones alone; null: as `can_write`. */
    showsVersions: integer("shows_versions"),
    /** Of an `account` share: the folded e-mail that it was given to, which may have no account yet, */
    recipientEmailKey: text("recipient_email_key"),
    /** and the account, once there is one. */
    recipientId: integer("recipient_id").references(() => users.id, { onDelete: "cascade" }),
  },
  (table) => [
    uniqueIndex("shares_public").on(table.publicId),
    uniqueIndex("shares_token").on(table.tokenHash),
    index("shares_node").on(table.nodeId),
    index("shares_account").on(table.accountId, table.id),
    index("shares_recipient").on(table.recipientId).where(sql`recipient_id IS NOT NULL`),
    index("shares_waiting").on(table.recipientEmailKey).where(sql`recipient_email_key IS NOT NULL`),
    index("shares_expiry").on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

/** The addresses that gave the right password of a share in the last 30 days. */
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
