import { queryOptions } from "@tanstack/react-query";
import type { ResponseData } from "../api/generated.ts";
import { request } from "../api/http.ts";
import { keys } from "../api/queries.ts";
import type { Entry, FileRecord, FolderRecord } from "../api/types.ts";

const FOLDER_PREFIX = "fold_";

/** The current record of a file or folder, also of one that others share with the account. */
export function entryQuery(id: string) {
  return queryOptions<Entry>({
    queryKey: keys.entry(id, "record"),
    queryFn: ({ signal }) =>
      id.startsWith(FOLDER_PREFIX)
        ? request<FolderRecord>("GET", `/api/files/folders/${id}`, { signal })
        : readFile(id, signal),
  });
}

async function readFile(id: string, signal: AbortSignal): Promise<FileRecord> {
  const info = await request<ResponseData["GET /api/files/{id}"]>("GET", `/api/files/${id}`, { signal });
  // Like in a folder, the two files of a Live Photo are separate: actions are on this one only.
  const record = { ...info, type: "file" as const, motionFileId: null };
  return record;
}
