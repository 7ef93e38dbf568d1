import { blob, integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Pictures of people. */
export const avatars = sqliteTable("avatars", {
  userId: integer("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** SHA-256 of both pictures. */
  digest: blob("digest", { mode: "buffer" }).notNull(),
  /** WebP of 256 × 256 pixels. */
  large: blob("large", { mode: "buffer" }).notNull(),
  /** WebP of 64 × 64 pixels. */
  small: blob("small", { mode: "buffer" }).notNull(),
  changedAt: integer("changed_at").notNull(),
});
