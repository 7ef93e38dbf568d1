import type { Writer } from "../../db/transaction.ts";
import type { Events } from "../../events/events.ts";
import type { Log } from "../../lib/log.ts";
import { factsOf } from "../tree/facts.ts";
import type { FileNode } from "../tree/types.ts";
import type { PublicLinks } from "./public-links.ts";

/**
 * Tells of the first download through each link (`share.downloaded`), once per link however many come at once. Written
 * behind: no download waits for it, and a crash in that instant leaves it to the next download.
 */
export class LinkDownloads {
  readonly #links: PublicLinks;
  readonly #writer: Writer;
  readonly #events: Events;
  readonly #log: Log;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: { links: PublicLinks; writer: Writer; events: Events; log: Log }) {
    this.#links = options.links;
    this.#writer = options.writer;
    this.#events = options.events;
    this.#log = options.log;
  }

  /** Notes that content of a file is being sent through the link with this token. Returns at once. */
  note(token: string, file: FileNode): void {
    if (this.#links.isDownloaded(token)) return;
    const noted = this.#writer
      .run((tx) => {
        if (!this.#links.noteDownloaded(tx, token)) return;
        this.#events.emit(tx, "share.downloaded", {
          accountId: file.accountId,
          file: factsOf(file),
          isFirst: true,
          shareId: "",
        });
      })
      .catch((error: unknown) => this.#log.error("The first download of a link could not be noted.", { error }))
      .finally(() => this.#underWay.delete(noted));
    this.#underWay.add(noted);
  }

  /** Resolves when all that was noted is written, or given up. */
  async flush(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
