/** API requests of the details panel. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry, FileRecord, FolderRecord, Pagination } from "../../api/types.ts";

/** Metadata of an image, audio or video file. */
export interface Media {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationSeconds: number | null;
  readonly takenAt: string | null;
  readonly camera: string | null;
  readonly location: { readonly latitude: number; readonly longitude: number } | null;
  readonly codec: string | null;
  /** Bits per second. */
  readonly bitrate: number | null;
  readonly title: string | null;
  readonly artist: string | null;
  readonly album: string | null;
}

/** GET /api/files/{id} */
export interface FileInfo extends Omit<FileRecord, "type"> {
  readonly uploadedAt: string;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  readonly lastAccessedAt: string;
  readonly downloadCount: number;
  readonly owner: { readonly id: string; readonly name: string; readonly email: string };
  readonly media: Media | null;
}

/** One event in the history of a file or folder. */
export interface Activity {
  readonly kind:
    | "created"
    | "content"
    | "renamed"
    | "moved"
    | "trashed"
    | "restored"
    | "shared"
    | "version_deleted"
    | "downloaded";
  readonly at: string;
  readonly by: { readonly id: string; readonly name: string } | null;
  readonly device: { readonly id: string; readonly name: string } | null;
  readonly from?: { readonly name: string; readonly folder: string | null };
  readonly to?: { readonly name: string; readonly folder: string | null };
  readonly version?: number;
  readonly share?: "public" | "link" | "upload" | "account";
}

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
    initialPageParam: 1,
    getNextPageParam: ({ pagination }) => (pagination.hasNext ? pagination.page + 1 : undefined),
  });
}

/** All tags of the account, most used first, as suggestions. */
export const tagsQuery = queryOptions({
  queryKey: keys.tags,
  queryFn: async ({ signal }) => {
    const { tags } = await request<{ tags: readonly { tag: string; count: number }[] }>("GET", "/api/files/tags", {
      signal,
    });
    return tags.map(({ tag }) => tag);
  },
});

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
