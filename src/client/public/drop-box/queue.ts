/** The uploads of a drop box: some in parallel, the others after them. */
import type { PickedFile } from "./picking.ts";
import { type Destination, Sending } from "./sending.ts";

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
export class Queue {
  readonly #destination: Destination;
  readonly #maxBytes: number;
  readonly #onChange: (sending: Sending) => void;
  readonly #all = new Set<Sending>();

  constructor(destination: Destination, maxBytes: number, onChange: (sending: Sending) => void) {
    this.#destination = destination;
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
  }

  get all(): ReadonlySet<Sending> {
    return this.#all;
  }

  /** Adds files. Files over the size limit are rejected at once. */
  add(picked: readonly PickedFile[]): Sending[] {
    const added = picked.map(
      ({ file, path }) =>
        new Sending(file, { path, destination: this.#destination, onChange: (one) => this.#changed(one) }),
    );
    for (const one of added) {
      this.#all.add(one);
      if (one.file.size > this.#maxBytes) one.reject("This file is too large for this drop box.");
    }
    this.#fill();
    return added;
  }

  /** Resumes paused and failed uploads. */
  resume(which: Iterable<Sending> = this.#all): void {
    for (const one of which) {
      const { state } = one.status;
      if (state === "paused" || (state === "failed" && one.file.size <= this.#maxBytes)) one.queue();
    }
    this.#fill();
  }

  /** Pauses uploads. */
  pause(which: Iterable<Sending> = this.#all): void {
    for (const one of which) {
      const { state } = one.status;
      if (state === "waiting" || state === "sending") void one.pause();
    }
    this.#fill();
  }

  /** Removes a file from the list, and deletes what was uploaded of it. */
  remove(one: Sending): void {
    this.#all.delete(one);
    if (one.status.state !== "done") void one.cancel();
    this.#fill();
  }

  totals(): QueueTotals {
    const sums = { files: 0, done: 0, failed: 0, paused: 0, active: 0, bytes: 0, sentBytes: 0 };
    for (const { file, status } of this.#all) {
      sums.files += 1;
      sums.bytes += file.size;
      sums.sentBytes += status.sentBytes;
      if (status.state === "waiting" || status.state === "sending") sums.active += 1;
      else sums[status.state] += 1;
    }
    return sums;
  }

  #changed(one: Sending): void {
    this.#onChange(one);
    const { state } = one.status;
    if (state === "done" || state === "failed") this.#fill();
  }

  #fill(): void {
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
