/** Reads the texts of files into the text index: in the background, one file at a time, whenever files have changed. */
import { digestFromBytes } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { messageOf } from "../../../lib/error.ts";
import type { Log } from "../../../lib/log.ts";
import type { TextExtractor } from "../../media/documents/text-extractor.ts";
import type { ExtractedText } from "../../media/documents/types.ts";
import type { IndexThread } from "./index-thread.ts";
import { toSegments } from "./segments.ts";
import type { TextRereader } from "./text-rereader.ts";
import type { FollowResult, TextIndexStatus, WaitingBlob } from "./types.ts";

/** Dependencies of {@link TextIndexer}. */
export interface TextIndexerOptions {
  readonly thread: Pick<IndexThread, "call" | "clear">;
  /** Waits while uploads are in progress. */
  readonly extractor: Pick<TextExtractor, "extract">;
  readonly rereader: Pick<TextRereader, "read" | "stop">;
  /** Whether texts are searched: an administrator can switch it off. */
  readonly isEnabled: () => boolean;
  /** Changes whenever files of any account change. */
  readonly changeMark: () => string;
  readonly log: Log;
}

/** How often changes are looked for that no event announced, such as those of another process. */
const TICK_MS = 1_000;
/** How long after a change its work begins: a person who changes many files makes one pass of it. */
const DELAY_MS = 50;
/** How long after a removal its last traces are removed, which writes the index again: once for all removals until then. */
const CLEAN_AFTER_MS = 5 * 60_000;
/** When removed texts are looked at again whose files could not be read: the index then tries them again. */
const RETRY_MS = 11 * 60_000;
/** Pause between two files, for requests. */
const REST_MS = 5;
const NO_STATUS: TextIndexStatus = {
  isFilling: false,
  indexed: 0,
  waiting: 0,
  unread: [],
  textBytes: 0,
  indexBytes: 0,
  fileBytes: 0,
};

/** One per database, only in the server. */
export class TextIndexer {
  readonly #options: TextIndexerOptions;
  readonly #reading: BackgroundWork;
  #ticks: ReturnType<typeof setInterval> | undefined;
  #delay: ReturnType<typeof setTimeout> | undefined;
  #cleaning: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isCleaningDue = false;
  #seenMark = "";
  #wasEnabled = true;
  #clearing: Promise<void> = Promise.resolve();
  #isStopped = false;
  #revision = 0;
  #read = 0;

