/** Texts of these routes in the OpenAPI document. */
import { t } from "elysia";
import type { RouteDocs } from "../../../http/documented.ts";
import { LockRecord } from "./model.ts";

export const listLocks = (): RouteDocs => ({
  tag: "Users",
  summary: "List the WebDAV locks on your files",
  data: t.Object({ locks: t.Array(LockRecord) }),
});

export const endLock = (): RouteDocs => ({
  tag: "Users",
  summary: "End a WebDAV lock",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
