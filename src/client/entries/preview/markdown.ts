// Markdown of strangers: nothing of it runs, looks like a part of the page, or loads anything.
import createDOMPurify from "dompurify";
import { Marked } from "marked";
import { text } from "./text.ts";

/** All that Markdown itself makes. */
const TAGS =
  "h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a ul ol li table thead tbody tr th td input".split(" ");

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    // HTML in it is shown as it was written: parsing it would already report to the content policy.
    html: ({ text: html }) => escapeHtml(html),
    // Loading pictures would tell others who reads.
    image: ({ text: alt }) => escapeHtml(text.imageLeftOut(alt)),
  },
});
const purify = createDOMPurify(window);

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") return;
  // A link leads away from the page, in another tab, and tells nobody where it was.
  if (!/^(?:https?:|mailto:)/i.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** Draws Markdown: words, lists, tables, code and links, and no HTML of its author. */
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
