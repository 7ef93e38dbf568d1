/** API requests for shares: list, create, change and revoke. */
import type { QueryClient } from "@tanstack/react-query";
import type { ResponseData } from "../../api/generated.ts";
import { ApiError, request } from "../../api/http.ts";
import { keys, listQuery } from "../../api/queries.ts";
import type { GridSort } from "../collection/grid-types.ts";
import { PAGE_SIZE } from "../collection/page-window.ts";
import type { Chip } from "../../ui/chip-field.tsx";
import { text } from "./text.ts";
import type { Entry, Pagination, ShareRecord } from "../../api/types.ts";

/** What can be shared: a file, folder or album, from a listing or from a share's record. */
export interface ShareTarget {
  readonly id: string;
  readonly name: string;
  readonly type: Entry["type"] | "album";
  /** Of a file. */
  readonly mimeType?: string;
}

/** Whether photos could be shared with it. Only these have a location to hide. */
export function mayContainPhotos({ type, mimeType }: ShareTarget): boolean {
  return type !== "file" || mimeType === undefined || /^(image|video)\//.test(mimeType);
}

/** The body of POST …/shares and PATCH /api/shares/{id}. */
export interface ShareBody {
  /** Email addresses, and ids of people. */
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
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

/** GET /api/shares/received: a share from another account. */
export type ReceivedShare = ResponseData["GET /api/shares/received"]["shares"][number];

/** The shares of one file or folder. */
export function sharesOfQuery(target: ShareTarget) {
  return listQuery<ShareRecord>(keys.sharesOf(target.id), sharesPath(target), "shares");
}

/** The folders above a file or folder that the account shares too, the nearest first. */
export function coveringFoldersQuery(target: ShareTarget) {
  type CoveringFolder = ResponseData["GET /api/files/{id}/shares"]["inherited"][number];
  return listQuery<CoveringFolder>([...keys.sharesOf(target.id), "inherited"], sharesPath(target), "inherited");
}

/** The order of a list of shares. */
type ShareOrder = Pick<GridSort, "field" | "order">;

/** One page of the shares that the account has created. */
export function fetchShares({ field: sort, order }: ShareOrder, page: number, signal: AbortSignal | undefined) {
  return request<{ shares: readonly ShareRecord[]; pagination: Pagination }>("GET", "/api/shares", {
    query: { sort, order, page, limit: PAGE_SIZE },
    ...(signal !== undefined && { signal }),
  });
}

/** The shares that others have created for the account. */
export const receivedQuery = listQuery<ReceivedShare>(keys.received, "/api/shares/received", "shares");

/** @returns one share, or one for each person and group @throws ApiError, OfflineError */
export async function createShares(target: ShareTarget, body: ShareBody): Promise<readonly ShareRecord[]> {
  const made = await request<ResponseData["POST /api/files/{id}/shares"]>("POST", sharesPath(target), { body });
  return "shares" in made ? made.shares : [made];
}

/** Whether the server lets people find each other; known after the first search. */
let canFindPeople = true;

/** People and groups by name; none if the server does not let people find each other. @throws ApiError, OfflineError */
export async function fetchPeople(searched: string, signal: AbortSignal): Promise<readonly Chip[]> {
  if (!canFindPeople) return [];
  try {
    const { people, groups } = await request<ResponseData["GET /api/users/people"]>("GET", "/api/users/people", {
      query: { q: searched },
      signal,
    });
    return [
      ...groups.map(
        ({ id, name, members }): Chip => ({ id, name, kind: "group", detail: text.groupMembers({ n: members }) }),
      ),
      ...people.map(({ id, name, email }): Chip => {
        return { id, name, kind: "person", ...(email !== undefined && { detail: email }) };
      }),
    ];
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    canFindPeople = false;
    return [];
  }
}

/**
 * Who is in a group that this user shares with; null if the server does not let people find each other, or the share has
 * just ended. @throws ApiError, OfflineError
 */
export async function fetchGroupPeople(groupId: string, signal: AbortSignal) {
  if (!canFindPeople) return null;
  try {
    const path = `/api/users/groups/${groupId}/members` as const;
    return await request<ResponseData["GET /api/users/groups/{id}/members"]>("GET", path, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return null;
  }
}

/** What ending a share means, as text. */
export function revokeBody(share: ShareRecord): string {
  if (share.kind !== "account") return text.revokeLink;
  const { kind, name } = recipientOf(share);
  return text.revokePerson({ person: kind === "group" ? text.groupShare({ name }) : name });
}

/** Whom a share between accounts is for. */
export function recipientOf({ user, person, group }: ShareRecord): Chip {
  if (group !== null) return { ...group, kind: "group" };
  return person === null ? { id: user ?? "", name: user ?? "", kind: "email" } : { ...person, kind: "person" };
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

/** Call after a share was created, changed or revoked. Refreshes lists of shares and the marks of shared entries. */
export async function invalidateShares(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.shares }),
    queryClient.invalidateQueries({ queryKey: keys.files }),
  ]);
}

function sharesPath({ id, type }: ShareTarget): `/api/${string}` {
  if (type === "album") return `/api/albums/${id}/shares`;
  return type === "folder" ? `/api/files/folders/${id}/shares` : `/api/files/${id}/shares`;
}
