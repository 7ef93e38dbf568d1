import { useNavigate } from "@tanstack/react-router";
import type { Entry } from "../../api/types.ts";
import type { Destination } from "../actions/bulk.ts";
import { useGoToFolder } from "../folder-address.ts";
import { useRightsOf } from "../rights.ts";
import { loadScript } from "../../ui/lazy-part.ts";
import { showError } from "../../ui/toast.tsx";

/**
 * Extracts an archive into a folder that the person may change. By default next to itself if they may, and into the top
 * folder of their own files otherwise.
 */
export function useExtract(): (file: Pick<Entry, "id">, to?: Destination) => void {
  const rightsOf = useRightsOf();
  const goToFolder = useGoToFolder();
  const navigate = useNavigate();
  return (file, chosen) => {
    const { isOwn, canManage, share: shareOfFile } = rightsOf(file);
    const to = chosen ?? (isOwn || canManage ? undefined : { folder: "/" });
    const share = to === undefined ? shareOfFile : to.share;
    const openFolder = (path: string) => {
      if (share === undefined) goToFolder(path);
      else void navigate({ to: "/shared/with-me", search: { share, path } });
    };
    const isKnown = isOwn || to !== undefined || share !== undefined;
    void loadScript(() => import("./extract.ts"))
      .then(({ extractArchive }) => extractArchive(file, { to, openFolder: isKnown ? openFolder : undefined }))
      .catch(showError);
  };
}
