// What the person may do with the entries of a list. Others decide it for what they share.
import { createContext, useContext } from "react";
import type { Entry } from "../api/types.ts";

/** What the person may do with an entry, within what the role of their account allows. */
export interface EntryRights {
  /** Share it, move it, and add it to albums. */
  readonly isOwn: boolean;
  /** Rename it, and move it to the trash of its owner. */
  readonly canManage: boolean;
  /** Describe and tag it, and restore its versions. */
  readonly canChange: boolean;
  readonly showsVersions: boolean;
  /** False for albums between files and folders: they can only be opened. */
  readonly isFileOrFolder: boolean;
}

/** The rights to one's own files and folders. */
export const OWNER_RIGHTS: EntryRights = {
  isOwn: true,
  canManage: true,
  canChange: true,
  showsVersions: true,
  isFileOrFolder: true,
};

/** What others share, in lists that do not know what the share allows: its page offers the rest. */
export const RECEIVED_RIGHTS: EntryRights = {
  ...OWNER_RIGHTS,
  isOwn: false,
  canManage: false,
  canChange: false,
  showsVersions: false,
};

/** The rights to an entry of the surrounding list. */
export type RightsOf = (entry: Pick<Entry, "id">) => EntryRights;

const allOwn: RightsOf = () => OWNER_RIGHTS;

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
  const all = { ...OWNER_RIGHTS };
  for (const entry of entries()) {
    const rights = rightsOf(entry);
    all.isOwn &&= rights.isOwn;
    all.canManage &&= rights.canManage;
    all.canChange &&= rights.canChange;
    all.showsVersions &&= rights.showsVersions;
    all.isFileOrFolder &&= rights.isFileOrFolder;
  }
  return all;
}
