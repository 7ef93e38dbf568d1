import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Facts about this database: the identity of its store, the version of `fold`, when it was made. */
export const meta = sqliteTable("meta", { key: text("key").primaryKey(), value: text("value").notNull() });

/** Accepted and refused requests by who was counted and category, one row a second at most: sliding windows after a restart. */
export const rateHits = sqliteTable(
  "rate_hits",
  {
    subject: text("subject").notNull(),
    category: text("category").notNull(),
    at: integer("at").notNull(),
    hits: integer("hits").notNull(),
    rejected: integer("rejected").notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.category, table.at] }), index("rate_hits_at").on(table.at)],
);

/** First answers of requests that carried an Idempotency-Key, for 24 hours. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    accountId: integer("account_id").notNull(),
    key: text("key").notNull(),
    fingerprint: text("fingerprint").notNull(),
    /** JSON of what the deed gave, from which the answer is made again. */
    result: text("result").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.key] }), index("idempotency_keys_age").on(table.createdAt)],
);

/** Scheduled jobs: last run and result. */
export const jobs = sqliteTable("jobs", {
  name: text("name").primaryKey(),
  lastStartedAt: integer("last_started_at"),
  lastFinishedAt: integer("last_finished_at"),
  lastResult: text("last_result"),
  lastError: text("last_error"),
  /** Where the job goes on, in its own words. */
  cursor: text("cursor"),
  /** Set by a command beside the running server; cleared by the run that answers it. */
  requestedAt: integer("requested_at"),
  requestArguments: text("request_arguments"),
});
