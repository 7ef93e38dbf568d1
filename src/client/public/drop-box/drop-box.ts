/** Turns the form for one file into a drop area for many files and folders, with their progress. */
import { button, element } from "../dom.ts";
import { type DroppedFiles, type PickedFile, filesFromTransfer, filesFromList } from "./picking.ts";
import { UploadQueue } from "./upload-queue.ts";
import { dropBoxText as text } from "../text.ts";
import { UploadRows } from "./upload-rows.ts";
import type { FileUpload } from "./file-upload.ts";
import { UnlockForm } from "./unlock-form.ts";

/** Takes over the form. */
export function startDropBox(form: HTMLFormElement): void {
  const { dropBox: url = "", maxBytes, unlockUrl, grant } = form.dataset;
  const unlockForm = new UnlockForm(unlockUrl, grant, () => queue.resume(findLocked(queue)));
  const sender = form.querySelector<HTMLInputElement>("#sender");
  const queue = new UploadQueue(
    { url, grant: () => unlockForm.grant, sender: () => sender?.value ?? "" },
    maxBytes === undefined ? Number.POSITIVE_INFINITY : Number(maxBytes),
    (one) => changed(one),
  );
  const rows = new UploadRows(queue);
  const total = new Total(queue);
  const unread = element("p", { className: "wrong", attributes: { role: "alert" } });
  const add = ({ picked, unreadable }: DroppedFiles) => {
    unread.textContent = describeUnreadable(unreadable);
    queue.add(picked);
    rows.makeRoom();
    total.draw();
  };
  const area = dropArea(maxBytes, (picked) => add({ picked, unreadable: 0 }));

  const changed = (one: FileUpload) => {
    rows.draw(one);
    total.draw();
    if (one.status.isLocked) unlockForm.show();
  };
  for (const plain of form.querySelectorAll("[data-plain]")) plain.remove();
  form.addEventListener("submit", (event) => event.preventDefault());
  rows.list.addEventListener("change", () => total.draw());
  form.append(area, unread, unlockForm.element, total.element, rows.list);
  listenForDrops(area, add);
  window.addEventListener("beforeunload", (event) => {
    if (queue.totals().active > 0) event.preventDefault();
  });
}

function describeUnreadable(count: number): string {
  return count === 0 ? "" : text.unreadableItems({ n: count });
}

function findLocked(queue: UploadQueue): FileUpload[] {
  return [...queue.all].filter(({ status }) => status.isLocked);
}

function dropArea(maxBytes: string | undefined, add: (picked: PickedFile[]) => void): HTMLElement {
  const files = chooser(text.chooseFiles, add);
  const folder = chooser(text.chooseFolder, add);
  folder.input.webkitdirectory = true;
  const hint = maxBytes === undefined ? text.drop : text.dropWithLimit({ limit: Number(maxBytes) });
  return element("div", {
    className: "drop",
    children: [
      element("p", { text: hint }),
      element("p", { className: "actions", children: [files.button, folder.button, files.input, folder.input] }),
    ],
  });
}

function chooser(label: string, add: (picked: PickedFile[]) => void) {
  const input = element("input", { attributes: { type: "file", multiple: "", hidden: "", "aria-label": label } });
  input.addEventListener("change", () => {
    add(filesFromList(input.files ?? []));
    // Lets the same file be chosen again.
    input.value = "";
  });
  return { input, button: button(label, () => input.click(), { className: "button second", label }) };
}

function listenForDrops(area: HTMLElement, add: (dropped: DroppedFiles) => void): void {
  // Outside of the drop area, the browser would open the file and leave the page. Text may be dropped into the name
  // field.
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    area.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) area.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    area.classList.remove("over");
    if (event.dataTransfer !== null) void filesFromTransfer(event.dataTransfer).then(add);
  });
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes("Files") === true;
}

/** The total progress of all files. */
class Total {
  readonly element = element("div", { className: "total", attributes: { hidden: "" } });
  readonly #queue: UploadQueue;
  readonly #message = element("p", { attributes: { role: "status" } });
  readonly #bar = element("progress", { attributes: { max: "1", "aria-label": text.progressOfAll } });
  readonly #pause = button(text.pauseAll, () => this.#queue.pause());
  readonly #resume = button(text.resumeAll, () => this.#queue.resume());

  constructor(queue: UploadQueue) {
    this.#queue = queue;
    const buttons = element("p", { className: "actions", children: [this.#pause, this.#resume] });
    this.element.append(this.#message, this.#bar, buttons);
  }

  draw(): void {
    const { files, done, failed, paused, active, bytes, sentBytes } = this.#queue.totals();
    this.element.hidden = files === 0;
    const message =
      done === files
        ? text.allUploaded({ n: files })
        : failed > 0
          ? text.uploadedAndFailed({ n: files, done, failed })
          : text.uploaded({ n: files, done });
    // Announced when it changes, not with each byte.
    if (this.#message.textContent !== message) this.#message.textContent = message;
    this.#bar.value = bytes === 0 ? done / Math.max(files, 1) : sentBytes / bytes;
    this.#bar.hidden = done === files;
    this.#pause.hidden = active === 0;
    this.#resume.hidden = paused + failed === 0;
  }
}
