/**
 * The extractions of archives: one at a time for each account, two on the server. They continue when the client is gone,
 * and are forgotten, with nothing left of them, when the server stops.
 */
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { FairQueue } from "../../../lib/fair-queue.ts";
import { newId } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import { normalizeName } from "../../../lib/path.ts";
import { Turns } from "../../../lib/turns.ts";
import { splitName } from "../../../tree/tables/names.ts";
import { say } from "../../../translations/say.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Extraction } from "./extraction.ts";
import type { ExtractionTarget, Extractor } from "./extractor.ts";

/** Dependencies of {@link Extractions}. */
export interface ExtractionsOptions {
  readonly extractor: Extractor;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where to extract to, as requested. */
export interface ExtractionRequest {
  readonly fileId: string;
  readonly folderPath: string | undefined;
  readonly share: string | undefined;
  /** Of the new folder; by default the name of the archive without its extension. */
  readonly name: string | undefined;
}

const RUNNING_MAX = 2;
/** Extractions of one account that may wait, and of all accounts. */
const WAITING_OF_ACCOUNT_MAX = 4;
const WAITING_MAX = 32;
/** How long the result of an extraction can be read. */
const RESULT_MS = 60 * 60_000;
const BUSY = say`Other archives are being extracted. Try again when they are finished.`;

/** Begins, lists and cancels extractions. */
export class Extractions {
  readonly #options: ExtractionsOptions;
  readonly #known = new Map<string, { readonly extraction: Extraction; readonly controller: AbortController }>();
  readonly #running = new Set<Promise<void>>();
  readonly #turns = new Turns(WAITING_OF_ACCOUNT_MAX, BUSY);
  readonly #queue = new FairQueue({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX });
  #isClosed = false;

  constructor(options: ExtractionsOptions) {
    this.#options = options;
  }

  /**
   * Begins an extraction.
   * @throws AppError not_found | share_permission | invalid_field | overloaded, before anything is read or written
   */
  begin(uploader: Uploader, { fileId, folderPath, share, name }: ExtractionRequest): Extraction {
    const { extractor, clock } = this.#options;
    const { user } = uploader;
    const admitted = extractor.admit(user, fileId, { folderPath, share, name: "" });
    const fileName = admitted.archive.node.name;
    const target = { folderPath, share, name: normalizeName(name ?? splitName(fileName).stem) };
    this.#forgetOld();
    const waiting = [...this.#known.values()].filter(({ extraction }) => extraction.endedAtMs === undefined);
    const own = waiting.filter(({ extraction }) => extraction.userId === user.id);
    if (this.#isClosed || own.length > WAITING_OF_ACCOUNT_MAX || waiting.length > WAITING_MAX) throw busy();
    const extraction: Extraction = {
      id: newId("ext", clock.nowMs()),
      userId: user.id,
      fileId,
      fileName,
      startedAtMs: clock.nowMs(),
      state: "waiting",
      files: 0,
      filesDone: 0,
      bytes: 0,
      bytesDone: 0,
      folder: undefined,
      error: undefined,
      endedAtMs: undefined,
    };
    const controller = new AbortController();
    this.#known.set(extraction.id, { extraction, controller });
    const running = this.#run(uploader, target, extraction, controller.signal);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    return extraction;
  }

  /** An extraction that the user began in the last hour. @throws AppError not_found */
  get(user: User, id: string): Extraction {
    return this.#find(user, id).extraction;
  }

  /** The extractions that the user began in the last hour, newest first. */
  list(user: User): Extraction[] {
    this.#forgetOld();
    const own = [...this.#known.values()].map(({ extraction }) => extraction);
    return own.filter(({ userId }) => userId === user.id).toReversed();
  }

  /** Cancels an extraction; one that has ended stays as it is. @throws AppError not_found */
  cancel(user: User, id: string): Extraction {
    const { extraction, controller } = this.#find(user, id);
    controller.abort();
    return extraction;
  }

  /** Cancels all extractions, and waits until nothing of them runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { controller } of this.#known.values()) controller.abort();
    await Promise.all(this.#running);
  }

  /** Never throws: the result is in the extraction. */
  async #run(uploader: Uploader, target: ExtractionTarget, extraction: Extraction, signal: AbortSignal): Promise<void> {
    const { extractor, clock, log } = this.#options;
    const work = async () => {
      signal.throwIfAborted();
      extraction.state = "running";
      return extractor.run(uploader, target, extraction, signal);
    };
    const { userId } = extraction;
    try {
      const queued = () => this.#queue.run(String(userId), work, busy);
      extraction.folder = await this.#turns.take([userId], queued);
      extraction.state = "done";
    } catch (error) {
      extraction.state = signal.aborted ? "canceled" : "failed";
      if (!signal.aborted) extraction.error = describe(error);
      if (extraction.error?.reason === "unexpected") log.error("An archive could not be extracted.", { error });
    }
    extraction.endedAtMs = clock.nowMs();
  }

  #find(user: User, id: string) {
    const found = this.#known.get(id);
    if (found?.extraction.userId !== user.id) throw notFound(say`This extraction was not found.`);
    return found;
  }

  #forgetOld(): void {
    const oldest = this.#options.clock.nowMs() - RESULT_MS;
    for (const [id, { extraction }] of this.#known) {
      if (extraction.endedAtMs !== undefined && extraction.endedAtMs < oldest) this.#known.delete(id);
    }
  }
}

function busy(): AppError {
  return new AppError("overloaded", BUSY);
}

function describe(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unexpected", say`The archive could not be extracted. Try again.`, {}, error);
}
