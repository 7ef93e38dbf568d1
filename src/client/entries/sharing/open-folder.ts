import { useNavigate } from "@tanstack/react-router";
import { useGoToFolder } from "../folder-address.ts";
import type { Entry } from "../../api/types.ts";
import type { PermittedEntry } from "./received-rights.ts";

/** Opens a folder of a list with own and received ones: received folders have their own page. */
export function useOpenMixedFolder(): (path: string, entry: Entry & Pick<Partial<PermittedEntry>, "share">) => void {
  const goToFolder = useGoToFolder();
  const navigate = useNavigate();
  return (path, { share }) => {
    if (share === undefined) goToFolder(path);
    else void navigate({ to: "/shared/with-me", search: { share, path } });
  };
}
