/**
 * The imports that a server runs: one at a time for each account, and few in all. They continue when the client is gone,
 * and after a restart of the server, unless they need a secret: secrets are only in memory.
 */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { FairQueue } from "../../../lib/fair-queue.ts";
import type { Log } from "../../../lib/log.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { conductRun, describeEnd, openRun, RunStop } from "./conduct-run.ts";
import type { SourceImporter } from "./importer.ts";
import { openSource, type SourceOpenerOptions } from "./open-source.ts";
import type { NewImport } from "./new-import.ts";
import type { RunRows } from "./queries.ts";
import { RecordedRun } from "./recorded-run.ts";
import type { ImportSource } from "./source.ts";
import { continuedCounts, type ImportProblem, type ImportRun, type RunState } from "./types.ts";

/** Dependencies of {@link ImportService}. */
export interface ImportServiceOptions extends SourceOpenerOptions {
  readonly runs: RunRows;
  readonly importer: SourceImporter;
  readonly users: Pick<UserService, "findById">;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Imports that run at the same time. */
  readonly runningMax: number;
}

/** A part of a list. */
export interface ListPart {
  readonly limit: number;
  readonly offset: number;
}

/** A run that waits or runs. */
interface ActiveRun {
  readonly run: ImportRun;
  readonly controller: AbortController;
  done: Promise<void>;
}

const WAITING_MAX = 64;
const CHECK_MS = 1_000;
const RESUMABLE: ReadonlySet<RunState> = new Set<RunState>(["paused", "interrupted", "failed"]);
const NEEDS_SECRET = say`The server was restarted. Enter the password or the API key again to continue.`;

/** Begins, lists, and ends imports. */
export class ImportService {
  readonly #options: ImportServiceOptions;
  readonly #queue: FairQueue;
  /** By row id. */
  readonly #active = new Map<number, ActiveRun>();
  /** Accounts whose import is about to begin. */
  readonly #starting = new Set<number>();
  /** Passwords and keys of runs that may continue, by row id. */
  readonly #secrets = new Map<number, string>();
  #isClosed = false;

  constructor(options: ImportServiceOptions) {
    this.#options = options;
    this.#queue = new FairQueue({ runningMax: options.runningMax, waitingMax: WAITING_MAX });
  }

  /** The folder of the machine that administrators may import from; null for none. */
  get importsFolder(): string | null {
    return this.#options.importsFolder;
  }

  /** Continues the runs that an end of the server has interrupted. Only in the server. */
  async begin(): Promise<void> {
    const { runs, writer, clock } = this.#options;
    for (const run of runs.unfinished()) {
      if (run.request.url === undefined) this.#launch(run);
      else {
        const change = { state: "interrupted", message: NEEDS_SECRET, counts: run.counts } as const;
        await writer.run(() => runs.change(run.id, change, clock.nowMs()));
      }
    }
  }

  /**
   * Begins an import, or continues the last one if it is the same and has not ended.
   * @param secret the password or key of the server that is read; only in memory
   * @throws AppError import_state if an import of the account is running
   */
  async start(newRun: NewImport, secret: string | undefined): Promise<ImportRun> {
    const { runs: rows, writer, clock } = this.#options;
    const { accountId } = newRun;
    this.#rejectSecond(accountId);
    this.#starting.add(accountId);
    try {
      const run = await openRun({ rows, writer, clock }, { ...newRun, state: "waiting" });
      return await this.#restart(run, secret);
    } finally {
      this.#starting.delete(accountId);
    }
  }

  /** A run of the account. @throws AppError not_found */
  get(user: User, publicId: string): ImportRun {
    const run = this.#options.runs.find(publicId);
    if (run?.accountId !== user.id) throw notFound(say`This import was not found.`);
    return run;
  }

  /** A run of any account. @throws AppError not_found */
  getAny(publicId: string): ImportRun {
    const run = this.#options.runs.find(publicId);
    if (run === undefined) throw notFound(say`This import was not found.`);
    return run;
  }

  /** The runs of an account, newest first. */
  list(user: User, { limit, offset }: ListPart): { readonly runs: readonly ImportRun[]; readonly total: number } {
    const { runs } = this.#options;
    return { runs: runs.ofAccount(user.id, limit, offset), total: runs.countOfAccount(user.id) };
  }

  /** The runs of all accounts, newest first. */
  listAll({ limit, offset }: ListPart): { readonly runs: readonly ImportRun[]; readonly total: number } {
    const { runs } = this.#options;
    return { runs: runs.all(limit, offset), total: runs.count() };
  }

  /** What a run did not import: the first of them. */
  problems(run: ImportRun, { limit, offset }: ListPart) {
    const { runs } = this.#options;
    const problems: readonly ImportProblem[] = runs.problems(run.id, limit, offset);
    return { problems, total: runs.countProblems(run.id) };
  }

  /** Whether a run can continue only with its password or key. */
  needsSecret({ id, request }: ImportRun): boolean {
    return request.url !== undefined && !this.#secrets.has(id);
  }

