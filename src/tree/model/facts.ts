import type { FileFacts } from "../../events/catalogue.ts";
import type { FileNode } from "./types.ts";

/** The summary of a file that events carry. */
export function factsOf({ publicId, name, folder, sizeBytes, mediaType, digest }: FileNode): FileFacts {
  return { publicId, name, folder, sizeBytes, mediaType, digest };
}
