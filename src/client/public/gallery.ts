/** A viewer over the page of a shared folder, which shows its files one after another. */
import { button, element } from "./dom.ts";
import { readText, textBlock } from "./reading.ts";
import { text } from "./text.ts";

interface Item {
  readonly link: HTMLAnchorElement;
  readonly name: string;
  readonly view: string | undefined;
  readonly url: string | undefined;
  readonly downloadUrl: string;
}

/**
 * Opens files of a shared folder in the viewer, by mouse, keyboard and touch. Links opened in another tab stay links.
 */
export function startGallery(root: ParentNode): void {
  const list = root.querySelector<HTMLElement>("[data-gallery]");
  const items = [...(list?.querySelectorAll<HTMLAnchorElement>("a[data-file]") ?? [])].map(readItem);
  if (list === null || items.length === 0) return;
  const viewer = new Viewer(items);
  list.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[data-file]") : null;
    const index = items.findIndex((item) => item.link === link);
    if (index === -1) return;
    event.preventDefault();
    viewer.open(index);
  });
}

function readItem(link: HTMLAnchorElement): Item {
  const { view, src, download } = link.dataset;
  return {
    link,
    name: link.querySelector("bdi")?.textContent ?? "",
    view,
    url: src,
    downloadUrl: download ?? link.href,
  };
}

/** How far a finger must move to show the next item, in pixels. */
const SWIPE_PX = 60;

/** Going back takes the browser some milliseconds. It never completes if the page was left in the meantime. */
const BACK_MS_MAX = 2_000;

class Viewer {
  readonly #items: readonly Item[];
  readonly #dialog: HTMLDialogElement;
  readonly #title = element("h2", { attributes: { "aria-live": "polite", dir: "auto" } });
  readonly #stage = element("div", { className: "stage" });
  readonly #download = element("a", { text: text.download, attributes: { download: "" } });
  readonly #previous: HTMLButtonElement;
  readonly #next: HTMLButtonElement;
  #index = 0;
  /**
   * True from `history.back()` until it has completed. A file that is opened in between waits, because that event would
   * close it.
   */
  #isClosing = false;
  #pendingClose: { readonly index: number; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  #reading = new AbortController();

  constructor(items: readonly Item[]) {
    this.#items = items;
    this.#previous = button("‹", () => this.#show(this.#index - 1), { className: "", label: text.previous });
    this.#next = button("›", () => this.#show(this.#index + 1), { className: "", label: text.next });
    const close = button("✕", () => this.#dialog.close(), { className: "", label: text.close });
    const header = element("div", {
      className: "viewer-bar",
      children: [this.#title, this.#previous, this.#next, this.#download, close],
    });
    this.#dialog = element("dialog", {
      className: "viewer",
      attributes: { "aria-label": text.preview },
      children: [header, this.#stage],
    });
    document.body.append(this.#dialog);
    this.#listen();
  }

  open(index: number): void {
    if (this.#isClosing) {
      clearTimeout(this.#pendingClose?.timer);
      this.#pendingClose = { index, timer: setTimeout(() => this.#finishClose(), BACK_MS_MAX) };
      return;
    }
    this.#dialog.showModal();
    // Adds a history entry, so that the back button closes the viewer, as expected on phones.
    window.history.pushState({ viewer: true }, "");
    this.#show(index);
  }

  #listen(): void {
    let from: number | undefined;
    // On the document, not the dialog: a press next to a control removes the focus.
    document.addEventListener("keydown", (event) => {
      if (this.#dialog.open) this.#onKey(event);
    });
    this.#dialog.addEventListener("close", () => {
      this.#reading.abort();
      this.#stage.replaceChildren();
      this.#items[this.#index]?.link.focus();
      if (!isViewerState(window.history.state)) return;
      this.#isClosing = true;
      window.history.back();
    });
    window.addEventListener("popstate", (event) => {
      if (this.#isClosing) this.#finishClose();
      else if (!isViewerState(event.state)) this.#dialog.close();
    });
    this.#stage.addEventListener("touchstart", (event) => {
      from = event.touches.length === 1 ? event.touches[0]?.clientX : undefined;
    });
    this.#stage.addEventListener("touchend", (event) => {
      const moved = (event.changedTouches[0]?.clientX ?? 0) - (from ?? event.changedTouches[0]?.clientX ?? 0);
      if (Math.abs(moved) > SWIPE_PX) this.#show(this.#index + (moved < 0 ? 1 : -1));
    });
  }

  #finishClose(): void {
    this.#isClosing = false;
    const pending = this.#pendingClose;
    if (pending === undefined) return;
    clearTimeout(pending.timer);
    this.#pendingClose = undefined;
    this.open(pending.index);
  }

  #onKey(event: KeyboardEvent): void {
    // Media players use the arrow keys themselves.
    if (event.target instanceof HTMLMediaElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const goTo: Readonly<Record<string, number>> = {
      ArrowLeft: this.#index - 1,
      ArrowRight: this.#index + 1,
      Home: 0,
      End: this.#items.length - 1,
    };
    const target = goTo[event.key];
    if (target !== undefined) {
      event.preventDefault();
      this.#show(target);
    } else if (event.key === "d") {
      this.#download.click();
    }
  }

  #show(index: number): void {
    const item = this.#items[index];
    if (item === undefined) return;
    this.#index = index;
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#title.textContent = text.position({ name: item.name, n: index + 1, total: this.#items.length });
    this.#download.href = item.downloadUrl;
    this.#previous.disabled = index === 0;
    this.#next.disabled = index === this.#items.length - 1;
    this.#stage.replaceChildren(this.#picture(item));
  }

  #picture(item: Item): Node {
    const { url, name } = item;
    if (url !== undefined) {
      switch (item.view) {
        case "image":
          return this.#image(url, name);
        case "video":
          return element("video", { attributes: { src: url, controls: "", autoplay: "", "aria-label": name } });
        case "audio":
          return element("audio", { attributes: { src: url, controls: "", autoplay: "", "aria-label": name } });
        case "text":
          return this.#text(url, name);
        default:
      }
    }
    return element("p", { text: text.noPreview });
  }

  #image(url: string, name: string): Node {
    const image = element("img", { attributes: { src: url, alt: name } });
    image.addEventListener("error", () => {
      if (image.isConnected) image.replaceWith(failure());
    });
    return image;
  }

  #text(url: string, name: string): Node {
    const placeholder = element("p", { text: text.loading });
    const { signal } = this.#reading;
    void readText(url, signal).then((content) => {
      if (signal.aborted) return;
      placeholder.replaceWith(content === undefined ? failure() : textBlock(content, name));
    });
    return placeholder;
  }
}

function failure(): Node {
  return element("p", { text: text.fileNotLoaded });
}

function isViewerState(state: unknown): boolean {
  return typeof state === "object" && state !== null && "viewer" in state;
}
