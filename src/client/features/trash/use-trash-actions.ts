import { useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import type { TrashedEntry } from "../../api/types.ts";
import { showRunning } from "../../entries/actions/action-status.tsx";
import { useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import type { Collection } from "../../entries/collection/use-collection.ts";
import { confirm } from "../../ui/confirm.tsx";
import { toast, showError } from "../../ui/toast.tsx";
import { deletePermanently } from "./delete-permanently.ts";
import { text } from "./text.ts";

/** The actions on the selected entries of the trash, and on all of it. */
export function useTrashActions(collection: Collection<TrashedEntry>, focusList: () => void) {
  const queryClient = useQueryClient();
  const { restore: restoreEntries } = useEntryActions();

  /** Runs an action, shows its error, and refreshes all lists. */
  const runAction = async (action: () => Promise<void>) => {
    try {
      await action();
    } catch (error) {
      showError(error);
    } finally {
      showRunning(undefined);
      await invalidateTree(queryClient);
      focusList();
    }
  };
  const restore = () =>
    void runAction(async () => {
      collection.forget(await restoreEntries(await collection.resolve()));
    });
  const remove = () =>
    void runAction(async () => {
      // Read before the confirmation, so that nothing is deleted that was trashed after it.
      const entries = await collection.resolve();
      const isSure = await confirm({
        title: text.confirmRemoveTitle({ n: entries.length }),
        body: text.confirmRemoveBody,
        action: text.remove,
        danger: true,
      });
      if (isSure) collection.forget(await deletePermanently(entries));
    });
  const deleteAll = async () => {
    showRunning({ title: text.deleting, done: 0, of: undefined });
    const { deleted } = await request<{ deleted: number }>("DELETE", "/api/files/trash");
    collection.clear();
    toast({ text: text.deletedPermanently({ n: deleted }) });
  };
  const empty = async () => {
    const isSure = await confirm({
      title: text.confirmEmptyTitle,
      body: text.confirmEmptyBody({ n: collection.pages.total ?? 0 }),
      action: text.empty,
      danger: true,
    });
    if (isSure) await runAction(deleteAll);
  };
  return { restore, remove, empty: () => void empty() };
}
