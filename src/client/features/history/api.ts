/** API requests for past states, held changes and conflicts. */
import { queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, listQuery } from "../../api/queries.ts";
import type { Entry, Listing } from "../../api/types.ts";

/** POST /api/files/restore */
export type RestoreResult = ResponseData["POST /api/files/restore"];

/** The kinds of changes that a restore makes. */
const CHANGES = ["content", "place", "undelete", "aside", "remove"] as const;

/** Options of a restore. */
export interface RestoreRequest {
  readonly folder: string;
  /** The moment to restore, ISO 8601. */
  readonly at: string;
  readonly removeNew: boolean;
}

/** POST /api/users/devices/{id}/rewind */
export type RewindResult = Schemas["Rewind"];

/** A registered device of the account, or the program of an app password. */
export type Device = Pick<Schemas["Device"], "id" | "name" | "lastActiveAt">;

/** Deletions and replacements by a device that wait for a person's decision. */
export type Hold = Schemas["Holds"]["holds"][number];

/** Entries of a past folder per page. */
const PAGE_SIZE = 100;

/** A page of a folder as it was at a moment. */
export function fetchPast(folder: string, at: string, page: number, signal: AbortSignal): Promise<Listing> {
  const query = { folder, at, sort: "natural", page, limit: PAGE_SIZE };
  return request<Listing>("GET", "/api/files", { query, signal });
}

/** Previews a restore; changes nothing. */
export function restorePlanQuery(options: RestoreRequest) {
  return queryOptions({
    queryKey: [...keys.history, "plan", options.folder, options.at, options.removeNew],
    queryFn: ({ signal }) =>
      request<RestoreResult>("POST", "/api/files/restore", { body: { ...options, dryRun: true }, signal }),
    gcTime: 0,
  });
}

/**
 * Restores a folder, in as many calls as it takes.
 * @returns the number of changes
 * @throws ApiError, OfflineError; what was restored before the error stays restored
 */
export async function restoreFolder(options: RestoreRequest): Promise<number> {
  let changes = 0;
  for (;;) {
    const result = await request<RestoreResult>("POST", "/api/files/restore", { body: { ...options, partial: true } });
    const done = CHANGES.reduce((total, change) => total + result.counts[change], 0);
    changes += done;
    // If one call could change nothing, the next could not either.
    if (!result.hasMore || done === 0) return changes;
  }
}

/**
 * Restores one entry of a past folder: from the trash, or to its content at that time.
 * @throws ApiError, OfflineError
 */
export async function restoreEntry(entry: Entry): Promise<void> {
  if (entry.isDeleted === true) await request("POST", "/api/files/trash/restore", { body: { fileIds: [entry.id] } });
  else if (entry.type === "file") await request("POST", `/api/files/${entry.id}/versions/${entry.version}/restore`);
}

/** The devices and programs of the account, last active first. An app password is a device with the same id. */
export const devicesQuery = queryOptions({
  queryKey: [...keys.appPasswords, "and-devices"],
  queryFn: async ({ signal }): Promise<readonly Device[]> => {
    const [{ devices }, { appPasswords }] = await Promise.all([
      request<ResponseData["GET /api/users/devices"]>("GET", "/api/users/devices", { signal }),
      request<ResponseData["GET /api/users/app-passwords"]>("GET", "/api/users/app-passwords", { signal }),
    ]);
    const programs = appPasswords.map(({ id, name, lastUsedAt, createdAt }) => ({
      id,
      name,
      lastActiveAt: lastUsedAt ?? createdAt,
    }));
    return [...devices, ...programs].toSorted((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt));
  },
});

/**
 * Undoes or previews the changes by a device since a time.
 * @throws ApiError, OfflineError
 */
export function rewindDevice(deviceId: string, since: string, dryRun: boolean): Promise<RewindResult> {
  return request<RewindResult>("POST", `/api/users/devices/${encodeURIComponent(deviceId)}/rewind`, {
    body: { since, dryRun },
  });
}

/** Changes by devices that wait for approval. */
export const holdsQuery = listQuery<Hold>(keys.holds, "/api/users/holds", "holds");

/** @throws ApiError, OfflineError */
export async function decideHold(holdId: string, accept: boolean): Promise<void> {
  await request("POST", `/api/users/holds/${holdId}`, { body: { accept } });
}

/**
 * Ends an app password, and with it what waits for a decision about its program.
 * @throws ApiError, OfflineError
 */
export async function endAppPassword(id: string): Promise<void> {
  await request("DELETE", `/api/users/app-passwords/${id}`);
}

/** One side of a conflict. Fields are null if unknown, or if the file no longer exists. */
export type ConflictSide = Schemas["Conflict"]["local" | "remote"];

/** A change by a device that conflicts with changes by others to the same file. */
export type Conflict = Schemas["Conflict"];

/** Unresolved conflicts. */
export const conflictsQuery = listQuery<Conflict>([...keys.history, "conflicts"], "/api/users/conflicts", "conflicts");

/**
 * Resolves a conflict in favor of one side.
 * @returns whether the device has yet to upload its version
 * @throws ApiError, OfflineError
 */
export async function decideConflict(id: string, resolution: "keep_remote" | "keep_local"): Promise<boolean> {
  const { status } = await request<{ status: "resolved" | "upload_required" }>("POST", `/api/users/conflicts/${id}`, {
    body: { resolution },
  });
  return status === "upload_required";
}
