import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Log } from "../../../lib/log.ts";
import { factsOf } from "../../../tree/model/facts.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { WebhookRecorder } from "./recorder.ts";

/**
 * Tells of downloads (`file.downloaded`), for accounts with a webhook that wants to know. Written behind: no download waits
 * for it, and a crash in that instant loses it.
 */
export class DownloadNotes {
  readonly #recorder: WebhookRecorder;
  readonly #writer: Writer;
  readonly #events: Events;
  readonly #log: Log;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: { recorder: WebhookRecorder; writer: Writer; events: Events; log: Log }) {
    this.#recorder = options.recorder;
    this.#writer = options.writer;
    this.#events = options.events;
    this.#log = options.log;
  }

  /** Notes a counted download. Returns at once. */
  note(file: FileNode): void {
    const { accountId } = file;
    if (!this.#recorder.wants(accountId, "file.downloaded")) return;
    const noted = this.#writer
      .run((tx) => this.#events.emit(tx, "file.downloaded", { accountId, file: factsOf(file) }))
      .catch((error: unknown) => this.#log.error("Could not record a download for webhooks.", { error }))
      .finally(() => this.#underWay.delete(noted));
    this.#underWay.add(noted);
  }

  /** Resolves when all that was noted is written, or given up. */
  async flush(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
