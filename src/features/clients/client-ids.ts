import type { NodeEpoch } from "../../tree/tables/node-epochs.ts";

/** The digits of the number in `oc:id`: the clients read the number from the start of the text. */
const NUMBER_DIGITS = 8;

/**
 * Returns the function that makes `oc:id` of a node: its number, and what distinguishes it from nodes with this number in
 * other data directories and in the time before a restore.
 * @param epochs oldest first
 */
export function clientIds(storeId: string, epochs: readonly NodeEpoch[]): (nodeId: number) => string {
  // A letter ends the number that clients read from the start.
  const suffix = `ld${storeId.replace(/[^a-z0-9]/gi, "").slice(0, 10)}`;
  const newestFirst = epochs
    .map(({ afterId, epoch }) => ({ afterId, suffix: `${suffix}${Bun.hash(epoch).toString(36).slice(-6)}` }))
    .toReversed();
  return (nodeId) => {
    const own = newestFirst.find(({ afterId }) => nodeId > afterId)?.suffix ?? suffix;
    return String(nodeId).padStart(NUMBER_DIGITS, "0") + own;
  };
}
