/**
 * Actions on many files and folders, in batches of the size that the API accepts. The API processes each entry
 * separately.
 */
import { ApiError, messageForReason, messageOf, request } from "../../api/http.ts";
import type { ResponseData } from "../../api/generated.ts";
import type { Entry, FailedItem } from "../../api/types.ts";
import { splitIntoBatches } from "../collection/page-window.ts";

/** The most ids that one API call accepts. */
export const BATCH_MAX = 1000;

/** A folder: an own one or, with the id of a share, a received one. */
export interface Destination {
  readonly folder: string;
  readonly share?: string | undefined;
}

/** The result for each entry. */
export interface BulkResult {
  /** The entries as they are now, in order. */
  readonly done: readonly Entry[];
  readonly failed: readonly { readonly id: string; readonly message: string }[];
}

/** Reports the progress; `of` is the number of entries. */
export type Progress = (done: number, of: number) => void;

/** One API call for at most {@link BATCH_MAX} ids. */
type Call = (ids: readonly string[]) => Promise<{ done: readonly Entry[]; failed: readonly FailedItem[] }>;

/**
 * Calls the API for all `ids`, batch by batch. If a batch is rejected as a whole, its entries count as failed and the
 * next batch follows: the API rejects a batch if it could process none of its entries.
 * @throws OfflineError, or ApiError of a server failure, in the first batch; in later ones the entries count as failed
 */
export async function inBatches(ids: readonly string[], call: Call, progress?: Progress): Promise<BulkResult> {
  const done: Entry[] = [];
  const failed: { id: string; message: string }[] = [];
  let tried = 0;
  for (const batch of splitIntoBatches(ids, BATCH_MAX)) {
    try {
      const result = await call(batch);
      done.push(...result.done);
      failed.push(
        ...result.failed.map(({ id, error }) => ({
          id,
          message: messageForReason(error.details.reason) ?? error.message,
        })),
      );
    } catch (error) {
      const isRejection =
        error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (!isRejection && tried === 0) throw error;
      failed.push(...batch.map((id) => ({ id, message: messageOf(error) })));
    }
    tried += batch.length;
    progress?.(tried, ids.length);
  }
  return { done, failed };
}

/**
 * Moves files and folders into a folder.
 * @throws as {@link inBatches}
 */
export function moveEntries(ids: readonly string[], { folder, share }: Destination, progress?: Progress) {
  return inBatches(ids, call("/api/files/move", "moved", { destinationFolder: folder, share }), progress);
}

/**
 * Copies files and folders into a folder. If a name is taken, the copy gets a number.
 * @throws as {@link inBatches}
 */
export function copyEntries(ids: readonly string[], { folder, share }: Destination, progress?: Progress) {
  return inBatches(ids, call("/api/files/copy", "copied", { destinationFolder: folder, share }), progress);
}

/**
 * Moves files and folders to the trash.
 * @throws as {@link inBatches}
 */
export function trashEntries(ids: readonly string[], progress?: Progress) {
  return inBatches(ids, call("/api/files/trash", "trashed"), progress);
}

/**
 * Restores files and folders from the trash.
 * @throws as {@link inBatches}
 */
export function restoreEntries(ids: readonly string[], progress?: Progress) {
  return inBatches(ids, call("/api/files/trash/restore", "restored"), progress);
}

/**
 * Adds tags to files and removes others.
 * @throws as {@link inBatches}
 */
export function tagEntries(
  ids: readonly string[],
  changes: { readonly add: readonly string[]; readonly remove: readonly string[] },
  progress?: Progress,
) {
  return inBatches(ids, call("/api/files/tags", "updated", changes), progress);
}

/**
 * Marks files and folders as favorites, or removes the marks.
 * @returns what was changed, as it was before
 * @throws as {@link inBatches}
 */
export function favoriteEntries(entries: readonly Entry[], favorite: boolean, progress?: Progress) {
  const known = new Map(entries.map((entry) => [entry.id, entry]));
  const change: Call = async (ids) => {
    const body = { ids, favorite };
    const { changed, failed } = await request<ResponseData["POST /api/favorites"]>("POST", "/api/favorites", { body });
    return { done: changed.flatMap((id) => known.get(id) ?? []), failed };
  };
  return inBatches([...known.keys()], change, progress);
}

type ResultField = "moved" | "copied" | "trashed" | "restored" | "updated";

/** @param field the field of the response that has the entries as they are now */
function call(path: `/api/${string}`, field: ResultField, options: object = {}): Call {
  return async (fileIds) => {
    const response = await request<Record<ResultField, Entry[]> & { failed: FailedItem[] }>("POST", path, {
      body: { fileIds, ...options },
      // Makes a copy only once if the request is repeated after a lost response.
      ...(field === "copied" && {
        headers: { "idempotency-key": crypto.getRandomValues(new Uint32Array(4)).join("-") },
      }),
    });
    return { done: response[field], failed: response.failed };
  };
}

/**
 * Renames a file or folder.
 * @throws ApiError name_taken, invalid_path; OfflineError
 */
export function renameEntry(entry: Entry, name: string): Promise<unknown> {
  const path: `/api/${string}` = entry.type === "folder" ? `/api/files/folders/${entry.id}` : `/api/files/${entry.id}`;
  return request("PUT", path, { body: { name } });
}

/**
 * Whether entries can be moved into a folder: not all of them are in it already, and it is neither one of them nor
 * below one.
 */
export function canMoveInto(entries: readonly Entry[], folder: string): boolean {
  return !entries.every((entry) => entry.folder === folder) && !entries.some((entry) => contains(entry, folder));
}

/** The same for copies too, which may be made in the folder of the entries. */
export function canDropInto(entries: readonly Entry[], folder: string, isCopy: boolean): boolean {
  return isCopy ? !entries.some((entry) => contains(entry, folder)) : canMoveInto(entries, folder);
}

/** Whether a folder is an entry or below it. */
export function contains(entry: Entry, folder: string): boolean {
  // The root folder of a share has the path "/".
  return entry.type === "folder" && `${folder}/`.startsWith(entry.path === "/" ? "/" : `${entry.path}/`);
}

/** The ids of entries by their parent folder, to undo a move. */
export function groupByFolder(entries: readonly Entry[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const { id, folder } of entries) {
    const ids = folders.get(folder);
    if (ids === undefined) folders.set(folder, [id]);
    else ids.push(id);
  }
  return folders;
}
