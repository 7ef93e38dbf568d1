import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { messageOf, request } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import type { Entry, FolderRecord } from "../../api/types.ts";
import { announce } from "../../base/announce.ts";
import { createStore } from "../../base/store.ts";
import { toast, showError } from "../../ui/toast.tsx";
import { idsWithVideos } from "../live.ts";
import { text } from "../text.ts";
import {
  groupByFolder,
  type BulkResult,
  copyEntries,
  type Destination,
  favoriteEntries,
  moveEntries,
  type Progress,
  renameEntry,
  restoreEntries,
  tagEntries,
  trashEntries,
} from "./bulk.ts";
import { showFailures, showRunning } from "./action-status.tsx";

/** Actions on at least this many entries show their progress. */
const SHOWS_PROGRESS_FROM = 200;

/**
 * Ids of entries that are being removed from a list. They are faded at once, and shown normally again if the action
 * fails.
 */
export const entriesBeingRemoved = createStore<ReadonlySet<string>>(new Set());

/** Returns the message of a copy: how many entries were copied, and to which folder. */
type CopyMessage = typeof text.copied;

/** Actions on files and folders. Each shows its result, with a button to undo it where possible. */
export interface EntryActions {
  /**
   * @param to a folder of the same share as the entries, or an own one for own entries
   * @returns the ids of the entries that were moved away
   */
  move(entries: readonly Entry[], to: Destination): Promise<readonly string[]>;
  /** @param options.message says what was done, by default that the copies were made */
  copy(
    entries: readonly Entry[],
    to: Destination,
    options?: { readonly message?: CopyMessage | undefined },
  ): Promise<void>;
  /**
   * @param options.canUndo false for entries of others: only their owner can restore them
   * @returns the ids of the entries that were moved away
   */
  trash(entries: readonly Entry[], options?: { readonly canUndo: boolean }): Promise<readonly string[]>;
  restore(entries: readonly Entry[]): Promise<readonly string[]>;
  tag(entries: readonly Entry[], add: readonly string[], remove: readonly string[]): Promise<void>;
  /** Marks entries as favorites, or removes the marks. */
  favorite(entries: readonly Entry[], isFavorite: boolean): Promise<void>;
  /** @throws ApiError (name_taken and the like), whose message belongs at the field; OfflineError */
  rename(entry: Entry, name: string): Promise<void>;
  /**
   * @param share id of a received share that the path is below
   * @throws as rename
   */
  makeFolder(name: string, path: string, share?: string): Promise<FolderRecord>;
}

/** The actions on files and folders for the current page. */
export function useEntryActions(): EntryActions {
  const queryClient = useQueryClient();
  return useMemo(() => {
    const refresh = () => invalidateTree(queryClient);
    const run = createRunner(refresh);
    return {
      move: (entries, to) => move(run, entries, to),
      copy: (entries, to, options) => copy(run, entries, to, options?.message),
      trash: (entries, { canUndo } = { canUndo: true }) => trash(run, entries, canUndo),
      restore: (entries) => restore(run, entries),
      tag: (entries, add, remove) => tag(run, entries, { add, remove }),
      favorite: (entries, isFavorite) => favorite(run, entries, isFavorite),
      rename: async (entry, name) => {
        await renameEntry(entry, name);
        announce(text.renamed({ name }));
        await refresh();
      },
      makeFolder: async (name, path, share) => {
        const folder = await request<FolderRecord>("POST", "/api/files/folders", { body: { name, path, share } });
        await refresh();
        return folder;
      },
    };
  }, [queryClient]);
}

type Action = (ids: readonly string[], progress: Progress) => Promise<BulkResult>;

/**
 * Runs an action with progress, shows its failures and refreshes all lists. If an action removes entries
 * (`isRemoving`), a second call for the same entries does nothing: the key was pressed twice.
 */
type Run = (requested: readonly Entry[], action: Action, isRemoving?: boolean) => Promise<BulkResult>;

function createRunner(refresh: () => Promise<void>): Run {
  return async (requested, action, isRemoving = false) => {
    const entries = isRemoving ? requested.filter(({ id }) => !entriesBeingRemoved.get().has(id)) : requested;
    if (entries.length === 0) return { done: [], failed: [] };
    const ids = idsWithVideos(entries);
    if (isRemoving) entriesBeingRemoved.update((before) => new Set([...before, ...ids]));
    const progress: Progress = (done, of) => {
      if (of >= SHOWS_PROGRESS_FROM) showRunning({ title: text.working, done, of });
    };
    progress(0, ids.length);
    try {
      const result = await action(ids, progress);
      reportFailures(entries, result);
      await refresh();
      return result;
    } catch (error) {
      showError(error);
      // The action may have succeeded with only the response lost.
      await refresh();
      return { done: [], failed: ids.map((id) => ({ id, message: messageOf(error) })) };
    } finally {
      showRunning(undefined);
      if (isRemoving) entriesBeingRemoved.update((before) => before.difference(new Set(ids)));
    }
  };
}

