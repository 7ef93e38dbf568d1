import { button, element } from "./dom.ts";
import { text } from "./text.ts";

/**
 * Adds a button that shows the content of a text file. Only on press, because it counts as a download, of which the
 * owner is notified. If it fails, the page says so, and the file can still be downloaded.
 */
export function startReading(root: ParentNode): void {
  const article = root.querySelector<HTMLElement>("[data-text]");
  const placeholder = article?.querySelector(".preview");
  const url = article?.dataset["text"];
  if (!article || !placeholder || url === undefined) return;
  const read = button(text.showText, () => void show(), { className: "button second" });
  const problem = element("p", { className: "wrong", attributes: { role: "alert" } });
  const show = async () => {
    read.disabled = true;
    const content = await readText(url);
    read.disabled = false;
    problem.textContent = content === undefined ? text.textNotLoaded : "";
    if (content === undefined) return;
    const block = textBlock(content, text.content);
    placeholder.replaceWith(block);
    block.focus();
    read.remove();
  };
  const actions = article.querySelector(".actions");
  actions?.append(read);
  actions?.after(problem);
}

/** Fetches the text at an address; undefined if that fails. */
export async function readText(url: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, { credentials: "same-origin", ...(signal !== undefined && { signal }) });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

/** A text block that can be scrolled by keyboard. */
export function textBlock(content: string, label: string): HTMLPreElement {
  return element("pre", {
    className: "text",
    text: content,
    attributes: { tabindex: "0", role: "region", "aria-label": label, dir: "auto" },
  });
}
