import type { Entry } from "../../api/types.ts";
import { useGoToFolder } from "../folder-address.ts";
import { useRightsOf } from "../rights.ts";
import { extractArchive } from "./extract.ts";

/** Extracts an archive next to itself if the person may, and into their own files otherwise. */
export function useExtract(): (file: Pick<Entry, "id">) => void {
  const rightsOf = useRightsOf();
  const goToFolder = useGoToFolder();
  return (file) => {
    const { isOwn, canManage } = rightsOf(file);
    const isNextToArchive = isOwn || canManage;
    const openFolder = isOwn || !isNextToArchive ? goToFolder : undefined;
    void extractArchive(file, { isNextToArchive, openFolder });
  };
}
