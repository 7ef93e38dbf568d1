// Renders untrusted Markdown: nothing in it runs, imitates the page, or loads anything from elsewhere.
import createDOMPurify from "dompurify";
import { Marked } from "marked";
import type { FileRecord } from "../../api/types.ts";
import { escapeHtml } from "./escape-html.ts";
import { findPictures, picturePath } from "./markdown-pictures.ts";
import { text } from "./text.ts";

/** The elements that Markdown itself produces, and those of highlighted code and of own pictures. */
const TAGS =
  "h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a ul ol li table thead tbody tr th td input span img".split(
    " ",
  );
/** Longer code is shown without highlighting, which would block the page. */
const HIGHLIGHTED_CHARACTERS_MAX = 64 * 1024;
/** A fenced block that names its language. */
const FENCED = /^ {0,3}(?:```|~~~)+[ \t]*[\w#+-]/m;

const purify = createDOMPurify(window);

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "INPUT") node.setAttribute("aria-label", text.task);
  // Only the highlighter's own classes: any other could take the look of the page.
  if (node.hasAttribute("class")) {
    const own = [...node.classList].filter((name) => name.startsWith("hljs-"));
    node.setAttribute("class", own.join(" "));
  }
  if (node.nodeName !== "A") return;
  // Links open in a new tab, without a referrer.
  if (!/^(?:https?:|mailto:)/i.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/**
 * Renders Markdown: text, lists, tables, code, links, and pictures of the same store, but no HTML of the author.
 * @param file the file that the Markdown is from; its pictures are found from its folder
 */
export async function drawMarkdown(markdown: string, file: Pick<FileRecord, "folder">): Promise<DocumentFragment> {
  const highlight = FENCED.test(markdown) ? (await import("./highlight.ts")).highlightHtml : undefined;
  const pictures: string[] = [];
  const marked = new Marked({
    gfm: true,
    async: false,
    renderer: {
      // HTML is shown as source. Even parsing it would trigger content policy reports.
      html: ({ text: html }) => escapeHtml(html),
      image: ({ href, text: alt }) => {
        const path = picturePath(href, file.folder);
        // Loading an image of another server would reveal the reader to that server.
        if (path === undefined) return escapeHtml(describeLeftOut(alt));
        // Without an address yet: the fragment is drawn only when all are known.
        return `<img alt="${escapeHtml(alt)}" title="${pictures.push(path) - 1}">`;
      },
      code: ({ text: code, lang = "" }) => {
        const isShort = code.length <= HIGHLIGHTED_CHARACTERS_MAX;
        const colored = isShort ? highlight?.(code, lang.split(/\s/)[0]?.toLowerCase() ?? "") : undefined;
        return `<pre><code>${colored ?? escapeHtml(code)}\n</code></pre>\n`;
      },
    },
  });
  const fragment = purify.sanitize(marked.parse(markdown, { async: false }), {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "align", "start", "type", "checked", "disabled", "class", "alt"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
  // Code that is wider than the page is scrolled, which must also be possible by keyboard.
  for (const block of fragment.querySelectorAll("pre")) block.tabIndex = 0;
  await fillInPictures(fragment, pictures);
  return fragment;
}

/** Gives each picture its address; those that are not in the store are replaced by their description. */
async function fillInPictures(fragment: DocumentFragment, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const addresses = await findPictures(paths);
  for (const picture of fragment.querySelectorAll("img")) {
    const address = addresses.get(paths[Number(picture.title)] ?? "");
    picture.removeAttribute("title");
    if (address === undefined) picture.replaceWith(describeLeftOut(picture.alt));
    else picture.src = address;
  }
}

/** What stands in place of an image that is not loaded. */
function describeLeftOut(alt: string): string {
  return alt === "" ? text.imageLeftOut : text.describedImageLeftOut({ alt });
}
