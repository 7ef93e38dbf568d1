import { useMutation } from "@tanstack/react-query";
import { request } from "../../../api/http.ts";
import { readRejection } from "../../../api/rejection.ts";
import type { ImportRun } from "../../../entries/imports/states.ts";
import { toast } from "../../../ui/toast.tsx";
import { type NewImport, useRefreshImports } from "./api.ts";
import { text } from "./text.ts";

/** A field of the forms that start an import, as the API names it. */
export type StartField = "fileIds" | "url" | "username" | "secret" | "folder";

const FIELDS: readonly StartField[] = ["fileIds", "url", "username", "secret", "folder"];
const BY_REASON = { forbidden_target: "url", invalid_path: "folder", path_too_long: "folder" } as const;

/** Starts imports. `rejection` says at which field the last attempt failed. */
export function useStart(onStarted: (id: string) => void) {
  const refresh = useRefreshImports();
  const start = useMutation({
    mutationFn: (body: NewImport) => request<ImportRun>("POST", "/api/imports", { body }),
    onSuccess: ({ id }) => {
      toast({ text: text.started, tone: "success" });
      onStarted(id);
    },
    onSettled: refresh,
  });
  return { start, rejection: readRejection(start.error, FIELDS, BY_REASON) };
}
