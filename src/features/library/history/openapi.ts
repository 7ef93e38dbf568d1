/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RESTORE_CHANGES_MAX } from "./service.ts";
import { RestoreRecord } from "./model.ts";

export const restore = (): RouteDocs => ({
  tag: "Versions",
  summary: "Bring a folder back to a moment",
  description:
    "With everything below it, in short steps between other requests. It does not start if the quota is too small for " +
    "all of it. If it ends early (the server stopped, for instance), the finished steps stay, and the same call " +
    "continues. Contents that have changed come back as new versions, names and places are " +
    "put back, what is in the trash comes out of it, and what a device deleted is made again (with a new id, as " +
    "long as its bytes are in the store). Nothing is destroyed: what stands in the way is renamed, and what is new " +
    "stays, or goes into the trash with removeNew. What a person deleted for good stays deleted, and so do labels " +
    "as they are now. A dry run answers the same and changes nothing. One's own files only, at most " +
    `${RESTORE_CHANGES_MAX} changes a call.`,
  data: RestoreRecord,
  errors: [
    "invalid_field",
    "invalid_path",
    "path_too_long",
    "invalid_request",
    "not_found",
    "quota_exceeded",
    "overloaded",
  ],
});
