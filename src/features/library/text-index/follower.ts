/**
 * Keeps the text index in step with the files: queues the blobs of new files, and removes the texts of blobs that no file
 * has any more. Works in small steps, between which searches run.
 *
 * It follows the journals of the accounts. At the first opening in each run of the program it also goes through all files
 * and all texts, so nothing that a crash interrupted stays.
 */
import { type IndexTables, LostTextError } from "./index-tables.ts";
import { hasText, type LiveFiles } from "./live-files.ts";
import type { WaitingBlob } from "./types.ts";

/** How long one step may take, so that searches don't wait. */
export const STEP_MS = 8;
const CHANGES_TOGETHER = 64;
const FILES_TOGETHER = 500;
const TEXTS_TOGETHER = 100;
/** When all files that existed before the index have been read. */
const FILLED = "filled";
/** The last run of the program that went through all files. */
const RUN = "run";

type FollowedFiles = Pick<
  LiveFiles,
  "changesAfter" | "contentsOf" | "exists" | "filesBelow" | "filesFrom" | "heads" | "isLive" | "kindOf"
>;

/** The work that the files cause. */
export class Follower {
  readonly #tables: IndexTables;
  readonly #live: FollowedFiles;
  /** The next file to look at; undefined if all have been. */
  #nextFile: number | undefined;
  /** The next text to look at; undefined if all have been. */
  #nextText: number | undefined;
  /** The files below each folder that changed. There may be millions, so they are read as they are looked at. */
  readonly #below: Iterator<WaitingBlob>[] = [];
  #needsCheckpoint = true;

  /** @param run names this run of the program */
  constructor(tables: IndexTables, live: FollowedFiles, run: string) {
    this.#tables = tables;
    this.#live = live;
    if (tables.progress.readMeta(RUN) === run) return;
    this.#nextFile = 0;
    this.#nextText = 0;
    tables.progress.writeMeta(RUN, run);
  }

  /** Whether the files that existed before the index are still being read. */
  get isFilling(): boolean {
    return this.#tables.progress.readMeta(FILLED) === undefined;
  }

  /** Does some milliseconds of work. @returns whether there is more */
  step(): boolean {
    const untilMs = performance.now() + STEP_MS;
    // For this step only: folders may move later.
    const reached = new Map<number, boolean>();
    const isMore = this.#tables.transaction(() => this.#look(untilMs, reached));
    if (isMore) return true;
    if (this.#tables.removeSome(untilMs)) {
      this.#needsCheckpoint = true;
      return true;
    }
    const isIdle = this.#tables.progress.next() === undefined;
    if (this.#tables.dropSome(untilMs) || this.#tables.shrinkSome(isIdle)) {
      this.#needsCheckpoint = true;
      return true;
    }
    if (this.#needsCheckpoint) this.#tables.checkpoint();
    // Their words are removed in a later step.
    this.#needsCheckpoint = this.#tables.unread.length > 0;
    if (this.isFilling && isIdle) this.#tables.progress.writeMeta(FILLED, "yes");
    return false;
  }

  /**
   * Removed texts that have to be read again, so that their words can be removed.
   * @throws LostTextError if one never can be
   */
  unread(): readonly WaitingBlob[] {
    const { unread } = this.#tables;
    if (unread.every(({ blobId, digest }) => this.#live.exists(blobId, digest))) return unread;
    throw new LostTextError("The file of a removed text is deleted.");
  }

  /** Whether a blob is in use, so that its text may be stored. */
  isLive({ blobId, digest }: Pick<WaitingBlob, "blobId" | "digest">): boolean {
    return this.#live.isLive(blobId, digest, new Map());
  }

  #look(untilMs: number, reached: Map<number, boolean>): boolean {
    const steps = [
      () => this.#followJournals(reached),
      () => this.#lookBelow(reached),
      () => this.#lookAtFiles(reached),
      () => this.#lookAtTexts(reached),
    ];
    for (const step of steps) {
      while (step()) if (performance.now() > untilMs) return true;
    }
    return false;
  }

  /** @returns whether there may be more */
  #followJournals(reached: Map<number, boolean>): boolean {
    const cursors = this.#tables.progress.cursors();
    const heads = this.#live.heads();
    for (const id of cursors.keys()) {
      if (heads.has(id)) continue;
      this.#tables.progress.removeCursor(id);
      this.#nextText = 0;
    }
    for (const [accountId, head] of heads) {
      // The files of an account that is not known yet are looked at anyway while all files are.
      const seq = cursors.get(accountId) ?? (this.#nextFile === undefined ? 0 : head);
      if (seq >= head && cursors.has(accountId)) continue;
      const changes = this.#live.changesAfter(accountId, seq, CHANGES_TOGETHER);
      for (const nodeId of new Set(changes.map((change) => change.nodeId))) this.#lookAtNode(nodeId, reached);
      const isLast = changes.length < CHANGES_TOGETHER;
      this.#tables.progress.setCursor(accountId, isLast ? head : (changes.at(-1)?.seq ?? head));
      return true;
    }
    return false;
  }

  #lookAtNode(nodeId: number, reached: Map<number, boolean>): void {
    const kind = this.#live.kindOf(nodeId);
    // What it contained is not known any more.
    if (kind === undefined) this.#nextText = 0;
    else if (kind === "folder") this.#below.push(this.#live.filesBelow(nodeId));
    else {
      const { now, earlier } = this.#live.contentsOf(nodeId);
      if (now !== undefined) this.#lookAt(now, reached);
      for (const blobId of earlier) this.#removeUnused(blobId, reached);
    }
  }

  #lookBelow(reached: Map<number, boolean>): boolean {
    const [files] = this.#below;
    if (files === undefined) return false;
    for (let count = 0; count < FILES_TOGETHER; count++) {
      const { done, value } = files.next();
      if (done === true) {
        this.#below.shift();
        break;
      }
      this.#lookAt(value, reached);
    }
    return true;
  }

  #lookAtFiles(reached: Map<number, boolean>): boolean {
    if (this.#nextFile === undefined) return false;
    const { files, nextId } = this.#live.filesFrom(this.#nextFile, FILES_TOGETHER);
    for (const content of files) this.#lookAt(content, reached);
    this.#nextFile = nextId;
    return true;
  }

  #lookAtTexts(reached: Map<number, boolean>): boolean {
    if (this.#nextText === undefined) return false;
    const texts = this.#tables.textsAfter(this.#nextText, TEXTS_TOGETHER);
    for (const { blobId, digest } of texts) {
      if (!this.#live.isLive(blobId, digest, reached)) this.#remove(blobId);
    }
    this.#nextText = texts.length < TEXTS_TOGETHER ? undefined : texts.at(-1)?.blobId;
    return true;
  }

  #lookAt(content: WaitingBlob, reached: Map<number, boolean>): void {
    const { blobId, digest, mediaType } = content;
    const needsReading = hasText(mediaType) && !this.#tables.isKnown(blobId, digest);
    if (needsReading && this.#live.isLive(blobId, digest, reached)) this.#tables.progress.enqueue(content);
    else if (!needsReading) this.#removeUnused(blobId, reached);
  }

  #removeUnused(blobId: number, reached: Map<number, boolean>): void {
    const [text] = this.#tables.textsAfter(blobId - 1, 1);
    if (text?.blobId === blobId && !this.#live.isLive(blobId, text.digest, reached)) this.#remove(blobId);
  }

  #remove(blobId: number): void {
    this.#needsCheckpoint = true;
    this.#tables.markRemoved(blobId);
  }
}
