import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { nodes } from "./nodes.ts";

/** Links that open a node without an account. The token itself is kept nowhere: see `features/shares/link-token.ts`. */
export const shares = sqliteTable(
  "shares",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    /** `public`: the one link of a file that is public. */
    kind: text("kind", { enum: ["public"] }).notNull(),
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** When its content was first fetched. */
    downloadedAt: integer("downloaded_at"),
  },
  (table) => [
    uniqueIndex("shares_public").on(table.publicId),
    uniqueIndex("shares_token").on(table.tokenHash),
    index("shares_node").on(table.nodeId),
  ],
);
