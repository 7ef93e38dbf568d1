import { errorText } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { typeUnderName, UNKNOWN_MEDIA_TYPE } from "../files/media-type.ts";
import type { Extraction } from "./extraction.ts";
import type { ListedEntry } from "./zip-browser.ts";

/** An extraction, as the API names it. */
export function presentExtraction(extraction: Extraction, request: Request) {
  const { id, fileId, fileName, state, files, filesDone, bytes, bytesDone, startedAtMs, folder, error } = extraction;
  return {
    id,
    fileId,
    fileName,
    state,
    files,
    filesDone,
    bytes,
    bytesDone,
    startedAt: toTimestamp(startedAtMs),
    folder: folder === undefined ? null : { id: folder.publicId, path: folder.path },
    error:
      error === undefined ? null : { reason: error.reason, message: errorText(error, request), details: error.details },
  };
}

/** The media type of a file in an archive: by its name, since its content was not read. */
export function typeInArchive(name: string): string {
  return typeUnderName(UNKNOWN_MEDIA_TYPE, name);
}

/** An entry of a folder of an archive. */
export function presentEntry({ name, path, isFolder, entry }: ListedEntry) {
  return {
    name,
    path,
    type: isFolder ? ("folder" as const) : ("file" as const),
    ...(!isFolder &&
      entry !== undefined && {
        mimeType: typeInArchive(name),
        size: entry.sizeBytes,
        compressedSize: entry.compressedBytes,
      }),
    modifiedAt: entry?.modifiedAtMs === undefined ? null : toTimestamp(entry.modifiedAtMs),
    isEncrypted: entry?.isEncrypted ?? false,
  };
}
