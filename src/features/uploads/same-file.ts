/** Which file makes another one needless: whoever offers again what is there is answered with it, and nothing is doubled. */
import type { Digest } from "../../blobs/digest.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FileNode, OnConflict } from "../tree/types.ts";

/** A file that is about to be made. */
export interface WantedFile {
  readonly accountId: number;
  readonly folderPath: string;
  readonly name: string;
  readonly digest: Digest;
  readonly onConflict: OnConflict;
  /** Sent by an unattended backup. */
  readonly isAutomatic: boolean;
}

/**
 * The file that has the wanted bytes already. For an unattended backup that is any file of the account; for a person only
 * the one that has the wanted name as well, and would otherwise get a numbered neighbour that is its equal.
 */
export function findSameFile(
  tree: Pick<TreeReader, "findFileNamed" | "findFileWithContent">,
  { accountId, folderPath, name, digest, onConflict, isAutomatic }: WantedFile,
): FileNode | undefined {
  const named = tree.findFileNamed(accountId, folderPath, name);
  if (named?.digest === digest && (isAutomatic || onConflict === "rename")) return named;
  return isAutomatic ? tree.findFileWithContent(accountId, digest) : undefined;
}
