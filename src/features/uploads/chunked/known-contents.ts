/**
 * What an account holds or held, and what follows: nothing is doubled, and nothing comes back that its user deleted.
 */
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, OnConflict } from "../../../tree/model/types.ts";

/** What is known of contents that an account holds or held. */
export interface KnownContents {
  /** Whether a file of the account has this content, of this size. */
  isStored(accountId: number, digest: Digest, sizeBytes: number): boolean;
  /** Whether its user deleted this content, and it is nowhere else in the account. */
  wasDeleted(accountId: number, digest: Digest): boolean;
  /** Notes that a content which failed its last check was written anew. In a transaction. */
  markWhole(digest: Digest): void;
}

/** A file that is about to be made. */
export interface PlannedName {
  readonly accountId: number;
  readonly folderPath: string;
  readonly name: string;
  readonly digest: Digest;
  readonly onConflict: OnConflict;
  /** Sent by an unattended backup. */
  readonly isAutomatic: boolean;
}

/**
 * The file that has the wanted bytes already. For an unattended backup that is any file of the account; for a person
 * only the one that has the wanted name as well, and would otherwise get a numbered neighbour that is its equal.
 */
export function findSameFile(
  tree: Pick<TreeReader, "findFileNamed" | "findFileWithContent">,
  { accountId, folderPath, name, digest, onConflict, isAutomatic }: PlannedName,
): FileNode | undefined {
  const named = tree.findFileNamed(accountId, folderPath, name);
  if (named?.digest === digest && (isAutomatic || onConflict === "rename")) return named;
  return isAutomatic ? tree.findFileWithContent(accountId, digest) : undefined;
}

/** The answer to an unattended backup that offers what its user deleted. */
export function deletedByYou(digest: Digest): AppError {
  return new AppError(
    "deleted_by_you",
    "You deleted this file, so it is not backed up again automatically. To restore it, upload it manually.",
    { checksum: toChecksum(digest) },
  );
}
