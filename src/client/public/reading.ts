import { button, element } from "./dom.ts";

/**
 * Offers to show the text of a file in place of its sign: at a press, since that is a download, which the owner is told of.
 * Where that fails the page says so; the file can still be downloaded.
 */
export function startReading(root: ParentNode): void {
  const article = root.querySelector<HTMLElement>("[data-text]");
  const place = article?.querySelector(".preview");
  const url = article?.dataset["text"];
  if (!article || !place || url === undefined) return;
  const read = button("Show text", () => void show(), { className: "button second" });
  const problem = element("p", { className: "wrong", attributes: { role: "alert" } });
  const show = async () => {
    read.disabled = true;
    const text = await readText(url);
    read.disabled = false;
    problem.textContent = text === undefined ? "Couldn't load the text. Reload the page and try again." : "";
    if (text === undefined) return;
    const block = textBlock(text, "File content");
    place.replaceWith(block);
    block.focus();
    read.remove();
  };
  const actions = article.querySelector(".actions");
  actions?.append(read);
  actions?.after(problem);
}

/** The text behind an address of ours; undefined where it can't be had. */
export async function readText(url: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { credentials: "same-origin", ...(signal !== undefined && { signal }) });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/** A text as it is, which can be scrolled by keyboard. */
export function textBlock(text: string, label: string): HTMLPreElement {
  return element("pre", {
    className: "text",
    text,
    attributes: { tabindex: "0", role: "region", "aria-label": label, dir: "auto" },
  });
}
