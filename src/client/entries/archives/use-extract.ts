import type { Entry } from "../../api/types.ts";
import { useGoToFolder } from "../folder-address.ts";
import { useRightsOf } from "../rights.ts";
import { extractArchive } from "./extract.ts";

/**
 * Extracts an archive into one of the person's own folders. By default next to itself if the person may, and into the top
 * folder of their own files otherwise.
 */
export function useExtract(): (file: Pick<Entry, "id">, folderPath?: string) => void {
  const rightsOf = useRightsOf();
  const goToFolder = useGoToFolder();
  return (file, chosen) => {
    const { isOwn, canManage } = rightsOf(file);
    const folderPath = chosen ?? (isOwn || canManage ? undefined : "/");
    const openFolder = isOwn || folderPath !== undefined ? goToFolder : undefined;
    void extractArchive(file, { folderPath, openFolder });
  };
}
