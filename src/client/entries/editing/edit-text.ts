import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Entry, FileRecord } from "../../api/types.ts";
import { isText } from "../preview/kind.ts";

/** Whether the editor opens a file of this kind. */
export function isEditableText(entry: Entry): entry is FileRecord {
  return entry.type === "file" && isText(entry);
}

/** Opens the editor for a file. With `replace`, Back skips the dialog that was open. */
export function useOpenEditor(): (fileId: string, options?: { readonly replace: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (fileId: string, { replace } = { replace: false }) =>
      void navigate({ to: "/edit/$fileId", params: { fileId }, replace }),
    [navigate],
  );
}
