/** Texts of these routes in the OpenAPI document. */
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const create = (): RouteDocs => ({
  tag: "Folders",
  summary: "Make a folder",
  status: 201,
  headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
  data: ref("FolderItem"),
  description: "With share it is made in what somebody shares with you for writing.",
  errors: [
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
  summary: "All about a folder",
  description: "In what others share with you, paths begin at the share: a shared folder is /.",
  data: ref("FolderItem"),
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Folders",
  summary: "Rename, move or describe a folder",
  description: "What was itself shared with you keeps its name and place.",
  data: ref("FolderItem"),
  errors: [
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
  summary: "Delete a folder for good",
  description: "A folder that is not empty needs `recursive=true`.",
  query: { recursive: { type: "boolean", default: false, description: "Needed where it is not empty" } },
  data: ref("DeletedNode"),
  errors: ["not_found", "invalid_field", "invalid_path", "folder_not_empty", "share_permission"],
});
