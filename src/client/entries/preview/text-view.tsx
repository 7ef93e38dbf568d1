import { type ReactNode, useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatBytes } from "../../base/format.ts";
import { readText, TEXT_BYTES_MAX, type TextContent } from "./content.ts";
import { SanitizedContent } from "./sanitized-content.tsx";
import { languageOf } from "./kind.ts";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";
import { Loading } from "./loading.tsx";

/** Longer source code is shown without highlighting, which would block the page. */
const HIGHLIGHTED_CHARACTERS_MAX = 256 * 1024;

const SHEET =
  "mx-auto my-4 w-full max-w-4xl border-y border-line bg-raised px-5 py-6 sm:my-6 sm:rounded-xl sm:border sm:px-10";
const COLORS =
  "[&_.hljs-keyword]:font-semibold [&_.hljs-keyword]:text-accent [&_.hljs-literal]:text-accent [&_.hljs-string]:text-success " +
  "[&_.hljs-number]:text-warning [&_.hljs-comment]:text-muted [&_.hljs-comment]:italic [&_.hljs-title]:text-focus " +
  "[&_.hljs-attr]:text-focus [&_.hljs-attribute]:text-focus [&_.hljs-name]:text-focus [&_.hljs-tag]:text-muted " +
  "[&_.hljs-built\\_in]:text-warning [&_.hljs-type]:text-warning [&_.hljs-meta]:text-muted " +
  "[&_.hljs-section]:font-bold [&_.hljs-addition]:text-success [&_.hljs-deletion]:text-danger";
const CODE_CLASS = `font-mono text-sm leading-6 whitespace-pre-wrap break-words ${COLORS}`;
const MARKDOWN_CLASS =
  "text-base leading-7 break-words [&_h1]:mt-6 [&_h1]:mb-3 [&_h1]:text-2xl [&_h1]:font-bold [&_h2]:mt-6 [&_h2]:mb-2 " +
  "[&_h2]:text-xl [&_h2]:font-semibold [&_h3]:mt-4 [&_h3]:mb-2 [&_h3]:text-lg [&_h3]:font-semibold [&_p]:my-3 " +
  "[&_li_ul]:my-0 [&_li_ol]:my-0 [&_ul]:my-3 [&_ul]:list-disc [&_ul]:ps-6 [&_ol]:my-3 [&_ol]:list-decimal [&_ol]:ps-6 [&_a]:text-accent [&_a]:underline " +
  "[&_blockquote]:my-3 [&_blockquote]:border-s-4 [&_blockquote]:border-line-strong [&_blockquote]:ps-4 " +
  "[&_blockquote]:text-muted [&_code]:rounded [&_code]:bg-sunken [&_code]:px-1 [&_code]:font-mono [&_code]:text-sm " +
  "[&_pre]:my-3 [&_pre]:overflow-x-auto [&_pre]:rounded-lg [&_pre]:bg-sunken [&_pre]:p-4 [&_pre_code]:bg-transparent [&_pre_code]:p-0 " +
  // Task lists: the box stands where the bullet would be.
  "[&_li:has(>input)]:list-none [&_li:has(>p>input)]:list-none [&_li_input]:-ms-5 [&_li_input]:me-2 " +
  "[&_img]:inline-block [&_img]:max-w-full [&_img]:rounded-lg [&_hr]:my-6 [&_hr]:border-line " +
  "[&_table]:my-3 [&_table]:border-collapse [&_td]:border [&_td]:border-line [&_td]:px-3 [&_td]:py-1 [&_th]:border " +
  "[&_th]:border-line [&_th]:px-3 [&_th]:py-1 [&_th]:text-start";

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
    <Scroller label={text.textContent(file.name)}>
      {content.isTruncated && (
        <p className="mx-auto max-w-4xl px-4 pt-4 text-sm text-warning sm:px-16">
          {text.truncated(formatBytes(TEXT_BYTES_MAX), formatBytes(file.size))}
        </p>
      )}
      {kind === "markdown" && rendered !== undefined ? (
        <SanitizedContent as="article" content={rendered} className={`${SHEET} ${MARKDOWN_CLASS} ${COLORS}`} />
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
