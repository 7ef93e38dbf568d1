/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RecentRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List recent files",
  description:
    "Your files by their last change or opening, newest first, and the files of others that you opened, while they are " +
    "shared with you. Each file is listed once. A page can have fewer files than `limit` before the end: continue until " +
    "`nextCursor` is null.",
  query: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    cursor: { type: "string", description: "`nextCursor` of the page before" },
  },
  data: RecentRecord,
  errors: ["invalid_field"],
});

export const opened = (): RouteDocs => ({
  tag: "Files",
  summary: "Note that you opened a file",
  description:
    "For your list of recent files; nobody else sees it. The latest 100 are retained. It is stored within a second, so a " +
    "crash can lose it.",
  errors: ["not_found"],
});
