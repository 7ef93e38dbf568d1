/** Texts of these routes in the OpenAPI document. */
import { EmptiedRecord, PutRecord, RestoredRecord, TrashRecord } from "./model.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

export const moveToTrash = (): RouteDocs => ({
  tag: "Trash",
  summary: "Put files and folders into the trash",
  description:
    "Each by itself; the call fails where every item failed. What is in the trash is gone from every listing, link, search and sync, holds no name, and counts in usage until it is deleted for good: after 30 days, or as configured.",
  data: PutRecord,
  errors: ["not_found", "invalid_path", "share_permission"],
});

export const list = (): RouteDocs => ({
  tag: "Trash",
  summary: "What is in the trash, what came last in front",
  description: "What is in the trash still counts in the account's usage.",
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  data: TrashRecord,
  errors: ["invalid_field"],
});

export const restore = (): RouteDocs => ({
  tag: "Trash",
  summary: "Take files and folders out of the trash",
  description:
    "Each by itself, with the id, links and versions it had, into the folder it was in, wherever that is now. Where that is gone, into the nearest on its former path that is there. Where its name is taken it gets a numbered one.",
  data: RestoredRecord,
  errors: ["not_found", "invalid_path", "path_too_long"],
});

export const empty = (): RouteDocs => ({
  tag: "Trash",
  summary: "Delete all that is in the trash for good",
  description: "Large trashes are deleted in steps; the request returns when all is deleted.",
  data: EmptiedRecord,
  errors: ["invalid_field"],
});

export const remove = (): RouteDocs => ({
  tag: "Trash",
  summary: "Delete one thing in the trash for good",
  description: "A folder goes with everything below it.",
  data: ref("DeletedNode"),
  errors: ["not_found", "invalid_field"],
});
