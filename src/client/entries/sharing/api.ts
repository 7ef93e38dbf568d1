/** Shares as the API has them: asking for them, making, changing and ending them. */
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry, FileRecord, FolderRecord, Pagination, ShareRecord } from "../../api/types.ts";

/** What a share can be made of: a file or folder, as lists have it or by what a share tells of it. */
export type ShareTarget = Pick<Entry, "id" | "name" | "type">;

/** What POST …/shares and PATCH /api/shares/{id} take. */
export interface ShareBody {
  readonly user?: string;
  readonly permissions?: "read" | "upload" | "write";
  readonly label?: string | null;
  readonly expiresAt?: string | null;
  readonly expiresIn?: string;
  readonly password?: string | null;
  readonly maxDownloads?: number | null;
  readonly maxUploadBytes?: number | null;
  readonly maxUploadsPerAddress?: number;
  readonly hideLocation?: boolean;
  readonly pinned?: boolean;
  readonly versions?: boolean;
}

/** GET /api/shares/received: what somebody else shares with the account. */
export interface ReceivedShare {
  readonly id: string;
  readonly permissions: "read" | "write";
  readonly versions: boolean;
  readonly owner: { readonly id: string; readonly name: string; readonly email: string };
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly label: string | null;
  readonly file?: FileRecord;
  readonly folder?: FolderRecord;
}

/** Shares of the page "Shared by me" that are asked for at once. */
export const SHARES_PER_PAGE = 50;

/** The shares of one file or folder. */
export function sharesOfQuery(target: ShareTarget) {
  return queryOptions({
    queryKey: keys.sharesOf(target.id),
    queryFn: async ({ signal }) => {
      const { shares } = await request<{ shares: readonly ShareRecord[] }>("GET", sharesPath(target), { signal });
      return shares;
    },
  });
}

/** One page of all that the account shares, newest first. */
export function fetchShares(page: number, signal: AbortSignal) {
  return request<{ shares: readonly ShareRecord[]; pagination: Pagination }>("GET", "/api/shares", {
    query: { page, limit: SHARES_PER_PAGE },
    signal,
  });
}

/** What others share with the account. */
export const receivedQuery = queryOptions({
  queryKey: keys.received,
  queryFn: async ({ signal }) => {
    const { shares } = await request<{ shares: readonly ReceivedShare[] }>("GET", "/api/shares/received", { signal });
    return shares;
  },
});

/** @throws ApiError, OfflineError */
export function createShare(target: ShareTarget, body: ShareBody): Promise<ShareRecord> {
  return request<ShareRecord>("POST", sharesPath(target), { body });
}

/** @throws ApiError, OfflineError */
export function updateShare(id: string, body: ShareBody): Promise<ShareRecord> {
  return request<ShareRecord>("PATCH", `/api/shares/${id}`, { body });
}

/** @throws ApiError, OfflineError */
export async function revokeShare(id: string): Promise<void> {
  await request("DELETE", `/api/shares/${id}`);
}

/** @throws ApiError, OfflineError */
export async function leaveShare(id: string): Promise<void> {
  await request("DELETE", `/api/shares/received/${id}`);
}

/** After a share was made, changed or ended: lists of shares, and the marks of what is shared. */
export async function invalidateShares(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.shares }),
    queryClient.invalidateQueries({ queryKey: keys.files }),
  ]);
}

function sharesPath({ id, type }: ShareTarget): `/api/${string}` {
  return type === "folder" ? `/api/files/folders/${id}/shares` : `/api/files/${id}/shares`;
}