  constructor(options: TextIndexerOptions) {
    this.#options = options;
    this.#reading = new BackgroundWork({
      log: options.log,
      what: "read the texts of files",
      work: (stop) => this.#work(stop),
    });
  }

  /** Starts; returns at once. */
  start(): void {
    this.applySettings();
    this.#reading.start();
    this.#ticks ??= setInterval(() => this.#tick(), TICK_MS);
    this.#ticks.unref();
  }

  /** Ends after the current step. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#ticks);
    clearTimeout(this.#delay);
    clearTimeout(this.#cleaning);
    clearTimeout(this.#retry);
    // Together: each may wait for the file that the other one reads.
    await Promise.all([this.#options.rereader.stop(), this.#reading.stop()]);
    await this.#clearing;
  }

  /** Changes whenever other texts may be found. */
  get revision(): number {
    return this.#revision;
  }

  /** The number of files that were read since the start. */
  get read(): number {
    return this.#read;
  }

  /** Files have changed: follows soon. For effects after a commit. */
  wakeSoon(): void {
    if (this.#isStopped) return;
    this.#delay ??= setTimeout(() => {
      this.#delay = undefined;
      this.#reading.wake();
    }, DELAY_MS).unref();
  }

  /** Deletes the index if it was switched off, and builds it again if it was switched on. */
  applySettings(): void {
    const isEnabled = this.#options.isEnabled();
    if (isEnabled === this.#wasEnabled) return;
    this.#wasEnabled = isEnabled;
    if (isEnabled) this.wakeSoon();
    else this.#clearing = this.#clear();
  }

  /** Progress and size. @throws AppError overloaded */
  status(): Promise<TextIndexStatus> {
    return this.#options.isEnabled() ? this.#options.thread.call("status", []) : Promise.resolve(NO_STATUS);
  }

  async #clear(): Promise<void> {
    try {
      await this.#options.thread.clear();
      this.#options.log.info("Searching in texts is off; the text index was deleted.");
    } catch (error) {
      this.#options.log.error("Could not delete the text index.", { error });
    }
  }

  #tick(): void {
    const mark = this.#options.changeMark();
    if (mark === this.#seenMark) return;
    this.#seenMark = mark;
    this.#reading.wake();
  }

  async #work(stop: AbortSignal): Promise<void> {
    const { thread, isEnabled } = this.#options;
    const isDone = () => stop.aborted || !isEnabled();
    while (!isDone()) {
      const followed = await this.#follow(isDone);
      this.#revision++;
      if (followed?.hasTraces === true) this.#cleanLater();
      const removed = followed?.unread ?? [];
      await this.#orOff(() => this.#readRemoved(removed, stop));
      const blob = isDone() ? undefined : await this.#orOff(() => thread.call("next", []));
      if (blob === undefined) {
        if (removed.length > 0) continue;
        await this.#clean(isDone);
        return;
      }
      await this.#orOff(() => this.#readText(blob, stop));
      this.#revision++;
      await Bun.sleep(REST_MS);
    }
  }

  async #follow(isDone: () => boolean): Promise<FollowResult | undefined> {
    const follow = () => this.#orOff(() => this.#options.thread.call("follow", []));
    let followed = await follow();
    while (!isDone() && followed?.isMore === true) followed = await follow();
    return followed;
  }

  /** Reads the texts of removed files again, because the index can only remove words that it knows. */
  async #readRemoved(blobs: readonly WaitingBlob[], stop: AbortSignal): Promise<void> {
    const { thread, rereader, isEnabled, log } = this.#options;
    for (const blob of blobs) {
      if (stop.aborted || !isEnabled()) return;
      try {
        await rereader.read(blob, stop, false);
      } catch (error) {
        if (stop.aborted) return;
        // A lost text is no reason to wait: the thread then deletes the index.
        if (error instanceof AppError) throw error;
        const digest = digestFromBytes(blob.digest);
        log.warn("Could not read the text of a removed file; will retry.", { digest, reason: messageOf(error) });
        await thread.call("postpone", [blob.blobId]);
        this.#retry ??= setTimeout(() => {
          this.#retry = undefined;
          this.#reading.wake();
        }, RETRY_MS).unref();
      }
    }
  }

  #cleanLater(): void {
    if (this.#isStopped || this.#isCleaningDue) return;
    this.#cleaning ??= setTimeout(() => {
      this.#cleaning = undefined;
      this.#isCleaningDue = true;
      this.#reading.wake();
    }, CLEAN_AFTER_MS).unref();
  }

  async #clean(isDone: () => boolean): Promise<void> {
    if (!this.#isCleaningDue) return;
    const step = () => this.#orOff(() => this.#options.thread.call("clean", []));
    while (!isDone() && (await step())?.isMore === true);
    this.#isCleaningDue = false;
  }

  /** A call fails when the index is switched off, or the server stops: neither is a fault. */
  async #orOff<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      const isOff = this.#isStopped || !this.#options.isEnabled();
      if (isOff && error instanceof AppError) return undefined;
      throw error;
    }
  }

  async #readText(blob: WaitingBlob, stop: AbortSignal): Promise<void> {
    const { thread, extractor, log } = this.#options;
    const digest = digestFromBytes(blob.digest);
    let extracted: ExtractedText;
    this.#read++;
    try {
      extracted = await extractor.extract(digest, blob.mediaType, stop);
    } catch (error) {
      if (stop.aborted) return;
      log.warn("Could not read the text of a file; will retry.", { digest, reason: messageOf(error) });
      await thread.call("postpone", [blob.blobId]);
      return;
    }
    if (extracted.kind === "none") {
      await thread.call("skip", [blob, extracted.reason]);
      return;
    }
    const parts = await Array.fromAsync(extracted.text);
    if (!(await this.#begin(blob, parts, extracted.isRepeatable ? extracted.readMs : null))) return;
    // One at a time, so that searches don't wait for long.
    for (const segment of toSegments(parts)) await thread.call("add", [blob.blobId, [segment]]);
    await thread.call("finish", [blob]);
  }

  /** @returns whether the text may be added now */
  async #begin(blob: WaitingBlob, parts: readonly string[], readMs: number | null): Promise<boolean> {
    const { thread } = this.#options;
    const begin = () => thread.call("begin", [blob, readMs]);
    let result = await begin();
    if (result === "unread" && readMs !== null) {
      // The words of the same text are still being removed.
      await thread.call("restore", [blob.digest, parts]);
      result = await begin();
    }
    if (result === "unread") await thread.call("postpone", [blob.blobId]);
    return result === "begun";
  }
}
