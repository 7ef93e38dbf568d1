import { useLocation } from "@tanstack/react-router";
import { pageKeyOf } from "../../base/overlays.ts";
import { useCurrentFolder } from "../../entries/folder-address.ts";
import { FolderView } from "./folder-view.tsx";

/** The files page: shows the folder in the address. */
export function FilesPage() {
  const folder = useCurrentFolder();
  const historyKey = useLocation({ select: pageKeyOf });
  return <FolderView key={folder} folder={folder} historyKey={historyKey} />;
}
