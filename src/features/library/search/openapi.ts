/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { QUERY_OF_SEARCH, QUERY_OF_SUGGESTIONS, SEARCH_DESCRIPTION, SearchRecord, SuggestionsRecord } from "./model.ts";

export const search = (): RouteDocs => ({
  tag: "Files",
  summary: "Search by words and filters",
  description: SEARCH_DESCRIPTION,
  query: QUERY_OF_SEARCH,
  data: SearchRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});

export const suggestions = (): RouteDocs => ({
  tag: "Files",
  summary: "Suggest how to continue a search",
  description:
    "Files and folders whose names contain all words, tags, and words in the text of files that begin with what was typed; at most 8 in all. Only of files that you may read. Cancel the request when the next key is pressed.",
  query: QUERY_OF_SUGGESTIONS,
  data: SuggestionsRecord,
  errors: ["overloaded"],
});
