import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/http.ts";
import { keys } from "../api/queries.ts";

/** All tags of the account with the number of files, most used first. */
export const tagsQuery = queryOptions({
  queryKey: keys.tags,
  queryFn: ({ signal }) =>
    request<{ tags: readonly { tag: string; count: number }[] }>("GET", "/api/files/tags", { signal }),
});

/** Parses tags that are separated by commas. */
export function parseTags(input: string): string[] {
  return [...new Set(input.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
}
