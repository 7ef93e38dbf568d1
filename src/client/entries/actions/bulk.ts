/** Deeds with many files and folders: in portions that the API takes, each entry by itself. */
import { ApiError, messageOf, request } from "../../api/http.ts";
import type { Entry, FailedItem } from "../../api/types.ts";
import { splitIntoBatches } from "../collection/page-window.ts";

/** The most that one call takes. */
export const BATCH_MAX = 1000;

/** What became of each. */
export interface BulkResult {
  /** As they are now, in order. */
  readonly done: readonly Entry[];
  readonly failed: readonly { readonly id: string; readonly message: string }[];
}

/** How far a deed is; `of` counts entries. */
export type Progress = (done: number, of: number) => void;

/** One call of the API for at most {@link BATCH_MAX} ids. */
type Call = (ids: readonly string[]) => Promise<{ done: readonly Entry[]; failed: readonly FailedItem[] }>;

/**
 * Does something with all of `ids`, portion by portion. Where a portion is refused as a whole its entries are told as
 * failed and the next one is tried: the API says so where it could do none of them.
 * @throws OfflineError, or ApiError of the server's own trouble, where the first portion fails so; later it is told per entry
 */
export async function inBatches(ids: readonly string[], call: Call, progress?: Progress): Promise<BulkResult> {
  const done: Entry[] = [];
  const failed: { id: string; message: string }[] = [];
  let tried = 0;
  for (const batch of splitIntoBatches(ids, BATCH_MAX)) {
    try {
      const result = await call(batch);
      done.push(...result.done);
      failed.push(...result.failed.map(({ id, error }) => ({ id, message: error.message })));
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

/** Moves files and folders into a folder. @throws as {@link inBatches} */
export function moveEntries(ids: readonly string[], destinationFolder: string, progress?: Progress) {
  return inBatches(
    ids,
    async (fileIds) => {
      const body = { fileIds, destinationFolder };
      const { moved, failed } = await request<{ moved: Entry[]; failed: FailedItem[] }>("POST", "/api/files/move", {
        body,
      });
      return { done: moved, failed };
    },
    progress,
  );
}

/** Copies files and folders into a folder; taken names get numbers. @throws as {@link inBatches} */
export function copyEntries(ids: readonly string[], destinationFolder: string, progress?: Progress) {
  return inBatches(
    ids,
    async (fileIds) => {
      const body = { fileIds, destinationFolder };
      // A copy that is asked for twice because an answer was lost is made once.
      const headers = { "idempotency-key": crypto.getRandomValues(new Uint32Array(4)).join("-") };
      const { copied, failed } = await request<{ copied: Entry[]; failed: FailedItem[] }>("POST", "/api/files/copy", {
        body,
        headers,
      });
      return { done: copied, failed };
    },
    progress,
  );
}

/** Puts files and folders into the trash. @throws as {@link inBatches} */
export function trashEntries(ids: readonly string[], progress?: Progress) {
  return inBatches(
    ids,
    async (fileIds) => {
      const { trashed, failed } = await request<{ trashed: Entry[]; failed: FailedItem[] }>(
        "POST",
        "/api/files/trash",
        {
          body: { fileIds },
        },
      );
      return { done: trashed, failed };
    },
    progress,
  );
}

/** Takes files and folders out of the trash. @throws as {@link inBatches} */
export function restoreEntries(ids: readonly string[], progress?: Progress) {
  return inBatches(
    ids,
    async (fileIds) => {
      const { restored, failed } = await request<{ restored: Entry[]; failed: FailedItem[] }>(
        "POST",
        "/api/files/trash/restore",
        { body: { fileIds } },
      );
      return { done: restored, failed };
    },
    progress,
  );
}

/** Gives tags to files and takes others off. @throws as {@link inBatches} */
export function tagEntries(
  ids: readonly string[],
  changes: { readonly add: readonly string[]; readonly remove: readonly string[] },
  progress?: Progress,
) {
  return inBatches(
    ids,
    async (fileIds) => {
      const { updated, failed } = await request<{ updated: Entry[]; failed: FailedItem[] }>("POST", "/api/files/tags", {
        body: { fileIds, ...changes },
      });
      return { done: updated, failed };
    },
    progress,
  );
}

/** Calls a file or folder otherwise. @throws ApiError name_taken, invalid_path; OfflineError */
export function renameEntry(entry: Entry, name: string): Promise<unknown> {
  const path: `/api/${string}` = entry.type === "folder" ? `/api/files/folders/${entry.id}` : `/api/files/${entry.id}`;
  return request("PUT", path, { body: { name } });
}

/** Whether entries may go into a folder: it is not where they all are, and none of them is it or above it. */
export function canMoveInto(entries: readonly Entry[], folder: string): boolean {
  return !entries.every((entry) => entry.folder === folder) && !entries.some((entry) => contains(entry, folder));
}

/** Whether a folder is, or lies below, an entry. */
export function contains(entry: Entry, folder: string): boolean {
  return entry.type === "folder" && (folder === entry.path || folder.startsWith(`${entry.path}/`));
}

/** Ids by the folder that their entries are in: the way back of a move. */
export function groupByFolder(entries: readonly Entry[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const { id, folder } of entries) {
    const ids = folders.get(folder);
    if (ids === undefined) folders.set(folder, [id]);
    else ids.push(id);
  }
  return folders;
}