async function move(run: Run, entries: readonly Entry[], to: Destination): Promise<readonly string[]> {
  const { done } = await run(entries, (ids, progress) => moveEntries(ids, to, progress), true);
  const ids = new Set(idsOf(done));
  const moved = entries.filter(({ id }) => ids.has(id));
  if (moved.length > 0) {
    toast({
      text: text.moved({ n: moved.length, to: destinationName(to) }),
      action: { label: text.undo, run: () => void undoMove(run, moved, to.share) },
    });
  }
  return [...ids];
}

/** @param entries as they were before the move */
async function undoMove(run: Run, entries: readonly Entry[], share: string | undefined): Promise<void> {
  let count = 0;
  for (const [folder, ids] of groupByFolder(entries)) {
    const inFolder = new Set(ids);
    const back = entries.filter(({ id }) => inFolder.has(id));
    const { done } = await run(back, (some, progress) => moveEntries(some, { folder, share }, progress));
    count += countOf(back, done);
  }
  if (count > 0) toast({ text: text.movedBack({ n: count }) });
}

async function copy(run: Run, entries: readonly Entry[], to: Destination, message = text.copied): Promise<void> {
  const { done } = await run(entries, (ids, progress) => copyEntries(ids, to, progress));
  if (done.length === 0) return;
  toast({
    text: message({ n: done.length, to: destinationName(to) }),
    action: { label: text.undo, run: () => void run(done, trashEntries) },
  });
}

async function trash(run: Run, entries: readonly Entry[], canUndo: boolean): Promise<readonly string[]> {
  const { done } = await run(entries, trashEntries, true);
  const ids = new Set(idsOf(done));
  const trashed = entries.filter(({ id }) => ids.has(id));
  if (trashed.length > 0) {
    toast({
      text: text.trashed({ n: trashed.length }),
      ...(canUndo && { action: { label: text.undo, run: () => void restore(run, trashed) } }),
    });
  }
  return [...ids];
}

async function restore(run: Run, entries: readonly Entry[]): Promise<readonly string[]> {
  const { done } = await run(entries, restoreEntries, true);
  if (done.length > 0) toast({ text: text.restored({ n: countOf(entries, done) }) });
  return idsOf(done);
}

async function tag(
  run: Run,
  entries: readonly Entry[],
  changes: { readonly add: readonly string[]; readonly remove: readonly string[] },
): Promise<void> {
  const files = entries.filter((entry) => entry.type === "file");
  const { done } = await run(files, (ids, progress) => tagEntries(ids, changes, progress));
  if (done.length > 0) toast({ text: text.tagged({ n: countOf(files, done) }) });
}

/** How many of these entries are done. The videos of Live Photos don't count. */
function countOf(entries: readonly Entry[], done: readonly Entry[]): number {
  const ids = new Set(idsOf(done));
  return entries.filter(({ id }) => ids.has(id)).length;
}

async function favorite(run: Run, entries: readonly Entry[], isFavorite: boolean): Promise<void> {
  const changing = entries.filter((entry) => (entry.isFavorite === true) !== isFavorite);
  const { done } = await run(changing, (_, progress) => favoriteEntries(changing, isFavorite, progress));
  if (done.length === 0) return;
  toast({
    text: isFavorite ? text.favoritesAdded({ n: done.length }) : text.favoritesRemoved({ n: done.length }),
    action: { label: text.undo, run: () => void run(done, () => favoriteEntries(done, !isFavorite)) },
  });
}

function idsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ id }) => id);
}

/** A destination as the person calls it. The top of a share has no name here. */
function destinationName({ folder, share }: Destination): string {
  return share !== undefined && folder === "/" ? text.sharedFolder : folderName(folder);
}

/** The last name of a path; for the root, the title of the files page. */
export function folderName(folder: string): string {
  return folder.split("/").at(-1) || text.home;
}

function reportFailures(entries: readonly Entry[], { failed }: BulkResult): void {
  if (failed.length === 0) return;
  const names = new Map(entries.map(({ id, name }) => [id, name]));
  const list = failed.map(({ id, message }) => ({ name: names.get(id) ?? id, message }));
  const [only] = list;
  if (list.length === 1 && only !== undefined) {
    toast({ text: `${only.name}: ${only.message}`, tone: "danger" });
    return;
  }
  toast({
    text: text.failedShort({ n: list.length }),
    tone: "danger",
    action: { label: text.showFailed, run: () => showFailures(list) },
  });
}
