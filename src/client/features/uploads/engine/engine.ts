// The upload queue: which uploads run, how failures are handled, and what people can do.
import { wakeableWait } from "./backoff.ts";
import type { EngineDependencies } from "./dependencies.ts";
import { UploadStore } from "./upload-store.ts";
import { TransferError, type Failure } from "./failures.ts";
import type { SavedUpload } from "./upload-db.ts";
import { metadataOf, newUpload } from "./new-upload.ts";
import type { UploadSources } from "./sources.ts";
import { recoveryFrom, type Retry } from "./recovery.ts";
import { abortRun, aborted, newRun, type UploadRun } from "./run.ts";
import { newId } from "./tabs.ts";
import { text } from "../text.ts";
import {
  type ConflictChoice,
  ENDED_STATES,
  OPEN_STATES,
  BLOCKED_STATES,
  type Upload,
  type UploadSource,
  type UploadState,
} from "./types.ts";

/** How many files are sent in parallel. */
const PARALLEL_MAX = 3;

/** Options for adding files. */
export interface AddOptions {
  readonly folder: string;
  readonly share?: string | undefined;
  /** The same for files that are added together in several calls. */
  readonly batch?: string | undefined;
}

/** Sends files, a few in parallel, for as long as it takes. */
export class UploadEngine {
  readonly store = new UploadStore();
  private readonly sources: UploadSources;
  private readonly runs = new Map<string, UploadRun>();
  private readonly policies = new Map<string, ConflictChoice>();
  private readonly deps: EngineDependencies;
  private queue: string[] = [];
  private userId: string | undefined;
  private stored = 0;

  constructor(deps: EngineDependencies) {
    this.deps = deps;
    this.sources = deps.persistence.sources;
  }

  /**
   * Starts for an account: resumes the uploads of this tab from before a reload, and later those of tabs that were
   * closed.
   */
  async start(userId: string): Promise<void> {
    if (this.userId === userId) return;
    // Files that were added before the start belong to this account: a page accepts files before its tray is rendered.
    if (this.userId !== undefined) this.stop();
    this.userId = userId;
    const starting = this.deps.persistence.start(userId, (saved) => this.restore(saved));
    this.deps.persistence.save(this.store.all().filter(({ state }) => !ENDED_STATES.has(state)));
    await starting;
  }

  /** Stops sending and forgets the account. Saved uploads stay for the next start. */
  stop(): void {
    this.userId = undefined;
    this.deps.persistence.end();
    this.queue = [];
    for (const run of this.runs.values()) abortRun(run);
    this.store.remove(this.store.all().map(({ id }) => id));
  }

  /**
   * Adds files to the queue. Returns at once.
   * @returns the batch, for adding more files to it
   */
  add(sources: readonly UploadSource[], options: AddOptions): string {
    const { folder, share, batch = newId() } = options;
    const uploads = sources.map((source): Upload => {
      const upload = newUpload(source, folder, share, batch);
      this.sources.set(upload.id, source);
      return upload;
    });
    this.store.add(uploads);
    for (const { id } of uploads) this.queue.push(id);
    this.deps.persistence.save(uploads);
    const { userId } = this;
    // A sign-out does not end an upload: it continues after the next sign-in.
    this.deps.persistence.saveFiles(uploads, (id) => this.userId !== userId || this.isOpen(id));
    this.startNext();
    return batch;
  }

  pause(id: string): void {
    const upload = this.store.find(id);
    if (upload === undefined || !OPEN_STATES.has(upload.state)) return;
    this.abort(id);
    this.setState(id, "paused", undefined);
  }

  pauseAll(): void {
    for (const { id } of this.store.all()) this.pause(id);
  }

  /** Resumes an upload that is paused, failed, or waiting for the network. */
  resume(id: string): void {
    const upload = this.store.find(id);
    if (upload === undefined) return;
    this.runs.get(id)?.wait?.wake();
    if (upload.state !== "paused" && upload.state !== "failed") return;
    if (this.sources.findFile(id) === undefined) this.setState(id, "missing", this.missingMessage(id));
    else this.enqueue(id);
  }

  resumeAll(): void {
    for (const { id } of this.store.all()) this.resume(id);
  }

  /** Cancels an unfinished upload and deletes it on the server; removes others from the list. */
  cancel(id: string): void {
    const upload = this.store.find(id);
    if (upload === undefined) return;
    this.abort(id);
    this.deps.persistence.remove([id]);
    this.store.remove([id]);
    if (upload.url !== undefined && !ENDED_STATES.has(upload.state)) void this.deps.terminate(upload.url);
  }

  cancelAll(): void {
    for (const { id } of this.store.all()) this.cancel(id);
  }

