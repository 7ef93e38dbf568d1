/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { TagListRecord, TaggedRecord } from "./model.ts";

export const listTags = (): RouteDocs => ({
  tag: "Files",
  summary: "List the tags of your files, with the number of files",
  description: "Most used first, then by name. Tags that differ only in case are one tag, in its first spelling.",
  data: TagListRecord,
});

export const updateTags = (): RouteDocs => ({
  tag: "Files",
  summary: "Add or remove tags of many files",
  description:
    "1 to 1,000 files per request, each processed separately. The request fails only if every file failed. A file " +
    "has at most 50 tags of 64 characters. Adding a tag that a file has, or removing one that it lacks, changes " +
    "nothing.",
  data: TaggedRecord,
  errors: ["locked", "invalid_field", "not_found", "share_permission"],
});
