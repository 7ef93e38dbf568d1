/**
 * Moves that come in two halves: many clients see a file that was moved as one that is gone and one that is new. Where
 * a call deletes a file and brings the same bytes at another place, the file is moved and keeps its id.
 */
import type { Digest } from "../../../blobs/digest.ts";
import type { LocalChange } from "../mass-change/types.ts";

/** What is to be done together: one change, or both halves of a move. */
export type Unit =
  | { readonly kind: "single"; readonly index: number }
  | { readonly kind: "move"; readonly upload: number; readonly deletion: number };

/** What pairing needs to know of the tree. */
export interface PairingState {
  /** Digest of a file of the account. */
  digestOf(fileId: string): Digest | undefined;
  /** Whether another file than `fileId` stands at the upload's place with the upload's very content. */
  isStoredBeside(upload: LocalChange, fileId: string): boolean;
}

/**
 * The changes in their order, both halves of a move at the place of the first. Each deletion is paired once, with the
 * first upload that fits.
 */
export function pairMoves(changes: readonly (LocalChange | undefined)[], serverState: PairingState): Unit[] {
  const partner = new Map<number, Unit>();
  const deletions = deletionsByDigest(changes, serverState);
  for (const [upload, change] of changes.entries()) {
    if (change?.action !== "upload" || change.digest === undefined || deletions.size === 0) continue;
    const waiting = deletions.get(change.digest);
    const deletion = waiting?.find(({ fileId }) => !serverState.isStoredBeside(change, fileId));
    if (waiting === undefined || deletion === undefined) continue;
    waiting.splice(waiting.indexOf(deletion), 1);
    const unit: Unit = { kind: "move", upload, deletion: deletion.index };
    partner.set(upload, unit);
    partner.set(deletion.index, unit);
  }
  const units = new Set(changes.map((_, index): Unit => partner.get(index) ?? { kind: "single", index }));
  return [...units];
}

interface Deletion {
  readonly index: number;
  readonly fileId: string;
}

function deletionsByDigest(
  changes: readonly (LocalChange | undefined)[],
  serverState: PairingState,
): Map<Digest, Deletion[]> {
  const found = new Map<Digest, Deletion[]>();
  if (!changes.some((change) => change?.action === "upload")) return found;
  for (const [index, change] of changes.entries()) {
    if (change?.action !== "delete" || change.fileId === undefined) continue;
    const digest = serverState.digestOf(change.fileId);
    if (digest === undefined) continue;
    const deletion = { index, fileId: change.fileId };
    const same = found.get(digest);
    if (same === undefined) found.set(digest, [deletion]);
    else same.push(deletion);
  }
  return found;
}
