import { useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { drawMarkdown } from "../../entries/preview/markdown.ts";
import { MarkdownSheet } from "../../entries/preview/markdown-sheet.tsx";
import { text } from "./text.ts";

/** How long after a change the preview follows. */
const DELAY_MS = 200;

/** The Markdown as it will be shown. It follows the text. */
export function MarkdownPreview({ file, source }: { readonly file: FileRecord; readonly source: string }) {
  const [content, setContent] = useState<DocumentFragment>();
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      void drawMarkdown(source, file).then((drawn) => isCurrent && setContent(drawn));
    }, DELAY_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [source, file]);
  return (
    <section
      aria-label={text.previewOf({ name: file.name })}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- text without links must be scrollable by keyboard
      tabIndex={0}
      className="min-w-0 flex-1 overflow-auto bg-sunken sm:px-4"
    >
      {content !== undefined && <MarkdownSheet content={content} />}
    </section>
  );
}
