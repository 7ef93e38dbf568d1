import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Sign-ins that a client began in a browser. A row is deleted when its result was given or refused, or by age. */
export const loginFlows = sqliteTable(
  "login_flows",
  {
    id: integer("id").primaryKey(),
    /** Digest of the token in the address of the page. */
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** Digest of the token with which the client asks for the result; null if the page gives it. */
    pollHash: blob("poll_hash", { mode: "buffer" }),
    /** What the client calls itself. */
    program: text("program").notNull(),
    clientAddress: text("client_address").notNull(),
    /** The address, or the network of an IPv6 address, by which open flows are counted. */
    addressKey: text("address_key").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    /** Who agreed; null until then. */
    userId: integer("user_id").references(() => users.id, { onDelete: "cascade" }),
    /** JSON of the app password to make, without the password. */
    options: text("options"),
  },
  (table) => [
    uniqueIndex("login_flows_token").on(table.tokenHash),
    uniqueIndex("login_flows_poll").on(table.pollHash).where(sql`poll_hash IS NOT NULL`),
    index("login_flows_address").on(table.addressKey),
    index("login_flows_expiry").on(table.expiresAt),
    index("login_flows_user").on(table.userId).where(sql`user_id IS NOT NULL`),
    check("login_flows_agreed", sql`(user_id IS NULL) = (options IS NULL)`),
  ],
);
