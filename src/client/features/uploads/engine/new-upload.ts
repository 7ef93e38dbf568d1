import { CHUNK_SIZES } from "./failures.ts";
import { newId } from "./tabs.ts";
import type { Upload, UploadSource } from "./types.ts";

/** A new upload of a file that goes to `source.path` below `folder`. */
export function newUpload(source: UploadSource, folder: string, share: string | undefined, batch: string): Upload {
  const { file, path } = source;
  return {
    id: newId(),
    batch,
    folder,
    path,
    name: file.name,
    size: file.size,
    mimeType: file.type,
    lastModified: file.lastModified,
    onConflict: "error",
    share,
    url: undefined,
    chunkSize: CHUNK_SIZES[0],
    state: "waiting",
    sent: 0,
    problem: undefined,
    fileId: undefined,
  };
}

/** The metadata with which an upload is created on the server (Upload-Metadata of tus). */
export function metadataOf(upload: Upload): Record<string, string> {
  const parts = upload.path.split("/");
  const filename = parts.at(-1) ?? upload.name;
  return {
    filename,
    folder: upload.folder,
    onConflict: upload.onConflict,
    lastModified: String(upload.lastModified),
    ...(upload.mimeType === "" ? {} : { filetype: upload.mimeType }),
    ...(parts.length > 1 ? { relativePath: upload.path } : {}),
    ...(upload.share === undefined ? {} : { share: upload.share }),
  };
}
