/** Texts of these routes in the OpenAPI document. */
import { EmptiedRecord, MovedToTrashRecord, RestoredRecord, TrashRecord } from "./model.ts";
import { TRASH_SORTS } from "../../../tree/queries/trash-list.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const moveToTrash = (): RouteDocs => ({
  tag: "Trash",
  summary: "Move files and folders to the trash",
  description:
    "Each item is processed separately. The request fails only if every item failed. Items in the trash are " +
    "removed from listings, links, search and sync, and their names are free. They count toward the usage until " +
    "they are deleted permanently: after 30 days, or as configured.",
  data: MovedToTrashRecord,
  errors: ["locked", "not_found", "invalid_path", "share_permission"],
});

export const list = (): RouteDocs => ({
  tag: "Trash",
  summary: "List the trash",
  description: "By default newest first. Items in the trash count toward the usage of the account.",
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    sort: { type: "string", enum: [...TRASH_SORTS], default: "deletedAt" },
    order: { type: "string", enum: ["asc", "desc"], description: "By default desc for deletedAt, else asc" },
  },
  data: TrashRecord,
  errors: ["invalid_field"],
});

export const restore = (): RouteDocs => ({
  tag: "Trash",
  summary: "Restore files and folders from the trash",
  description:
    "Each item is processed separately. Id, links and versions stay the same. An item returns to its folder, " +
    "wherever that is now. If the folder no longer exists, it returns to the nearest folder of its former path " +
    "that exists. If its name is taken, it gets a numbered name.",
  data: RestoredRecord,
  errors: ["locked", "not_found", "invalid_path", "path_too_long"],
});

export const empty = (): RouteDocs => ({
  tag: "Trash",
  summary: "Empty the trash",
  description:
    "All items are deleted permanently. A large trash is deleted in steps; the response is sent when all is " +
    "deleted.",
  data: EmptiedRecord,
  errors: ["invalid_field"],
});

export const remove = (): RouteDocs => ({
  tag: "Trash",
  summary: "Delete an item in the trash permanently",
  description: "A folder is deleted with everything below it.",
  data: ref("DeletedNode"),
  errors: ["not_found", "invalid_field"],
});