  /** Removes finished uploads from the list. */
  clearEnded(): void {
    this.store.remove(
      this.store
        .all()
        .filter(({ state }) => ENDED_STATES.has(state))
        .map(({ id }) => id),
    );
  }

  /** Decides a name conflict; `forAll` decides all files of the same batch, including later ones. */
  resolveConflict(id: string, choice: ConflictChoice, forAll: boolean): void {
    const upload = this.store.find(id);
    if (upload === undefined) return;
    if (forAll) this.policies.set(upload.batch, choice);
    for (const { id: each, batch, state } of this.store.all()) {
      if (state !== "conflict" || (each !== id && !(forAll && batch === upload.batch))) continue;
      if (this.applyChoice(each, choice)) this.enqueue(each);
    }
  }

  /**
   * Accepts files for uploads whose file could not be read again.
   * @returns how many of them matched
   */
  provide(files: readonly File[]): number {
    let matches = 0;
    for (const upload of this.store.all()) {
      if (upload.state !== "missing") continue;
      if (!files.some((file) => this.sources.accept(upload, file))) continue;
      matches += 1;
      this.enqueue(upload.id);
    }
    return matches;
  }

  /**
   * Asks the browser for permission to read files again; only within a click.
   * @returns whether a file is still unreadable
   */
  async requestAccess(): Promise<boolean> {
    let isIncomplete = false;
    for (const upload of this.store.all()) {
      if (!this.isMissing(upload.id)) continue;
      const isReadable = await this.sources.requestAccess(upload);
      // In the meantime the upload may have been sent or canceled.
      if (!this.isMissing(upload.id)) continue;
      if (isReadable) this.enqueue(upload.id);
      else isIncomplete = true;
    }
    return isIncomplete;
  }

  /** Whether the browser can ask for permission to read the file of a missing upload. */
  canRequestAccess(id: string): boolean {
    return this.sources.findHandle(id) !== undefined;
  }

  /** The network is back, or the page is visible again: waiting uploads retry at once. */
  wake(): void {
    for (const run of this.runs.values()) run.wait?.wake();
  }

  private async restore(saved: readonly SavedUpload[]): Promise<void> {
    const uploads: Upload[] = [];
    for (const one of saved) {
      if (this.store.find(one.upload.id) !== undefined) continue;
      const isReadable = await this.sources.recover(one);
      const isAtRest = one.upload.state === "paused" || one.upload.state === "failed";
      const state: UploadState = !isReadable ? "missing" : isAtRest ? one.upload.state : "waiting";
      const problem = !isReadable ? this.missingMessage(one.upload.id) : isAtRest ? one.upload.problem : undefined;
      uploads.push({ ...one.upload, state, problem });
    }
    if (uploads.length === 0) return;
    this.store.add(uploads);
    this.deps.persistence.save(uploads);
    for (const { id, state } of uploads) if (state === "waiting") this.queue.push(id);
    this.startNext();
  }

  private enqueue(id: string): void {
    this.setState(id, "waiting", undefined);
    this.queue.push(id);
    this.startNext();
  }

  private startNext(): void {
    while (this.runs.size < PARALLEL_MAX) {
      const id = this.queue.shift();
      if (id === undefined) break;
      if (this.store.find(id)?.state !== "waiting" || this.runs.has(id)) continue;
      const run = newRun();
      this.runs.set(id, run);
      void this.run(id, run).finally(() => {
        if (this.runs.get(id) === run) this.runs.delete(id);
        this.startNext();
      });
    }
    if (this.runs.size === 0 && this.userId !== undefined) this.reportSettled();
  }

  private reportSettled(): void {
    const all = this.store.all();
    if (all.some(({ state }) => OPEN_STATES.has(state))) return;
    const blocked = all.filter(({ state }) => BLOCKED_STATES.has(state)).length;
    if (this.stored > 0 || blocked > 0) this.deps.onSettled(this.stored, blocked);
    this.stored = 0;
  }

