/**
 * Finds content that an account stores or stored, to avoid duplicates and the return of content that its user deleted.
 */
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, OnConflict } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";

/** Facts about content that an account stores or stored. */
export interface KnownContents {
  /** Whether a file of the account has this content and size. */
  isStored(accountId: number, digest: Digest, sizeBytes: number): boolean;
  /** Whether its user deleted this content, and no file of the account has it. */
  wasDeleted(accountId: number, digest: Digest): boolean;
  /** Records that damaged content was written again. In a transaction. */
  markWhole(digest: Digest): void;
}

/** A file to be created. */
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
 * The existing file with the same bytes. For an unattended backup that is any file of the account. For a person it is
 * only one with the same name, which would otherwise get a numbered duplicate next to it.
 */
export function findSameFile(
  tree: Pick<TreeReader, "findFileNamed" | "findFileWithContent">,
  { accountId, folderPath, name, digest, onConflict, isAutomatic }: PlannedName,
): FileNode | undefined {
  const named = tree.findFileNamed(accountId, folderPath, name);
  if (named?.digest === digest && (isAutomatic || onConflict === "rename")) return named;
  return isAutomatic ? tree.findFileWithContent(accountId, digest) : undefined;
}

/** The error for an automatic backup that offers content its user deleted. */
export function deletedByYou(digest: Digest): AppError {
  return new AppError(
    "deleted_by_you",
    say`You deleted this file, so it is not backed up again automatically. To restore it, upload it manually.`,
    { checksum: toChecksum(digest) },
  );
}