  /** Pauses a run. @throws AppError import_state if it does not wait or run here, or the account did not start it */
  async pause(run: ImportRun): Promise<ImportRun> {
    if (run.origin !== "account") rejectState(run, say`This import can't be paused in its present state.`);
    await this.#stop(
      this.#active.get(run.id) ?? rejectState(run, say`This import can't be paused in its present state.`),
      "paused",
    );
    return this.getAny(run.publicId);
  }

  /**
   * Continues a run. Not one of an administrator: its folder may have files of another person by now.
   * @throws AppError import_state; invalid_field without the secret that it needs
   */
  async resume(run: ImportRun, secret: string | undefined): Promise<ImportRun> {
    if (!RESUMABLE.has(run.state) || run.origin !== "account")
      rejectState(run, say`This import can't be resumed in its present state.`);
    this.#rejectSecond(run.accountId);
    return this.#restart(run, secret);
  }

  /** Ends a run; what is imported stays. @throws AppError import_state if it has ended */
  async cancel(run: ImportRun): Promise<ImportRun> {
    const { runs, writer, clock } = this.#options;
    const active = this.#active.get(run.id);
    if (active !== undefined) await this.#stop(active, "canceled");
    else if (RESUMABLE.has(run.state)) {
      const change = { state: "canceled", message: null, counts: run.counts } as const;
      await writer.run(() => runs.change(run.id, change, clock.nowMs()));
    } else rejectState(run, say`This import can't be canceled in its present state.`);
    this.#secrets.delete(run.id);
    return this.getAny(run.publicId);
  }

  /** Interrupts all runs, and waits until nothing of them runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopping = [...this.#active.values()].map((active) =>
      // The next start continues those that need no secret.
      this.#stop(active, active.run.request.url === undefined ? "waiting" : "interrupted"),
    );
    await Promise.all(stopping);
  }

  /** @throws AppError import_state */
  #rejectSecond(accountId: number): void {
    const hasActive = [...this.#active.values()].some(({ run }) => run.accountId === accountId);
    if (!hasActive && !this.#starting.has(accountId) && !this.#isClosed) return;
    throw new AppError("import_state", say`Another import of this account is running. Wait until it has ended.`);
  }

  async #restart(run: ImportRun, secret: string | undefined): Promise<ImportRun> {
    const { runs, writer, clock } = this.#options;
    if (secret !== undefined) this.#secrets.set(run.id, secret);
    if (this.needsSecret(run))
      throw invalidField("secret", say`Enter the password or the API key of the other system.`);
    const waiting = this.#launch(run);
    await writer.run(() => {
      // It may run already.
      if (waiting.isWaiting())
        runs.change(run.id, { state: "waiting", message: null, counts: continuedCounts(run.counts) }, clock.nowMs());
    });
    return this.getAny(run.publicId);
  }

  #launch(run: ImportRun): { readonly isWaiting: () => boolean } {
    const controller = new AbortController();
    const active: ActiveRun = { run, controller, done: Promise.resolve() };
    this.#active.set(run.id, active);
    let isWaiting = true;
    const work = () => {
      isWaiting = false;
      return this.#run(run, controller);
    };
    active.done = this.#queue
      .run(String(run.accountId), work, tooMany, controller.signal)
      .catch((error: unknown) => this.#fail(run, error))
      .finally(() => {
        isWaiting = false;
        this.#active.delete(run.id);
        const state = this.#options.runs.findById(run.id)?.state;
        if (state === undefined || !RESUMABLE.has(state)) this.#secrets.delete(run.id);
      });
    return { isWaiting: () => isWaiting };
  }

  async #run(run: ImportRun, controller: AbortController): Promise<void> {
    const { importer, log, runs: rows } = this.#options;
    const { signal } = controller;
    if (signal.aborted) return this.#fail(run, signal.reason, signal);
    const user = this.#findImporter(run);
    if (user === undefined) return this.#fail(run, new RunStop("canceled"));
    const confirm = () => {
      if (this.#findImporter(run) !== undefined) return;
      controller.abort(new RunStop("canceled"));
      signal.throwIfAborted();
    };
    let source: ImportSource | undefined;
    let watch: ReturnType<typeof setInterval> | undefined;
    try {
      source = await openSource(this.#options, user, run, this.#secrets.get(run.id));
      // Also while a long file is read, and nothing is written.
      watch = setInterval(() => {
        if (this.#findImporter(run) === undefined) controller.abort(new RunStop("canceled"));
      }, CHECK_MS);
      const { folder, restoresDeleted } = run.request;
      const request = { user, source, folder, restoresDeleted, isDryRun: false, hasOtherServer: false, isGentle: true };
      await conductRun(
        importer,
        new RecordedRun({ ...this.#options, rows }, run),
        { ...request, signal, confirm },
        log,
      );
    } catch (error) {
      await this.#fail(run, error, signal);
    } finally {
      clearInterval(watch);
      await source?.close();
    }
  }

  /** The account of a run; undefined if it was deleted or disabled, or may not change files. */
  #findImporter({ accountId }: ImportRun): User | undefined {
    const user = this.#options.users.findById(accountId);
    return user !== undefined && mayImport(user) ? user : undefined;
  }

  /** Records a run that ended before it began. */
  async #fail({ id, counts }: ImportRun, error: unknown, signal?: AbortSignal): Promise<void> {
    const { runs, writer, clock, log } = this.#options;
    const stopped = signal ?? AbortSignal.abort(error);
    const end =
      error instanceof RunStop ? describeEnd(error, stopped) : describeEnd(error, new AbortController().signal);
    try {
      await writer.run(() => runs.change(id, { ...end, counts }, clock.nowMs()));
    } catch (failure) {
      log.error("The end of an import could not be recorded.", { error: failure });
    }
  }

  async #stop({ controller, done }: ActiveRun, state: RunStop["state"]): Promise<void> {
    controller.abort(new RunStop(state));
    await done;
  }
}

function tooMany(): AppError {
  return new AppError("overloaded", say`Too many imports are waiting. Try again later.`);
}

function mayImport({ disabledAtMs, role }: User): boolean {
  return disabledAtMs === null && role !== "viewer";
}

/** @throws AppError import_state */
function rejectState({ state, origin }: ImportRun, what: Message): never {
  const message = {
    account: what,
    administrator: say`${what} An administrator started it: ask them to start it again.`,
    command: say`${what} It was started by a command: stop or repeat that.`,
  }[origin];
  throw new AppError("import_state", message, { state });
}
