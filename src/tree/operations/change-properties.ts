import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { say } from "../../translations/say.ts";
import type { NodeRef } from "../model/types.ts";
import { PROPERTY_BYTES_MAX, type PropertyChange, sizeOfChanges } from "../tables/properties.ts";
import type { TreeStore } from "../tables/store.ts";
import { noteShownChange } from "./refresh-folders.ts";

/** @see TreeWriter.changeProperties */
export function changeProperties(
  store: TreeStore,
  _tx: Transaction,
  ref: NodeRef,
  changes: readonly PropertyChange[],
): void {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound(say`The file or folder was not found.`);
  store.locks.requireUnlocked(node.accountId, node.id);
  // Before anything is written: an XML body of 1 MiB can describe many times as much.
  if (sizeOfChanges(changes) > PROPERTY_BYTES_MAX) throw tooManyBytes();
  const changed = changes.filter((change) => store.properties.change(node.id, change));
  if (changed.length === 0) return;
  noteShownChange(store, node.id);
  if (store.properties.sizeOf(node.id) > PROPERTY_BYTES_MAX) throw tooManyBytes();
}

function tooManyBytes(): AppError {
  return new AppError(
    "quota_exceeded",
    say`The properties of a file or folder can take ${PROPERTY_BYTES_MAX} bytes. Store less, or remove some first.`,
    { limit: PROPERTY_BYTES_MAX },
  );
}
