// Renders untrusted Markdown: nothing in it runs, imitates the page, or loads anything.
import createDOMPurify from "dompurify";
import { Marked } from "marked";
import { text } from "./text.ts";

/** The elements that Markdown itself produces. */
const TAGS =
  "h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a ul ol li table thead tbody tr th td input".split(" ");

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    // HTML is shown as source. Even parsing it would trigger content policy reports.
    html: ({ text: html }) => escapeHtml(html),
    // Loading an image would reveal the reader to its server.
    image: ({ text: alt }) => escapeHtml(text.imageLeftOut(alt)),
  },
});
const purify = createDOMPurify(window);

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") return;
  // Links open in a new tab, without a referrer.
  if (!/^(?:https?:|mailto:)/i.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** Renders Markdown: text, lists, tables, code and links, but no HTML of the author. */
export function drawMarkdown(markdown: string): DocumentFragment {
  return purify.sanitize(marked.parse(markdown, { async: false }), {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "align", "start", "type", "checked", "disabled"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);
}
