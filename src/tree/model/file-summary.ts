import type { FileSummary } from "../../events/catalogue.ts";
import type { FileNode } from "./types.ts";

/** The summary of a file that events carry. */
export function summarizeFile({ publicId, name, folder, sizeBytes, mediaType, digest }: FileNode): FileSummary {
  return { publicId, name, folder, sizeBytes, mediaType, digest };
}
