/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RESTORE_CHANGES_MAX } from "./service.ts";
import { RestoreRecord } from "./model.ts";

export const restore = (): RouteDocs => ({
  tag: "Versions",
  summary: "Restore a folder to an earlier time",
  description:
    "Restores the folder and everything below it, in short steps. It does not start if the quota is too small. If it is interrupted, the same request continues. Changed files get their earlier content as a new version. Names " +
    "and locations are restored. Items in the trash are restored. Files that a device deleted are created again " +
    "with a new id, if their bytes are still in the store. Nothing is destroyed: items in the way are renamed. " +
    "New items stay, or are moved to the trash with removeNew. Files that a person deleted permanently stay " +
    "deleted. Tags and descriptions stay as they are. A dry run returns the same and changes nothing. Only your " +
    `own files; at most ${RESTORE_CHANGES_MAX} changes per request.`,
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
