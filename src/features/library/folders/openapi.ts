/** Texts of these routes in the OpenAPI document. */
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const create = (): RouteDocs => ({
  tag: "Folders",
  summary: "Create a folder",
  status: 201,
  headers: { "Idempotency-Key": "The same key within 24 hours returns the first response again" },
  data: ref("FolderItem"),
  description: "With `share`, the folder is created in what someone shares with you for writing.",
  errors: [
    "locked",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "name_taken",
    "quota_exceeded",
    "idempotency_key",
    "not_found",
    "share_permission",
  ],
});

export const get = (): RouteDocs => ({
  tag: "Folders",
  summary: "Get a folder",
  description: "In a share with you, paths are relative to the shared folder.",
  data: ref("FolderItem"),
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Folders",
  summary: "Rename, move or describe a folder",
  description: "An item that was itself shared with you keeps its name and location.",
  data: ref("FolderItem"),
  errors: [
    "locked",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "not_found",
    "name_taken",
    "quota_exceeded",
    "share_permission",
  ],
});

export const remove = (): RouteDocs => ({
  tag: "Folders",
  summary: "Delete a folder permanently",
  description: "A folder that is not empty requires `recursive=true`.",
  query: { recursive: { type: "boolean", default: false, description: "Required if the folder is not empty" } },
  data: ref("DeletedNode"),
  errors: ["locked", "not_found", "invalid_field", "invalid_path", "folder_not_empty", "share_permission"],
});