  /** Sends one upload until it is done, needs a person, or is aborted. */
  private async run(id: string, run: UploadRun): Promise<void> {
    const { signal } = run.controller;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const upload = this.store.change(id, { state: "sending", problem: undefined });
      const file = this.sources.findFile(id);
      if (upload === undefined) return;
      if (file === undefined) return this.setState(id, "missing", this.missingMessage(id));
      let isContinuation = false;
      try {
        const { fileId } = await this.deps.send({
          file,
          endpoint: this.deps.endpoint(),
          url: upload.url,
          metadata: metadataOf(upload),
          chunkSize: upload.chunkSize,
          idempotencyKey: `${id}-${upload.onConflict}-${upload.chunkSize}`,
          signal,
          onProgress: (sent) => {
            if (signal.aborted) return;
            this.store.progress(id, sent, isContinuation);
            if (isContinuation) attempt = 0;
            isContinuation = true;
          },
          onUrl: (url) => {
            const changed = this.store.change(id, { url });
            if (changed !== undefined) this.deps.persistence.save([changed]);
          },
        });
        return this.finish(id, fileId);
      } catch (error) {
        if (signal.aborted) return;
        const failure: Failure = error instanceof TransferError ? error.failure : { kind: "network" };
        run.failures.set(failure.kind, (run.failures.get(failure.kind) ?? 0) + 1);
        const shouldRetry = await this.recoverFrom(id, run, failure, attempt);
        if (!shouldRetry) return;
      }
    }
  }

  /**
   * Handles a failure.
   * @returns whether to try again
   */
  private async recoverFrom(id: string, run: UploadRun, failure: Failure, attempt: number): Promise<boolean> {
    const upload = this.store.find(id);
    if (upload === undefined) return false;
    const recovery = recoveryFrom(failure, { upload, attempt, times: run.failures.get(failure.kind) ?? 1 });
    switch (recovery.kind) {
      case "retry":
        return this.retry(id, run, recovery);
      case "waitForSignIn":
        this.store.change(id, { state: "signedOut", problem: text.waitingForSignIn });
        await Promise.race([this.deps.whenSignedIn(), aborted(run.controller.signal)]);
        return !run.controller.signal.aborted;
      case "resolveConflict":
        return this.resolveOrAsk(upload, run, recovery.problem);
      case "askForFile":
        this.sources.drop(id);
        return this.stopFor(id, "missing", recovery.problem);
      case "fail":
        return this.stopFor(id, "failed", recovery.problem);
    }
  }

  private retry(id: string, run: UploadRun, { change, savesChange, problem, delayMs }: Retry): Promise<boolean> {
    const changed = change === undefined ? undefined : this.store.change(id, change);
    if (changed !== undefined && savesChange === true) this.deps.persistence.save([changed]);
    return this.waitFor(id, run, problem, delayMs);
  }

  /** Applies the choice for the batch to a name conflict; without one, the person is asked. */
  private async resolveOrAsk({ id, url, batch }: Upload, run: UploadRun, problem: string): Promise<boolean> {
    // The choice is fixed when the upload is created, so this upload is useless now, and takes up space.
    if (url !== undefined) await this.deps.terminate(url);
    if (run.controller.signal.aborted) return false;
    this.store.change(id, { url: undefined, sent: 0 });
    const choice = this.policies.get(batch);
    return choice === undefined ? this.stopFor(id, "conflict", problem) : this.applyChoice(id, choice);
  }

  private async waitFor(id: string, run: UploadRun, problem: string | undefined, ms: number): Promise<boolean> {
    if (problem !== undefined) this.store.change(id, { state: "stalled", problem });
    run.wait = wakeableWait(ms);
    // Aborting wakes it too.
    await run.wait.done;
    run.wait = undefined;
    return !run.controller.signal.aborted;
  }

  private stopFor(id: string, state: UploadState, problem: string): false {
    // Without a URL, the server has stored nothing of it.
    if (this.store.find(id)?.url === undefined) this.store.change(id, { sent: 0 });
    this.setState(id, state, problem);
    return false;
  }

  /**
   * Applies a person's choice to an upload.
   * @returns whether to send it
   */
  private applyChoice(id: string, choice: ConflictChoice): boolean {
    if (choice === "skip") {
      this.store.change(id, { state: "skipped", problem: undefined });
      this.deps.persistence.remove([id]);
      return false;
    }
    return this.store.change(id, { onConflict: choice }) !== undefined;
  }

  private finish(id: string, fileId: string | undefined): void {
    const upload = this.store.find(id);
    if (upload === undefined) return;
    this.store.change(id, { state: "done", sent: upload.size, fileId, problem: undefined });
    this.deps.persistence.remove([id]);
    this.stored += 1;
    this.deps.onStored();
  }

  private setState(id: string, state: UploadState, problem: string | undefined): void {
    const changed = this.store.change(id, { state, problem });
    if (changed !== undefined) this.deps.persistence.save([changed]);
  }

  private abort(id: string): void {
    const run = this.runs.get(id);
    this.runs.delete(id);
    if (run !== undefined) abortRun(run);
  }

  private missingMessage(id: string): string {
    return this.sources.findHandle(id) === undefined ? text.chooseAgain : text.allowAgain;
  }

  private isMissing(id: string): boolean {
    return this.store.find(id)?.state === "missing";
  }

  private isOpen(id: string): boolean {
    const state = this.store.find(id)?.state;
    return state !== undefined && !ENDED_STATES.has(state);
  }
}
