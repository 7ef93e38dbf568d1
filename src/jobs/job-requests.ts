/** How commands request jobs of the running server: in the table of jobs. */
import type { Db } from "../db/open.ts";
import type { Writer } from "../db/transaction.ts";

/** The result of a run. */
export interface JobOutcome {
  readonly isOk: boolean;
  /** What the job returned, or the message of the error. */
  readonly text: string;
}

/** A row of the table of jobs. */
export interface JobRow {
  readonly name: string;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly cursor: string | null;
  readonly requestedAt: number | null;
  readonly requestArguments: string | null;
}

/** Selects a {@link JobRow}. */
export const JOB_ROW = `SELECT name, last_started_at AS startedAt, last_finished_at AS finishedAt, last_result AS result,
  last_error AS error, cursor, requested_at AS requestedAt, request_arguments AS requestArguments FROM jobs`;

/**
 * Requests a run of a job in the running server, from another process. It starts within a second
 * (`Scheduler.handleRequests`), or when the server starts next. It replaces a waiting request for the same job.
 * Pass the returned instant to {@link findJobResult} to get the result.
 */
export function requestJob(writer: Writer, db: Db, name: string, givenArguments: unknown, nowMs: number): number {
  return writer.runNow(() => {
    const last = db.sqlite.query<JobRow, [string]>(`${JOB_ROW} WHERE name = ?1`).get(name);
    // The instant identifies a request, so two requests never share one.
    const requestedAt = Math.max(nowMs, (last?.requestedAt ?? 0) + 1);
    db.sqlite
      .query(
        `INSERT INTO jobs (name, requested_at, request_arguments) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET requested_at = excluded.requested_at, request_arguments = excluded.request_arguments`,
      )
      .run(name, requestedAt, JSON.stringify(givenArguments ?? null));
    return requestedAt;
  });
}

/** The result of a request made by {@link requestJob}; undefined while it waits or runs, or if it was replaced. */
export function findJobResult(db: Db, name: string, requestedAt: number): JobOutcome | undefined {
  const row = db.sqlite.query<JobRow, [string]>(`${JOB_ROW} WHERE name = ?1`).get(name);
  if (row === null || row.requestedAt !== null || (row.finishedAt ?? 0) < requestedAt) return undefined;
  return row.error === null ? { isOk: true, text: row.result ?? "" } : { isOk: false, text: row.error };
}

/** Whether a job has started and not ended, according to the database: also after a crash, until the server starts. */
export function isJobRunning(db: Db, name: string): boolean {
  const row = db.sqlite.query<JobRow, [string]>(`${JOB_ROW} WHERE name = ?1`).get(name);
  return (row?.startedAt ?? 0) > (row?.finishedAt ?? 0);
}
