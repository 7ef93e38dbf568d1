/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { SYNC_QUERY, SyncResponseBody, SyncStatusRecord } from "./model.ts";

export const status = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the files that changed since a sync token",
  description:
    "Pages are in the order of the last change of each item. They include your own changes, and each id once, in " +
    "its latest state. Save nextSyncToken and use it for the next request until hasMore is false: nothing is " +
    "skipped or repeated while others write.",
  query: SYNC_QUERY,
  data: SyncStatusRecord,
  errors: ["invalid_field", "overloaded"],
});

export const changes = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the files and folders that changed since a sync token, in full",
  description: "In the same order, and with the same token, as GET /api/mobile/sync/status.",
  query: SYNC_QUERY,
  body: SyncResponseBody,
  errors: ["invalid_field", "overloaded"],
});
