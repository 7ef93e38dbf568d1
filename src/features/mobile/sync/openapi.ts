/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { SYNC_QUERY, SyncResponseBody, SyncStatusRecord } from "./model.ts";

const DESCRIPTION =
  "Pages in the order of each one's last change, own changes included; each id once, in its latest state. Keep " +
  "nextSyncToken and ask with it until hasMore is false: nothing is missed or told twice while others write.";

export const status = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Which files have changed since",
  description: DESCRIPTION,
  query: SYNC_QUERY,
  data: SyncStatusRecord,
  errors: ["invalid_field", "overloaded"],
});

export const changes = (): RouteDocs => ({
  tag: "Mobile",
  summary: "What has changed since, files and folders in full",
  description: DESCRIPTION,
  query: SYNC_QUERY,
  body: SyncResponseBody,
  errors: ["invalid_field", "overloaded"],
});
