import { useQuery } from "@tanstack/react-query";
import type { FileRecord } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { isText } from "../preview/kind.ts";

type TextFile = Pick<FileRecord, "id" | "name" | "mimeType" | "size" | "version" | "checksum" | "contentAvailable">;

/**
 * The first lines of a text file; "" until they are loaded, and for a file that has none. Not for a file of a past moment:
 * its content is not the current one, which is what the server sends. Rich text is text only to a program.
 */
export function useFirstLines(file: TextFile): string {
  const { data = "" } = useQuery({
    queryKey: ["first-lines", file.checksum],
    queryFn: async ({ signal }) => (await import("./text-start.ts")).readTextStart(file, signal),
    enabled: file.size > 0 && file.contentAvailable === undefined && !file.mimeType.endsWith("/rtf") && isText(file),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return data;
}

/** The picture of a text: its first lines in small letters, and the icon of its type. Fills its container. */
export function TextPicture({ file, lines }: { readonly file: TextFile; readonly lines: string }) {
  // The lines of source code and tables are cut, so that the columns stay; the lines of other texts are paragraphs.
  const isProse = file.mimeType === "text/plain" || file.mimeType === "text/markdown";
  return (
    <span aria-hidden="true" data-part="first-lines" className="absolute inset-0 bg-raised select-none">
      <span
        dir="auto"
        className={cx(
          "block h-full overflow-hidden px-3 pt-2.5 font-mono text-[0.5625rem] leading-snug text-muted [tab-size:4]",
          isProse ? "break-words whitespace-pre-wrap" : "whitespace-pre",
        )}
      >
        {lines}
      </span>
      <span className="absolute end-1.5 bottom-1.5 rounded-md border border-line bg-raised p-1">
        <FileIcon mimeType={file.mimeType} size={14} />
      </span>
    </span>
  );
}
