/**
 * Reads the files of texts again that are not in the index: for snippets and phrases of a search, and to remove their words.
 * One file is read at a time. A search waits for it only for a while, but what it began to read is then there for the next.
 */
import { digestFromBytes } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import { messageOf } from "../../../lib/error.ts";
import type { Log } from "../../../lib/log.ts";
import type { TextExtractor } from "../../media/documents/text-extractor.ts";
import type { IndexThread } from "./index-thread.ts";
import type { WaitingBlob } from "./types.ts";

/** Dependencies of {@link TextRereader}. */
export interface TextRereaderOptions {
  readonly thread: Pick<IndexThread, "call" | "clear">;
  readonly extractor: Pick<TextExtractor, "extract">;
  /** The index was deleted, because the text of a file is not the same any more. */
  readonly onCleared: () => void;
  readonly log: Log;
}

/** Files that wait to be read for searches. Further ones are not read for that search. */
const WAITING_MAX = 32;
/** Files that could not be read, and when they are tried again. */
const FAILED_MAX = 1_000;
const FAILED_MS = 10 * 60_000;

/** One per index. */
export class TextRereader {
  readonly #options: TextRereaderOptions;
  readonly #stop = new AbortController();
  readonly #waiting = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, number>();
  #last: Promise<void> = Promise.resolve();
  #wasCleared = false;

  constructor(options: TextRereaderOptions) {
    this.#options = options;
  }

  /** Those of the texts that can be expected to be readable. */
  readable(blobs: readonly WaitingBlob[]): WaitingBlob[] {
    return blobs.filter(({ digest }) => (this.#failed.get(digestFromBytes(digest)) ?? 0) <= performance.now());
  }

  /** Reads texts for a search. Returns when all are read, or at a time. Failures are logged. */
  async readUntil(blobs: readonly WaitingBlob[], untilMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, untilMs - performance.now()));
    await Promise.race([promise, Promise.all(blobs.map((blob) => this.#enqueue(blob)))]);
    clearTimeout(timer);
  }

  /**
   * Reads one text.
   * @param isUrgent whether a person waits for it
   * @returns whether it is the same as before
   * @throws an error if it can't be read now, or if its words had to be removed and it is another one
   */
  async read({ digest, mediaType }: WaitingBlob, signal: AbortSignal, isUrgent: boolean): Promise<boolean> {
    const { extractor, thread } = this.#options;
    const extracted = await extractor.extract(digestFromBytes(digest), mediaType, signal, isUrgent);
    // The file had a text. That it has none now is due to a limit, as of a busy machine, and no reason for a new index.
    if (extracted.kind === "none") throw new Error(extracted.reason);
    if (!extracted.isRepeatable) throw new Error("There was no time to read all of it.");
    const parts = await Array.fromAsync(extracted.text);
    return thread.call("restore", [digest, parts]);
  }

  /** Ends after the current file, which is not read to its end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#last;
  }

  #enqueue(blob: WaitingBlob): Promise<void> {
    const key = digestFromBytes(blob.digest);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    if (this.#waiting.size >= WAITING_MAX) return this.#last;
    this.#last = this.#last.then(() => this.#readForSearch(key, blob));
    this.#waiting.set(key, this.#last);
    return this.#last;
  }

  async #readForSearch(key: string, blob: WaitingBlob): Promise<void> {
    const { log } = this.#options;
    try {
      if (this.#stop.signal.aborted || (await this.read(blob, this.#stop.signal, true))) return;
      this.#fail(key);
      log.warn("The text of a file is not the same as before.", { digest: key });
      await this.#clearOnce();
    } catch (error) {
      // The file is not at fault if the index was deleted, or its thread ended.
      if (!(error instanceof AppError)) this.#fail(key);
      if (this.#stop.signal.aborted) return;
      log.warn("Could not read the text of a file for a search.", { digest: key, reason: messageOf(error) });
    } finally {
      this.#waiting.delete(key);
    }
  }

  #fail(key: string): void {
    this.#failed.set(key, performance.now() + FAILED_MS);
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > FAILED_MAX && oldest !== undefined) this.#failed.delete(oldest);
  }

  /** Texts may be read in another way than before. Only once, because one file can be different each time. */
  async #clearOnce(): Promise<void> {
    const { thread, onCleared } = this.#options;
    if (this.#wasCleared) return;
    this.#wasCleared = true;
    await thread.clear();
    onCleared();
  }
}
