import type { FileFacts } from "../../events/catalogue.ts";
import type { FileNode } from "./types.ts";

/** A file as events tell of it. */
export function factsOf({ publicId, name, folder, sizeBytes, mediaType, digest }: FileNode): FileFacts {
  return { publicId, name, folder, sizeBytes, mediaType, digest };
}
