// What the person may do with the entries of a list. Others decide it for what they share.
import { createContext, useContext } from "react";
import type { Entry } from "../api/types.ts";

/** What the person may do with an entry, within what the role of their account allows. */
export interface EntryRights {
  /** Share it, and add it to albums. */
  readonly isOwn: boolean;
  /** Rename it, and move it to the trash of its owner. */
  readonly canManage: boolean;
  /** Describe and tag it, and restore its versions. */
  readonly canChange: boolean;
  readonly showsVersions: boolean;
  /** False for albums between files and folders: they can only be opened. */
  readonly isFileOrFolder: boolean;
  /** The received share that it is in, below which it can be moved. */
  readonly share: string | undefined;
}

/** The rights to one's own files and folders. */
export const OWNER_RIGHTS: EntryRights = {
  isOwn: true,
  canManage: true,
  canChange: true,
  showsVersions: true,
  isFileOrFolder: true,
  share: undefined,
};

/** The rights to what is only shown: an entry of others whose share is not known. */
export const NO_RIGHTS: EntryRights = {
  isOwn: false,
  canManage: false,
  canChange: false,
  showsVersions: false,
  isFileOrFolder: true,
  share: undefined,
};

/** Whether an entry can be moved: own ones anywhere in the own folders, received ones inside of their share. */
export function canMove({ isOwn, canManage, share }: EntryRights): boolean {
  return canManage && (isOwn || share !== undefined);
}

/** Whether entries can be added to a folder with these rights. */
export function canAddTo({ isOwn, canChange, share }: EntryRights): boolean {
  return canChange && (isOwn || share !== undefined);
}

/** The rights to an entry of the surrounding list. */
export type RightsOf = (entry: Pick<Entry, "id">) => EntryRights;

/** The rights in a list of own entries. */
export const allOwn: RightsOf = () => OWNER_RIGHTS;

/** Set around lists of entries that others share. By default, all entries are the person's own. */
export const RightsContext = createContext(allOwn);

/** The rights to the entries of the surrounding list. */
export function useRightsOf(): RightsOf {
  return useContext(RightsContext);
}

/**
 * What is allowed with all of these entries.
 * @param entries called only if the rights may differ: own lists can be long
 */
export function commonRights(entries: () => Iterable<Pick<Entry, "id">>, rightsOf: RightsOf): EntryRights {
  if (rightsOf === allOwn) return OWNER_RIGHTS;
  let all: Changeable<EntryRights> | undefined;
  for (const entry of entries()) {
    const rights = rightsOf(entry);
    if (all === undefined) {
      all = { ...rights };
      continue;
    }
    if (all.share !== rights.share) all.share = undefined;
    all.isOwn &&= rights.isOwn;
    all.canManage &&= rights.canManage;
    all.canChange &&= rights.canChange;
    all.showsVersions &&= rights.showsVersions;
    all.isFileOrFolder &&= rights.isFileOrFolder;
  }
  return all ?? OWNER_RIGHTS;
}

type Changeable<T> = { -readonly [K in keyof T]: T[K] };
