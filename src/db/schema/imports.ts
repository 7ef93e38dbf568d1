import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Imports from other systems. */
export const importRuns = sqliteTable(
  "import_runs",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    kind: text("kind").notNull(),
    /** Who began it: `account`, `administrator`, or `command`. */
    origin: text("origin").notNull(),
    /** What it reads, as people call it. */
    source: text("source").notNull(),
    /** JSON: what it needs to continue, without secrets. */
    request: text("request").notNull(),
    state: text("state").notNull(),
    /** Why it stopped; null if it did not. */
    message: text("message"),
    /** JSON. */
    counts: text("counts").notNull(),
    createdAt: integer("created_at").notNull(),
    changedAt: integer("changed_at").notNull(),
    endedAt: integer("ended_at"),
  },
  (table) => [
    uniqueIndex("import_runs_public").on(table.publicId),
    index("import_runs_account").on(table.accountId, table.id),
  ],
);

/** What a run did not import: the first of them. */
export const importProblems = sqliteTable(
  "import_problems",
  {
    runId: integer("run_id")
      .notNull()
      .references(() => importRuns.id, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    name: text("name").notNull(),
    reason: text("reason").notNull(),
    message: text("message").notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.number] })],
);

/** What was imported, so that no run imports it again. A row stays when its file is deleted. */
export const importItems = sqliteTable(
  "import_items",
  {
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** 16 bytes: a digest of the source and of what names the file there. */
    key: blob("key").notNull(),
    version: text("version").notNull(),
    /** The file as it was stored; it may be gone. */
    nodeId: integer("node_id").notNull(),
    digest: blob("digest").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index("import_items_digest").on(table.accountId, table.digest),
  ],
);
