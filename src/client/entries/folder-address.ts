import { useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";

/** The folder in the address of the files page. */
export function useCurrentFolder(): string {
  const { _splat: path = "" } = useParams({ strict: false });
  const names = path.split("/").filter((name) => name !== "");
  return `/${names.join("/")}`;
}

/** A folder's path as the router's parameter: without the leading slash. */
export function folderParam(folder: string): string {
  return folder.replace(/^\//, "");
}

/** Goes to the page of a folder. */
export function useGoToFolder(): (folder: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (folder: string) => {
      if (folder === "/") void navigate({ to: "/files" });
      else void navigate({ to: "/files/$", params: { _splat: folderParam(folder) } });
    },
    [navigate],
  );
}

/** The parent folder; the root for the root itself. */
export function parentOf(folder: string): string {
  return folder.slice(0, Math.max(1, folder.lastIndexOf("/")));
}
