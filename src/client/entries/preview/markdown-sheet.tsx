import { SanitizedContent } from "./sanitized-content.tsx";

/** The sheet that texts are on. */
export const SHEET =
  "mx-auto my-4 w-full max-w-4xl border-y border-line bg-raised px-5 py-6 sm:my-6 sm:rounded-xl sm:border sm:px-10";
const COLORS =
  "[&_.hljs-keyword]:font-semibold [&_.hljs-keyword]:text-accent [&_.hljs-literal]:text-accent [&_.hljs-string]:text-success " +
  "[&_.hljs-number]:text-warning [&_.hljs-comment]:text-muted [&_.hljs-comment]:italic [&_.hljs-title]:text-focus " +
  "[&_.hljs-attr]:text-focus [&_.hljs-attribute]:text-focus [&_.hljs-name]:text-focus [&_.hljs-tag]:text-muted " +
  "[&_.hljs-built\\_in]:text-warning [&_.hljs-type]:text-warning [&_.hljs-meta]:text-muted " +
  "[&_.hljs-section]:font-bold [&_.hljs-addition]:text-success [&_.hljs-deletion]:text-danger";
/** The look of source code. */
export const CODE_CLASS = `font-mono text-sm leading-6 whitespace-pre-wrap break-words ${COLORS}`;
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

/** Rendered Markdown. */
export function MarkdownSheet({ content }: { readonly content: DocumentFragment }) {
  return <SanitizedContent as="article" content={content} className={`${SHEET} ${MARKDOWN_CLASS} ${COLORS}`} />;
}
