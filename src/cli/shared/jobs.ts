import { StartupError } from "../../config/startup-error.ts";
import { openDatabase } from "../../db/open.ts";
import { Writer } from "../../db/transaction.ts";
import { findJobResult, isJobRunning, type JobOutcome, requestJob } from "../../jobs/job-requests.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import type { RunningCommand } from "./command.ts";
import { withLock, withServices } from "./services.ts";
import { messageOf } from "../../lib/error.ts";

/** How long a command waits for the database while the server writes without a pause. SQLite tries ten times a second. */
export const BUSY_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/** A server starts a requested job within a second. After this time, it can't. */
const START_MS_MAX = 15_000;

/** A job to run. */
interface JobRequest {
  readonly name: string;
  readonly arguments: object;
  /** What the error message says if the server stops first. */
  readonly unfinished: string;
  /** Whether an error of the job in this process is a {@link JobOutcome} too, as it is on the server. */
  readonly returnsErrors?: boolean;
  /** Called ten times a second while the server does the work. */
  readonly onWait?: () => void;
}

/** Runs a job: in the running server if there is one, otherwise in this process. */
export async function runJob(command: RunningCommand, request: JobRequest): Promise<JobOutcome> {
  const paths = openDataDirectory(command.config.data);
  if (findRunningServer(paths.lock) !== undefined) return runOnServer(command, request);
  // The lock is held so that no server starts and accepts uploads while blobs are removed or moved.
  return withLock(paths, () =>
    withServices(
      command,
      async (services) => {
        try {
          return { isOk: true, text: await services.runJob(request.name, request.arguments) };
        } catch (error) {
          if (request.returnsErrors !== true) throw error;
          return { isOk: false, text: messageOf(error) };
        }
      },
      { holdsLock: true },
    ),
  );
}

async function runOnServer(command: RunningCommand, request: JobRequest): Promise<JobOutcome> {
  const paths = openDataDirectory(command.config.data);
  const db = openDatabase(paths.database, BUSY_TIMEOUT_MS);
  try {
    const writer = new Writer(db.sqlite, command.log());
    const requestedAt = requestJob(writer, db, request.name, request.arguments, Date.now());
    for (let waitsSinceMs = performance.now(); ; ) {
      const outcome = findJobResult(db, request.name, requestedAt);
      if (outcome !== undefined) return outcome;
      if (findRunningServer(paths.lock) === undefined) {
        throw new StartupError(`The server stopped before ${request.unfinished}. Run the command again to continue.`);
      }
      if (isJobRunning(db, request.name)) waitsSinceMs = performance.now();
      if (performance.now() - waitsSinceMs > START_MS_MAX) {
        throw new StartupError(
          `The server did not start the job "${request.name}", or could not save its result. The server's log says why.`,
        );
      }
      request.onWait?.();
      await Bun.sleep(POLL_MS);
    }
  } finally {
    db.close();
  }
}
