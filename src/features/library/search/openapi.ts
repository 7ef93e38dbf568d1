/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { QUERY_OF_SEARCH, SEARCH_DESCRIPTION, SearchRecord } from "./model.ts";

export const search = (): RouteDocs => ({
  tag: "Files",
  summary: "Search by words and filters",
  description: SEARCH_DESCRIPTION,
  query: QUERY_OF_SEARCH,
  data: SearchRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});
