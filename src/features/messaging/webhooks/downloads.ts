import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Log } from "../../../lib/log.ts";
import { summarizeFile } from "../../../tree/model/file-summary.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { WebhookRecorder } from "./recorder.ts";

/**
 * Emits `file.downloaded` for accounts with a webhook that subscribes to it. The event is written in the background: no
 * download waits for it, and a crash before the write loses it.
 */
export class DownloadRecorder {
  readonly #recorder: WebhookRecorder;
  readonly #writer: Writer;
  readonly #events: Events;
  readonly #log: Log;
  readonly #pending = new Set<Promise<void>>();

  constructor(options: { recorder: WebhookRecorder; writer: Writer; events: Events; log: Log }) {
    this.#recorder = options.recorder;
    this.#writer = options.writer;
    this.#events = options.events;
    this.#log = options.log;
  }

  /** Records a counted download. Returns at once. */
  record(file: FileNode): void {
    const { accountId } = file;
    if (!this.#recorder.isSubscribed(accountId, "file.downloaded")) return;
    const written = this.#writer
      .run((tx) => this.#events.emit(tx, "file.downloaded", { accountId, file: summarizeFile(file) }))
      .catch((error: unknown) => this.#log.error("Could not record a download for webhooks.", { error }))
      .finally(() => this.#pending.delete(written));
    this.#pending.add(written);
  }

  /** Resolves when all recorded downloads have been written or have failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
