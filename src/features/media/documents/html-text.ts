import { decodeHTML } from "entities";
import { decodeText } from "./plain-text.ts";
import type { TextSink } from "./text-sink.ts";

/** Elements whose content nobody reads. */
const HIDDEN = "head > :not(title), script, style, template, noscript, svg";
/** Elements that stand on lines of their own. */
const BLOCKS =
  "address, article, aside, blockquote, br, dd, div, dl, dt, fieldset, figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, p, pre, section, table, title, tr, ul";
const CELLS = "td, th";
const CHARSET = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;
const HEAD_BYTES = 2048;

/** Decodes a page: by its byte order mark, else by what it says, else as text of unknown encoding. */
export function decodeHtml(bytes: Uint8Array, isWhole: boolean): string {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD_BYTES));
  const isMarked = head.startsWith("ÿþ") || head.startsWith("þÿ") || head.startsWith("ï»¿");
  const label = isMarked ? undefined : CHARSET.exec(head)?.[1];
  if (label === undefined || /^utf-?(8|16)$/i.test(label)) return decodeText(bytes, isWhole);
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any label may be tried: unknown ones throw
    return new TextDecoder(label as Bun.Encoding).decode(bytes, { stream: !isWhole });
  } catch {
    // A label that nobody knows.
    return decodeText(bytes, isWhole);
  }
}

/** Adds the text of a page, without tags, scripts and styles. */
export function addHtml(html: string, sink: TextSink): void {
  let hidden = 0;
  let pending = "";
  const flush = () => {
    if (pending !== "") sink.add(decodeHTML(pending).replaceAll(/[^\S\n\t]+/g, " "));
    pending = "";
  };
  const breakWith = (character: string) => ({
    element(element: HTMLRewriterTypes.Element) {
      flush();
      if (hidden > 0) return;
      sink.add(character);
      if (element.canHaveContent)
        element.onEndTag(() => {
          flush();
          if (hidden === 0) sink.add(character);
        });
    },
  });
  const rewriter = new HTMLRewriter()
    .on(HIDDEN, {
      element(element) {
        flush();
        if (!element.canHaveContent) return;
        hidden++;
        element.onEndTag(() => {
          hidden--;
        });
      },
    })
    .on(BLOCKS, breakWith("\n"))
    .on(CELLS, breakWith("\t"))
    .onDocument({
      text(chunk) {
        // Line breaks in the source are spaces. A character reference may be cut between two chunks.
        if (hidden === 0) pending += chunk.text.replaceAll(/\s+/g, " ");
        if (chunk.lastInTextNode) flush();
      },
    });
  rewriter.transform(html);
  flush();
}
