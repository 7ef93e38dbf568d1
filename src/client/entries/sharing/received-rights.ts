/** What a share lets its recipient do. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type EntryRights, NO_RIGHTS, OWNER_RIGHTS, type RightsOf } from "../rights.ts";
import { type ReceivedShare, receivedQuery } from "./api.ts";

type Granted = Pick<ReceivedShare, "id" | "permissions" | "versions">;

/** The rights to what is inside a shared folder. */
export function contentRights({ id, permissions, versions }: Granted): EntryRights {
  const canChange = permissions === "write";
  return { isOwn: false, canManage: canChange, canChange, showsVersions: versions, isFileOrFolder: true, share: id };
}

/** The rights to the shared item itself: only its owner renames, moves, or deletes it. */
export function itemRights(share: Granted & Pick<ReceivedShare, "album">): EntryRights {
  return { ...contentRights(share), canManage: false, isFileOrFolder: share.album === undefined, share: undefined };
}

/** An entry of a list with own and received ones. The paths of a received one are below its share. */
interface MixedEntry {
  readonly id: string;
  readonly share?: string;
}

/**
 * The rights in a list with own and received entries.
 * @param hasReceived whether there are any of others, so that their shares have to be known
 */
export function useMixedRights(hasReceived: boolean): RightsOf {
  const { data: shares } = useQuery({ ...receivedQuery, enabled: hasReceived });
  return useMemo(() => {
    const known = new Map(shares?.map((share) => [share.id, share]));
    return ({ id, share }: MixedEntry) => {
      if (share === undefined) return OWNER_RIGHTS;
      const granted = known.get(share);
      // Until the share is known, and after it has ended.
      if (granted === undefined) return NO_RIGHTS;
      const isItem = granted.file?.id === id || granted.folder?.id === id;
      return isItem ? itemRights(granted) : contentRights(granted);
    };
  }, [shares]);
}
