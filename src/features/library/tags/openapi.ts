/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { TagListRecord, TaggedRecord } from "./model.ts";

export const listTags = (): RouteDocs => ({
  tag: "Files",
  summary: "The tags of one's own files, and how many carry each",
  description: "Most used first, then by name. Upper and lower case are one tag, in its first spelling.",
  data: TagListRecord,
});

export const updateTags = (): RouteDocs => ({
  tag: "Files",
  summary: "Give tags to many files, or take them off",
  description:
    "Each file by itself, 1 to 1,000 a call; the call fails where every file failed. " +
    "A file has at most 50 tags of 64 characters; what a file has or lacks already is no change of it.",
  data: TaggedRecord,
  errors: ["invalid_field", "not_found", "share_permission"],
});
