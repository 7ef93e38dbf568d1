/** Texts of these routes in the OpenAPI document. */
import { DOWNLOAD } from "../files/openapi.ts";
import { DeletedVersionRecord, VersionsRecord } from "./model.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const list = (): RouteDocs => ({
  tag: "Versions",
  summary: "The contents of a file, the newest first",
  description:
    "Earlier contents are kept for as long as they are among the last 10 or were replaced within the last 30 " +
    "days (configurable), and count in the usage. For a file that is shared with you, the share must have " +
    "versions: true.",
  data: VersionsRecord,
  errors: ["not_found", "invalid_field", "share_permission"],
});

export const download = (): RouteDocs => ({
  tag: "Versions",
  summary: "The content of one version",
  description: "Everything as when the file itself is downloaded; the present version has a number, too.",
  ...DOWNLOAD,
  errors: [...DOWNLOAD.errors, "share_permission"],
});

export const restore = (): RouteDocs => ({
  tag: "Versions",
  summary: "Make an earlier version the content again",
  description:
    "As a new version: what was the content until now stays as an earlier one. The present version is left as it is.",
  headers: { "If-Match": "Only if the present content has this ETag" },
  data: ref("UploadedFile"),
  errors: ["not_found", "invalid_field", "share_permission", "precondition_failed", "quota_exceeded"],
});

export const remove = (): RouteDocs => ({
  tag: "Versions",
  summary: "Delete an earlier version for good",
  description: "The current version cannot be deleted.",
  data: DeletedVersionRecord,
  errors: ["not_found", "invalid_field", "share_permission", "version_conflict"],
});
