/** API requests of the details panel. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, byPage } from "../../api/queries.ts";
import type { Entry, FolderRecord, Pagination } from "../../api/types.ts";

/** Metadata of an image, audio or video file. */
export type Media = Schemas["Media"];

/** GET /api/files/{id} */
export type FileInfo = ResponseData["GET /api/files/{id}"];

/** One event in the history of a file or folder. */
export type Activity = ResponseData["GET /api/files/{id}/activity"]["activity"][number];

/** The full record of a file. */
export function fileInfoQuery(id: string) {
  return queryOptions({
    queryKey: keys.entry(id, "info"),
    queryFn: ({ signal }) => request<FileInfo>("GET", `/api/files/${id}`, { signal }),
  });
}

/** The current record of a folder. */
export function folderInfoQuery(id: string) {
  return queryOptions({
    queryKey: keys.entry(id, "info"),
    queryFn: ({ signal }) => request<FolderRecord>("GET", `/api/files/folders/${id}`, { signal }),
  });
}

/** The activity of an entry, newest first. */
export function activityQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: keys.activity(id),
    queryFn: ({ pageParam, signal }) =>
      request<{ activity: readonly Activity[]; pagination: Pagination }>("GET", `/api/files/${id}/activity`, {
        query: { page: pageParam, limit: 30 },
        signal,
      }),
    ...byPage,
  });
}

/**
 * Sets the description of a file or folder.
 * @throws ApiError, OfflineError
 */
export async function describeEntry(entry: Pick<Entry, "id" | "type">, description: string): Promise<void> {
  const path: `/api/${string}` = entry.type === "folder" ? `/api/files/folders/${entry.id}` : `/api/files/${entry.id}`;
  await request("PUT", path, { body: { description } });
}

/**
 * Sets fields of a file; null removes one.
 * @throws ApiError, OfflineError
 */
export async function changeFields(id: string, metadata: Readonly<Record<string, string | null>>): Promise<void> {
  await request("PUT", `/api/files/${id}`, { body: { metadata } });
}

/**
 * Adds tags to a file or removes them.
 * @throws ApiError, OfflineError
 */
export async function changeTags(
  id: string,
  change: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> {
  await request("POST", "/api/files/tags", { body: { fileIds: [id], ...change } });
}
