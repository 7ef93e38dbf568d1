import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Entry, FileRecord } from "../../api/types.ts";
import { previewKind } from "../preview/kind.ts";

const TEXT_KINDS: ReadonlySet<string> = new Set(["markdown", "code", "text"]);

/** Whether the editor opens a file of this kind. */
export function isEditableText(entry: Entry): entry is FileRecord {
  return entry.type === "file" && TEXT_KINDS.has(previewKind(entry));
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
