import hljs from "highlight.js/lib/common";

/**
 * Source code with syntax highlighting, as DOM nodes. The library escapes its input; its output has only span elements.
 */
export function highlight(code: string, language: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = highlightHtml(code, language) ?? "";
  return template.content;
}

/** Source code with syntax highlighting, as HTML; undefined for languages that are not known. */
export function highlightHtml(code: string, language: string): string | undefined {
  if (hljs.getLanguage(language) === undefined) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
