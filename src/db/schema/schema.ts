/** The whole data model, for drizzle and its migration generator. */
export * from "./accounts.ts";
export * from "./audit.ts";
export * from "./blobs.ts";
export * from "./credentials.ts";
export * from "./devices.ts";
export * from "./history.ts";
export * from "./housekeeping.ts";
export * from "./mail.ts";
export * from "./nodes.ts";
export * from "./notifications.ts";
export * from "./queue.ts";
export * from "./search.ts";
export * from "./shares.ts";
export * from "./sync.ts";
export * from "./uploads.ts";
export * from "./users.ts";
export * from "./webhooks.ts";
