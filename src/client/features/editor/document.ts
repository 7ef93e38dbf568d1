/** Loads and saves the text of a file. */
import type { ResponseData } from "../../api/generated.ts";
import { OfflineError, readError, request } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { contentAddress } from "../../entries/preview/addresses.ts";
import { EDITED_BYTES_MAX, type FileText, readFileText, type TextFormat, writeFileText } from "./text-format.ts";

/** Whether and how a file can be edited: `GET /api/files/{id}/editing`. */
export type EditingState = ResponseData["GET /api/files/{id}/editing"];

/** A text as it is stored, and what a save must match. */
export interface StoredText extends FileText {
  readonly etag: string;
}

/** A file that was opened in the editor. */
export interface OpenedDocument {
  readonly file: FileRecord;
  /** Id of the account that it belongs to. */
  readonly ownerId: string;
  readonly editing: EditingState;
  /** Why the text can't be edited, or the text. */
  readonly content: StoredText | "too-large" | "not-text";
}

/** @throws ApiError | OfflineError; the abort reason of `signal` */
export async function openDocument(id: string, signal: AbortSignal): Promise<OpenedDocument> {
  const [info, editing] = await Promise.all([
    request<ResponseData["GET /api/files/{id}"]>("GET", `/api/files/${id}`, { signal }),
    request<EditingState>("GET", `/api/files/${id}/editing`, { signal }),
  ]);
  const file: FileRecord = Object.assign(info, { type: "file" as const });
  const ownerId = info.owner.id;
  return {
    file,
    ownerId,
    editing,
    content: file.size > EDITED_BYTES_MAX ? "too-large" : await readStored(file, signal),
  };
}

/** The current text of a file. @throws as {@link openDocument} */
export async function readStored(
  file: Pick<FileRecord, "url" | "version">,
  signal?: AbortSignal,
): Promise<OpenedDocument["content"]> {
  // The cache may have another version with the same address: the record is older than the content.
  const response = await fetch(contentAddress(file), { cache: "no-cache", ...(signal && { signal }) }).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw new OfflineError(error);
    },
  );
  if (!response.ok) throw await readError(response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length > EDITED_BYTES_MAX) return "too-large";
  const content = readFileText(bytes);
  const etag = response.headers.get("etag");
  return content === undefined || etag === null ? "not-text" : { ...content, etag };
}

/** What is saved, and over which content. */
interface SavedText {
  readonly text: string;
  readonly format: TextFormat;
  readonly etag: string;
}

/**
 * Stores a text as a new version of the file.
 * @returns the ETag of the new content
 * @throws ApiError `precondition_failed` if the file has other content than that of the ETag; OfflineError
 */
export async function saveDocument(file: FileRecord, { text, format, etag }: SavedText): Promise<string> {
  const { checksum } = await request<{ readonly checksum: string }>("PUT", `/api/files/${file.id}/content`, {
    raw: new Blob([writeFileText(text, format)], { type: file.mimeType }),
    headers: { "if-match": etag },
  });
  return `"${checksum.replace("sha256:", "")}"`;
}
