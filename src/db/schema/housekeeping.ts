import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Properties of this database: the identity of its store, the version of `fold`, its creation time. */
export const meta = sqliteTable("meta", { key: text("key").primaryKey(), value: text("value").notNull() });

/**
 * Accepted and rejected requests by subject and category, at most one row per second: restores the sliding windows
 * after a restart.
 */
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

/** First responses to requests with an Idempotency-Key, for 24 hours. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    accountId: integer("account_id").notNull(),
    key: text("key").notNull(),
    fingerprint: text("fingerprint").notNull(),
    /** JSON of the result, from which the response is built again. */
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
  /** The job's cursor: where its next run continues. */
  cursor: text("cursor"),
  /** Set by a command next to the running server; cleared by the run that handles it. */
  requestedAt: integer("requested_at"),
  requestArguments: text("request_arguments"),
});

/**
 * Settings that administrators changed in the page. Flags, variables and larder.toml have precedence. A value that is
 * not valid any more is ignored, so the server always starts.
 */
export const settings = sqliteTable("settings", {
  /** The key in the table of settings. Only editable ones are read. */
  key: text("key").primaryKey(),
  /** As it would be written in larder.toml. */
  value: text("value").notNull(),
  changedAt: integer("changed_at").notNull(),
  /** Public id of the administrator. */
  changedBy: text("changed_by").notNull(),
});
