/** The list of uploads: one row each, updated with their progress. */
import { button, element } from "../dom.ts";
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
  readonly list = element("ul", { className: "queue", attributes: { "aria-label": "Files" } });
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
    const toggle = button("Pause", () => {
      if (one.status.state === "sending" || one.status.state === "waiting") this.#queue.pause([one]);
      else this.#queue.resume([one]);
    });
    const remove = button(
      "Remove",
      () => {
        this.#queue.remove(one);
        this.#rows.get(one)?.item.remove();
        this.#rows.delete(one);
        this.makeRoom();
        this.list.dispatchEvent(new Event("change"));
      },
      { className: "button quiet small", label: `Remove ${one.path}` },
    );
    const status = element("span", { className: "said" });
    const bar = element("progress", { attributes: { max: "1", "aria-label": `Progress of ${one.path}` } });
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
  const { state, sentBytes, problem } = one.status;
  const size = one.file.size;
  bar.value = state === "done" || size === 0 ? Number(state === "done") : sentBytes / size;
  bar.hidden = state === "done";
  status.className = state === "failed" ? "said failed" : state === "done" ? "said done" : "said";
  status.textContent = {
    waiting: `Queued, ${formatSize(size)}`,
    sending: `${formatSize(sentBytes)} of ${formatSize(size)}${problem === undefined ? "" : `. ${problem}`}`,
    paused: `Paused at ${formatSize(sentBytes)} of ${formatSize(size)}`,
    failed: problem ?? "Upload failed.",
    done: `Uploaded, ${formatSize(size)}`,
  }[state];
  const verb = state === "failed" ? "Retry" : state === "paused" ? "Resume" : "Pause";
  if (toggle.textContent !== verb) toggle.textContent = verb;
  toggle.setAttribute("aria-label", `${verb}: ${one.path}`);
  toggle.hidden = state === "done";
  // An uploaded file stays in the drop box: only its row goes away.
  const removeVerb = state === "done" ? "Hide" : "Remove";
  if (remove.textContent !== removeVerb) remove.textContent = removeVerb;
  remove.setAttribute("aria-label", `${removeVerb} ${one.path}`);
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** A size in units of 1024, like the limits. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1).replace(/\.0$/, "")} ${UNITS[unit] ?? ""}`;
}
