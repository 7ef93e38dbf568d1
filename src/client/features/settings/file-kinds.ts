/** Groups media types into a few familiar kinds. */
import type { Usage } from "../../api/types.ts";

const ARCHIVES = /zip|tar|7z|rar|gzip|bzip2|zstd|compressed|iso9660/;
const DOCUMENTS = /pdf|msword|officedocument|opendocument|ms-excel|ms-powerpoint|rtf|epub/;

/** The kind of a media type. */
export function kindOf(mediaType: string): string {
  const [main = ""] = mediaType.split("/");
  if (["image", "video", "audio", "text"].includes(main)) return main;
  if (DOCUMENTS.test(mediaType)) return "document";
  return ARCHIVES.test(mediaType) ? "archive" : "other";
}

/** The storage usage by kind instead of media type, largest first. */
export function usageByKind(byType: Usage["byType"]): { kind: string; files: number; bytes: number }[] {
  const kinds = new Map<string, { kind: string; files: number; bytes: number }>();
  for (const { type, files, bytes } of byType) {
    const kind = kindOf(type);
    const total = kinds.get(kind) ?? { kind, files: 0, bytes: 0 };
    kinds.set(kind, { kind, files: total.files + files, bytes: total.bytes + bytes });
  }
  return [...kinds.values()].sort((a, b) => b.bytes - a.bytes);
}
