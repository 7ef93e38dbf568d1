/** The list of uploads: one row each, updated with their progress. */
import { button, element } from "../dom.ts";
import { dropBoxText as text } from "../text.ts";
import type { UploadQueue } from "./upload-queue.ts";
import type { FileUpload } from "./file-upload.ts";

/** The most rows that are rendered. Others follow as uploads finish. */
const ROWS_MAX = 200;

/** The elements of a row. */
interface Row {
  readonly item: HTMLLIElement;
  readonly status: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly toggle: HTMLButtonElement;
  readonly remove: HTMLButtonElement;
}

/** Renders the list of uploads. */
export class UploadRows {
  readonly list = element("ul", { className: "queue", attributes: { "aria-label": text.files } });
  readonly #queue: UploadQueue;
  readonly #rows = new Map<FileUpload, Row>();

  constructor(queue: UploadQueue) {
    this.#queue = queue;
  }

  /** Updates a row, and adds rows if there is room. */
  draw(one: FileUpload): void {
    const row = this.#rows.get(one);
    if (row !== undefined) updateRow(row, one);
    if (one.status.state === "done") this.makeRoom();
  }

  /** Adds rows for files that have none, up to the limit. */
  makeRoom(): void {
    if (this.#rows.size >= ROWS_MAX) {
      for (const [one, { item }] of this.#rows) {
        if (one.status.state !== "done") continue;
        item.remove();
        this.#rows.delete(one);
      }
    }
    for (const one of this.#queue.all) {
      if (this.#rows.size >= ROWS_MAX) return;
      // A finished file whose row was removed stays away.
      if (!this.#rows.has(one) && one.status.state !== "done") this.#add(one);
    }
  }

  #add(one: FileUpload): void {
    const toggle = button(text.pause, () => {
      if (one.status.state === "sending" || one.status.state === "waiting") this.#queue.pause([one]);
      else this.#queue.resume([one]);
    });
    const remove = button(
      text.remove,
      () => {
        this.#queue.remove(one);
        this.#rows.get(one)?.item.remove();
        this.#rows.delete(one);
        this.makeRoom();
        this.list.dispatchEvent(new Event("change"));
      },
      { className: "button quiet small", label: text.actionOf("remove", { name: one.path }) },
    );
    const status = element("span", { className: "said" });
    const bar = element("progress", { attributes: { max: "1", "aria-label": text.progressOf({ name: one.path }) } });
    const item = element("li", {
      children: [
        element("span", { className: "file-name", text: one.path, attributes: { dir: "auto" } }),
        status,
        element("span", { className: "buttons", children: [toggle, remove] }),
        bar,
      ],
    });
    const row = { item, status, bar, toggle, remove };
    this.#rows.set(one, row);
    this.list.append(item);
    updateRow(row, one);
  }
}

function updateRow({ status, bar, toggle, remove }: Row, one: FileUpload): void {
  const { state, sentBytes } = one.status;
  const size = one.file.size;
  bar.value = state === "done" || size === 0 ? Number(state === "done") : sentBytes / size;
  bar.hidden = state === "done";
  status.className = state === "failed" ? "said failed" : state === "done" ? "said done" : "said";
  status.textContent = describe(one);
  const name = one.path;
  const action = state === "failed" ? "retry" : state === "paused" ? "resume" : "pause";
  show(toggle, text[action], text.actionOf(action, { name }));
  toggle.hidden = state === "done";
  // An uploaded file stays in the drop box: only its row goes away.
  const removal = state === "done" ? "hide" : "remove";
  show(remove, text[removal], text.actionOf(removal, { name }));
}

function describe({ file: { size }, status: { state, sentBytes: sent, problem } }: FileUpload): string {
  switch (state) {
    case "waiting":
      return text.queued({ size });
    case "sending":
      return problem === undefined ? text.sending({ sent, size }) : text.sendingWithProblem({ sent, size, problem });
    case "paused":
      return text.paused({ sent, size });
    case "failed":
      return problem ?? text.uploadFailed;
    case "done":
      return text.done({ size });
  }
}

/** Writes only a change: screen readers would read the button again. */
function show(button: HTMLButtonElement, verb: string, label: string): void {
  if (button.textContent !== verb) button.textContent = verb;
  button.setAttribute("aria-label", label);
}
