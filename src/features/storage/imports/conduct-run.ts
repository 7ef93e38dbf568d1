/** Conducts a run from its beginning to its end, and records both. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import type { SourceImporter, SourceImportRequest } from "./importer.ts";
import type { NewRun, RunRows } from "./queries.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { SourceError } from "./source.ts";
import { type ImportRun, newCounts, type RunState } from "./types.ts";
import { type Message, say } from "../../../translations/say.ts";

/** How a run ended, or why it waits. */
export interface RunEnd {
  readonly state: RunState;
  readonly message: Message | null;
}

/** The reason of a signal that ends a run: what the run is from then on. */
export class RunStop extends Error {
  override readonly name = "RunStop";

  constructor(readonly state: "waiting" | "paused" | "interrupted" | "canceled") {
    super(`The import is ${state}.`);
  }
}

/** Runs of an account that are stored. */
const RETAINED_MAX = 100;
const UNEXPECTED = say`The import stopped because of an unexpected error. The log of the server has the details.`;

/** A new run, or the last one of the same source if it has not ended. */
export async function openRun(
  { rows, writer, clock }: { readonly rows: RunRows; readonly writer: Pick<Writer, "run">; readonly clock: Clock },
  newRun: Omit<NewRun, "publicId">,
): Promise<ImportRun> {
  return writer.run(() => {
    const [last] = rows.ofAccount(newRun.accountId, 1, 0);
    const isSame = last?.kind === newRun.kind && last.origin === newRun.origin && last.source === newRun.source;
    const hasEnded = last?.state === "completed" || last?.state === "canceled";
    if (last !== undefined && isSame && !hasEnded) {
      rows.setRequest(last.id, newRun.request);
      return { ...last, request: newRun.request };
    }
    const nowMs = clock.nowMs();
    const publicId = newId("imp", nowMs);
    const id = rows.insert({ ...newRun, publicId }, newCounts(), nowMs);
    rows.removeOld(newRun.accountId, RETAINED_MAX);
    const run = rows.findById(id);
    if (run === undefined) throw new Error("The new import is not in the database.");
    return run;
  });
}

/** Imports, and records how it ends. Never throws because of the import itself. */
export async function conductRun(
  importer: SourceImporter,
  recorded: RecordedRun,
  request: Omit<SourceImportRequest, "progress">,
  log: Log,
): Promise<RunEnd> {
  await recorded.begin();
  let end: RunEnd = { state: "completed", message: null };
  try {
    await importer.run({ ...request, progress: recorded.progress });
  } catch (error) {
    end = describeEnd(error, request.signal);
    if (end.message === UNEXPECTED) log.error("An import failed.", { error });
  }
  await recorded.end(end.state, end.message);
  return end;
}

/** The state and the message after an error. */
export function describeEnd(error: unknown, signal: AbortSignal): RunEnd {
  if (signal.aborted) {
    const state = signal.reason instanceof RunStop ? signal.reason.state : "interrupted";
    return { state, message: null };
  }
  if (error instanceof SourceError) {
    return { state: error.isTemporary ? "interrupted" : "failed", message: error.text };
  }
  if (error instanceof AppError) return { state: "failed", message: error.text };
  return { state: "failed", message: UNEXPECTED };
}
