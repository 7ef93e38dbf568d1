/** The uploads of a drop box: some in parallel, the others after them. */
import type { PickedFile } from "./picking.ts";
import { dropBoxText as text } from "../text.ts";
import { type Destination, FileUpload } from "./file-upload.ts";

const AT_ONCE = 3;

/** The totals of all files. */
interface QueueTotals {
  readonly files: number;
  readonly done: number;
  readonly failed: number;
  readonly paused: number;
  /** Waiting or being sent. */
  readonly active: number;
  readonly bytes: number;
  readonly sentBytes: number;
}

/** Sends files, a few in parallel. `onChange` is called with each file that changed. */
export class UploadQueue {
  readonly #destination: Destination;
  readonly #maxBytes: number;
  readonly #onChange: (upload: FileUpload) => void;
  readonly #all = new Set<FileUpload>();

  constructor(destination: Destination, maxBytes: number, onChange: (upload: FileUpload) => void) {
    this.#destination = destination;
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
  }

  get all(): ReadonlySet<FileUpload> {
    return this.#all;
  }

  /** Adds files. Files over the size limit are rejected at once. */
  add(picked: readonly PickedFile[]): FileUpload[] {
    const added = picked.map(
      ({ file, path }) =>
        new FileUpload(file, { path, destination: this.#destination, onChange: (one) => this.#changed(one) }),
    );
    for (const one of added) {
      this.#all.add(one);
      if (one.file.size > this.#maxBytes) one.reject(text.tooLarge);
    }
    this.#startWaiting();
    return added;
  }

  /** Resumes paused and failed uploads. */
  resume(which: Iterable<FileUpload> = this.#all): void {
    for (const one of which) {
      const { state } = one.status;
      if (state === "paused" || (state === "failed" && one.file.size <= this.#maxBytes)) one.queue();
    }
    this.#startWaiting();
  }

  /** Pauses uploads. */
  pause(which: Iterable<FileUpload> = this.#all): void {
    for (const one of which) {
      const { state } = one.status;
      if (state === "waiting" || state === "sending") void one.pause();
    }
    this.#startWaiting();
  }

  /** Removes a file from the list, and deletes what was uploaded of it. */
  remove(one: FileUpload): void {
    this.#all.delete(one);
    if (one.status.state !== "done") void one.cancel();
    this.#startWaiting();
  }

  totals(): QueueTotals {
    const totals = { files: 0, done: 0, failed: 0, paused: 0, active: 0, bytes: 0, sentBytes: 0 };
    for (const { file, status } of this.#all) {
      totals.files += 1;
      totals.bytes += file.size;
      totals.sentBytes += status.sentBytes;
      if (status.state === "waiting" || status.state === "sending") totals.active += 1;
      else totals[status.state] += 1;
    }
    return totals;
  }

  #changed(one: FileUpload): void {
    this.#onChange(one);
    const { state } = one.status;
    if (state === "done" || state === "failed") this.#startWaiting();
  }

  #startWaiting(): void {
    const list = [...this.#all];
    let free = AT_ONCE - list.filter(({ status }) => status.state === "sending").length;
    for (const one of list) {
      if (free <= 0) return;
      if (one.status.state !== "waiting") continue;
      free -= 1;
      one.start();
    }
  }
}
