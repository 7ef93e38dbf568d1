import hljs from "highlight.js/lib/common";

/**
 * Source code with syntax highlighting, as DOM nodes. The library escapes its input; its output has only span elements.
 */
export function highlight(code: string, language: string): DocumentFragment {
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  const template = document.createElement("template");
  template.innerHTML = value;
  return template.content;
}
