import type { Entry, FileRecord } from "../../api/types.ts";

const ZIP_TYPES: ReadonlySet<string> = new Set(["application/zip", "application/x-zip-compressed"]);

/** Whether the server can list and extract a file. */
export function isArchive(entry: Entry): entry is FileRecord {
  return entry.type === "file" && isArchiveType(entry.mimeType);
}

/** Whether files of this type are archives. */
export function isArchiveType(mimeType: string): boolean {
  return ZIP_TYPES.has(mimeType);
}
