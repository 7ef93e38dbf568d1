/**
 * Recognizes moves. Many clients report a moved file as a deletion and an upload. If a call deletes a file and uploads
 * the same bytes to another path, the file is moved and keeps its id.
 */
import type { Digest } from "../../../blobs/digest.ts";
import type { LocalChange } from "../mass-change/types.ts";

/** Changes that are applied together: one change, or both halves of a move. */
export type ChangeUnit =
  | { readonly kind: "single"; readonly index: number }
  | { readonly kind: "move"; readonly upload: number; readonly deletion: number };

/** The state of the account that pairing needs. */
export interface PairingState {
  /** The digest of a file of the account. */
  digestOf(fileId: string): Digest | undefined;
  /** Whether a file other than `fileId` is stored at the upload's path with the upload's content. */
  isStoredElsewhere(upload: LocalChange, fileId: string): boolean;
}

/** The changes in order; a move is where its first half was. Each deletion is paired with the first matching upload. */
export function pairMoves(changes: readonly (LocalChange | undefined)[], serverState: PairingState): ChangeUnit[] {
  const moves = new Map<number, ChangeUnit>();
  const deletions = deletionsByDigest(changes, serverState);
  for (const [upload, change] of changes.entries()) {
    if (change?.action !== "upload" || change.digest === undefined || deletions.size === 0) continue;
    const unpaired = deletions.get(change.digest);
    const deletion = unpaired?.find(({ fileId }) => !serverState.isStoredElsewhere(change, fileId));
    if (unpaired === undefined || deletion === undefined) continue;
    unpaired.splice(unpaired.indexOf(deletion), 1);
    const unit: ChangeUnit = { kind: "move", upload, deletion: deletion.index };
    moves.set(upload, unit);
    moves.set(deletion.index, unit);
  }
  const units = new Set(changes.map((_, index): ChangeUnit => moves.get(index) ?? { kind: "single", index }));
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
