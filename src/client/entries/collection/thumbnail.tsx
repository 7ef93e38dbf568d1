import { apiAddress } from "../../api/http.ts";
import type { Entry, FileRecord } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { usePicture } from "../../ui/use-picture.ts";
import { TextPicture, useFirstLines } from "./text-picture.tsx";

/** The thumbnail of an entry, the first lines of a text, or the icon of the type if there is neither (yet). */
export function Thumbnail({ entry, size }: { readonly entry: Entry; readonly size: "small" | "medium" }) {
  if (entry.type === "folder") return <TypeIcon entry={entry} size={size} />;
  if (entry.hasThumbnail) return <Picture file={entry} size={size} />;
  // In a row there is no room for letters.
  return size === "small" ? <TypeIcon entry={entry} size={size} /> : <FirstLines file={entry} />;
}

function FirstLines({ file }: { readonly file: FileRecord }) {
  const lines = useFirstLines(file);
  return lines === "" ? <TypeIcon entry={file} size="medium" /> : <TextPicture file={file} lines={lines} />;
}

function Picture({ file, size }: { readonly file: FileRecord; readonly size: "small" | "medium" }) {
  const { src, hasFailed, onError } = usePicture(thumbnailOf(file, size));
  if (hasFailed) return <TypeIcon entry={file} size={size} />;
  return (
    <img
      key={src}
      src={src}
      alt=""
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={onError}
      className={cx("object-cover", isDocument(file) ? pageClassName(size) : photoClassName(size))}
    />
  );
}

/** Positioned absolutely, so that a tall image doesn't make its tile taller. */
function photoClassName(size: "small" | "medium"): string {
  return size === "small" ? "size-8 rounded-md" : "absolute inset-0 h-full w-full";
}

/** The top of a page says what it is. In a row, a white page on a white background needs an edge to be seen. */
function pageClassName(size: "small" | "medium"): string {
  return cx("object-top", size === "small" ? "mx-1 h-8 w-6 rounded-xs border border-line" : photoClassName(size));
}

function TypeIcon({ entry, size }: { readonly entry: Entry; readonly size: "small" | "medium" }) {
  return (
    <span className={cx("grid place-items-center", size === "small" ? "size-8" : "h-full w-full")} aria-hidden="true">
      <FileIcon mimeType={entry.type === "folder" ? "folder" : entry.mimeType} size={size === "small" ? 24 : 48} />
    </span>
  );
}

/**
 * The version is in the address, so that new content gets a new thumbnail. If a document has none, the server must not send
 * the document, which can be large and is no image.
 */
function thumbnailOf(file: FileRecord, size: "small" | "medium"): string {
  const query = { thumbnail: size, version: file.version };
  return apiAddress(`/api/files/${file.id}/download`, isDocument(file) ? { ...query, fallback: "none" } : query);
}

function isDocument(file: FileRecord): boolean {
  return file.mimeType.startsWith("application/");
}
