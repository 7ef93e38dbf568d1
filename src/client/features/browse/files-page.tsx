import { useLocation } from "@tanstack/react-router";
import { useCurrentFolder } from "../../entries/folder-address.ts";
import { FolderView } from "./folder-view.tsx";

/** The files page: shows the folder in the address. */
export function FilesPage() {
  const folder = useCurrentFolder();
  const historyKey = useLocation({ select: ({ state, href }) => state.__TSR_key ?? href });
  return <FolderView key={folder} folder={folder} historyKey={historyKey} />;
}
