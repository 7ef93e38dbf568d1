/** Updates the ETags and sizes of folders; see `tables/folder-states.ts`. */
import { FOLDER } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import { fillSizes } from "./fill-sizes.ts";

/** @see TreeWriter.noteShownChange */
export function noteShownChange(store: TreeStore, nodeId: number): void {
  const { account_id: accountId, parent_id: parentId, id, kind } = store.nodes.get(nodeId);
  if (parentId !== null && parentId > 0) store.nodes.states.noteChange(accountId, parentId);
  // A root is in no listing but its own.
  else if (parentId === null && kind === FOLDER) store.nodes.states.noteChange(accountId, id);
}

/** @see TreeWriter.refreshFolders */
export function refreshFolders(store: TreeStore, accountIds: readonly number[]): Promise<void> | undefined {
  const changed = accountIds.filter((accountId) => store.nodes.states.isMarked(accountId));
  return changed.length === 0 ? undefined : refreshAll(store, changed);
}

/** @see TreeWriter.refreshEverything */
export async function refreshEverything(
  store: TreeStore,
  signal: AbortSignal,
): Promise<{ refreshed: number; filled: number }> {
  const { states } = store.nodes;
  let refreshed = 0;
  let accountId = states.nextMarkedAccount(0);
  while (accountId !== undefined && !signal.aborted) {
    refreshed += await refreshAccount(store, accountId);
    accountId = states.nextMarkedAccount(accountId);
  }
  return { refreshed, filled: await fillSizes(store, signal) };
}

async function refreshAll(store: TreeStore, accountIds: readonly number[]): Promise<void> {
  for (const accountId of accountIds) await refreshAccount(store, accountId);
}

/**
 * Refreshes the marked folders of an account, a few per transaction. A transaction that refreshes all has refreshed all that
 * were marked before it, so this ends even while others write. New numbers of folders alone are no
 * reason for another snapshot of the database.
 * @returns the number of refreshed folders
 */
async function refreshAccount({ writer, nodes }: TreeStore, accountId: number): Promise<number> {
  let total = 0;
  for (;;) {
    const { refreshed, isAll } = await writer.run(() => nodes.states.refreshSome(accountId), { isQuiet: true });
    total += refreshed;
    if (isAll) return total;
  }
}
