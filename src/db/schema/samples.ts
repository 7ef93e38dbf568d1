import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** The statistics of the server, one row per day; the totals are those of the last sample of the day. */
export const dailySamples = sqliteTable("daily_samples", {
  /** Days since 1970, UTC. */
  day: integer("day").primaryKey(),
  sampledAt: integer("sampled_at").notNull(),
  users: integer("users").notNull(),
  activeUsers: integer("active_users").notNull(),
  files: integer("files").notNull(),
  folders: integer("folders").notNull(),
  usedBytes: integer("used_bytes").notNull(),
  versionsBytes: integer("versions_bytes").notNull(),
  trashBytes: integer("trash_bytes").notNull(),
  /** Blobs in the store; equal content counts once. */
  contents: integer("contents").notNull(),
  storedBytes: integer("stored_bytes").notNull(),
  diskFreeBytes: integer("disk_free_bytes").notNull(),
  diskTotalBytes: integer("disk_total_bytes").notNull(),
  /** Transfers of the month up to this sample: a day is the difference to the previous sample. */
  uploads: integer("uploads").notNull(),
  uploadedBytes: integer("uploaded_bytes").notNull(),
  downloads: integer("downloads").notNull(),
  downloadedBytes: integer("downloaded_bytes").notNull(),
});
