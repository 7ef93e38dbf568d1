import type { Message } from "../../../translations/say.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { ImportProgress, LISTED_MAX } from "./progress.ts";
import type { RunRows } from "./queries.ts";
import type { ImportRun, RunState } from "./types.ts";

/** Dependencies of {@link RecordedRun}. */
interface RecordedRunOptions {
  readonly rows: Pick<RunRows, "addProblems" | "change" | "removeProblems">;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly log: Log;
}

const EVERY_MS = 1_000;

/** Records the progress of a run, at most once a second. The last report before a pause is recorded too. */
export class RecordedRun {
  readonly progress: ImportProgress;
  readonly #options: RecordedRunOptions;
  readonly #run: ImportRun;
  #nextMs = 0;
  #timer: Timer | undefined;
  #hasEnded = false;
  #recorded = 0;
  #recording: Promise<void> = Promise.resolve();

  /** @param onReport called at intervals, in addition. @param listedMax of the problems in memory; fewer are recorded */
  constructor(
    options: RecordedRunOptions,
    run: ImportRun,
    onReport: (progress: ImportProgress) => void = () => {},
    listedMax = LISTED_MAX,
  ) {
    this.#options = options;
    this.#run = run;
    this.progress = new ImportProgress(
      (progress) => {
        onReport(progress);
        this.#recordSoon();
      },
      listedMax,
      run.counts,
    );
  }

  /** Begins: the problems of an earlier part of the run are found again. */
  async begin(): Promise<void> {
    const { rows, writer, clock } = this.#options;
    await writer.run(() => {
      rows.removeProblems(this.#run.id);
      rows.change(this.#run.id, { state: "running", message: null, counts: this.progress.counts }, clock.nowMs());
    });
  }

  /** Records the end, or that the run waits. */
  async end(state: RunState, message: Message | null): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    await this.#recording;
    await this.#record(state, message);
  }

  #recordSoon(): void {
    if (this.#hasEnded || this.#timer !== undefined) return;
    const waitMs = this.#nextMs - performance.now();
    if (waitMs <= 0) this.#recordNow();
    else this.#timer = setTimeout(() => this.#recordNow(), waitMs);
  }

  #recordNow(): void {
    this.#timer = undefined;
    this.#nextMs = performance.now() + EVERY_MS;
    this.#recording = this.#recording
      .then(() => this.#record("running", null))
      .catch((error: unknown) => this.#options.log.warn("The progress of an import could not be recorded.", { error }));
  }

  #record(state: RunState, message: Message | null): Promise<void> {
    const { rows, writer, clock } = this.#options;
    const { counts, problems } = this.progress;
    const first = this.#recorded;
    const fresh = problems.slice(first, LISTED_MAX);
    return writer
      .run(() => {
        rows.addProblems(this.#run.id, fresh, first);
        rows.change(this.#run.id, { state, message, counts }, clock.nowMs());
      })
      .then(() => {
        this.#recorded = first + fresh.length;
      });
  }
}
