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

/** @see TreeWriter.settleFolders */
export function settleFolders(store: TreeStore, accountIds: readonly number[]): Promise<void> | undefined {
  const changed = accountIds.filter((accountId) => store.nodes.states.isMarked(accountId));
  return changed.length === 0 ? undefined : settleAll(store, changed);
}

/** @see TreeWriter.settleEverything */
export async function settleEverything(
  store: TreeStore,
  signal: AbortSignal,
): Promise<{ settled: number; filled: number }> {
  const { states } = store.nodes;
  let settled = 0;
  let accountId = states.nextMarkedAccount(0);
  while (accountId !== undefined && !signal.aborted) {
    settled += await settleAccount(store, accountId);
    accountId = states.nextMarkedAccount(accountId);
  }
  return { settled, filled: await fillSizes(store, signal) };
}

async function settleAll(store: TreeStore, accountIds: readonly number[]): Promise<void> {
  for (const accountId of accountIds) await settleAccount(store, accountId);
}

/**
 * Settles the marked folders of an account, a few per transaction. A transaction that settles all has settled all that
 * were marked before it, so this ends even while others write. New numbers of folders alone are no
 * reason for another snapshot of the database.
 * @returns the number of settled folders
 */
async function settleAccount({ writer, nodes }: TreeStore, accountId: number): Promise<number> {
  let total = 0;
  for (;;) {
    const { settled, isAll } = await writer.run(() => nodes.states.settleSome(accountId), { isQuiet: true });
    total += settled;
    if (isAll) return total;
  }
}
