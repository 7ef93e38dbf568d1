/** Texts of these routes in the OpenAPI document. */
import { DOWNLOAD } from "../files/openapi.ts";
import { DeletedVersionRecord, VersionsRecord } from "./model.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const list = (): RouteDocs => ({
  tag: "Versions",
  summary: "List the versions of a file, newest first",
  description:
    "An earlier version is retained while it is one of the last 10, or for 30 days after it was replaced " +
    "(configurable). Versions count toward the usage. For a file that is shared with you, the share must have " +
    "`versions: true`.",
  data: VersionsRecord,
  errors: ["not_found", "invalid_field", "share_permission"],
});

export const download = (): RouteDocs => ({
  tag: "Versions",
  summary: "Download a version of a file",
  description: "Works like the download of the file. The current version also has a number.",
  ...DOWNLOAD,
  errors: [...DOWNLOAD.errors, "share_permission"],
});

export const restore = (): RouteDocs => ({
  tag: "Versions",
  summary: "Restore an earlier version",
  description:
    "Its content becomes a new version, and the current content an earlier version. Restoring the current version " +
    "changes nothing.",
  headers: { "If-Match": "Only if the current content has this ETag" },
  data: ref("UploadedFile"),
  errors: ["locked", "not_found", "invalid_field", "share_permission", "precondition_failed", "quota_exceeded"],
});

export const remove = (): RouteDocs => ({
  tag: "Versions",
  summary: "Delete an earlier version permanently",
  description: "The current version cannot be deleted.",
  data: DeletedVersionRecord,
  errors: ["not_found", "invalid_field", "share_permission", "version_conflict"],
});
