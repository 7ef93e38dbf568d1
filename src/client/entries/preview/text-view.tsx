import { type ReactNode, useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatBytes } from "../../base/format.ts";
import { readText, TEXT_BYTES_MAX, type TextContent } from "./content.ts";
import { CODE_CLASS, MarkdownSheet, SHEET } from "./markdown-sheet.tsx";
import { SanitizedContent } from "./sanitized-content.tsx";
import { languageOf } from "./kind.ts";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";
import { Loading } from "./loading.tsx";

/** Longer source code is shown without highlighting, which would block the page. */
const HIGHLIGHTED_CHARACTERS_MAX = 256 * 1024;

/** Text, highlighted source code, or rendered Markdown; at most the first mebibyte. */
export function TextView({ file, kind }: { readonly file: FileRecord; readonly kind: "markdown" | "code" | "text" }) {
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<
    { content: TextContent; rendered: DocumentFragment | undefined } | { error: unknown }
  >();
  useEffect(() => {
    const controller = new AbortController();
    const load = async (): Promise<void> => {
      const content = await readText(file, controller.signal);
      const rendered = await draw(content.text, kind, file);
      if (!controller.signal.aborted) setOutcome({ content, rendered });
    };
    load().catch((error: unknown) => {
      if (!controller.signal.aborted) setOutcome({ error });
    });
    return () => controller.abort();
  }, [file, kind, attempt]);

  if (outcome === undefined) {
    return <Loading />;
  }
  if ("error" in outcome) {
    const retry = (): void => {
      setOutcome(undefined);
      setAttempt(attempt + 1);
    };
    return <ErrorState error={outcome.error} onRetry={retry} />;
  }
  const { content, rendered } = outcome;
  if (content.isBinary) return <NoPreview file={file} message={text.binary} />;
  return (
    <Scroller label={text.textContent({ name: file.name })}>
      {content.isTruncated && (
        <p className="mx-auto max-w-4xl px-4 pt-4 text-sm text-warning sm:px-16">
          {text.truncated({ size: formatBytes(TEXT_BYTES_MAX), all: formatBytes(file.size) })}
        </p>
      )}
      {kind === "markdown" && rendered !== undefined ? (
        <MarkdownSheet content={rendered} />
      ) : (
        <pre className={`${SHEET} ${CODE_CLASS}`}>
          {rendered === undefined ? content.text : <SanitizedContent as="code" content={rendered} className="" />}
        </pre>
      )}
    </Scroller>
  );
}

/** A scrolled area that can also be scrolled by keys. */
function Scroller({ label, children }: { label: string; children: ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- text without links must be scrollable by keyboard
    <div role="region" aria-label={label} tabIndex={0} className="size-full overflow-auto">
      {children}
    </div>
  );
}

async function draw(content: string, kind: "markdown" | "code" | "text", file: FileRecord) {
  if (kind === "markdown") return (await import("./markdown.ts")).drawMarkdown(content, file);
  const language = languageOf(file.name);
  if (kind === "text" || language === undefined || content.length > HIGHLIGHTED_CHARACTERS_MAX) return undefined;
  return (await import("./highlight.ts")).highlight(content, language);
}
