/** The rows of the offline queue. Writing methods are called inside a deed; every list is answered by one index. */
import type { Database } from "bun:sqlite";
import { AppError, type ErrorDetails, type Reason } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import type { Operation, OperationStatus, OperationType, Priority } from "./types.ts";

/** Stored statuses, in the order in which a list shows them. */
export const STATUS = { queued: 0, failed: 1, completed: 2 } as const;

const STATUS_OF: readonly OperationStatus[] = ["queued", "failed", "completed"];
const PRIORITIES: readonly Priority[] = ["high", "normal", "low"];

/** A row of `queue_operations`. */
export interface OperationRow {
  readonly id: number;
  readonly accountId: number;
  readonly deviceId: number;
  readonly operationId: string;
  readonly type: OperationType;
  readonly priority: number;
  readonly createdAt: number;
  readonly receivedAt: number;
  readonly remotePath: string | null;
  readonly fileId: string | null;
  readonly status: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly holdId: string | null;
  readonly finishedAt: number | null;
}

/** What is written of a new operation. */
export type InsertedOperation = Omit<OperationRow, "id" | "holdId" | "error">;

const COLUMNS = `id, account_id AS accountId, device_id AS deviceId, operation_id AS operationId, type, priority,
  created_at AS createdAt, received_at AS receivedAt, remote_path AS remotePath, file_id AS fileId, status, attempts,
  error, hold_id AS holdId, finished_at AS finishedAt`;
const SERVED = "priority, created_at, id";

/** Prepares the statements of the queue on the writing connection. */
export function queueQueries(sqlite: Database) {
  return {
    named: sqlite.query<OperationRow, [number, string]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_named
       WHERE device_id = ?1 AND operation_id = ?2`,
    ),
    /** A device that was not removed. */
    device: sqlite.query<DeviceFacts, [number]>(
      "SELECT id, public_id AS publicId, name FROM devices WHERE id = ?1 AND removed_at IS NULL",
    ),
    insert: sqlite.query<
      void,
      [
        number,
        number,
        string,
        string,
        number,
        number,
        number,
        string | null,
        string | null,
        number,
        number,
        number | null,
      ]
    >(
      `INSERT INTO queue_operations (account_id, device_id, operation_id, type, priority, created_at, received_at,
         remote_path, file_id, status, attempts, finished_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    ),
    /** The next one to carry out. */
    next: sqlite.query<OperationRow, [number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id = ?1 AND status = 0 AND type = 'delete' AND hold_id IS NULL ORDER BY ${SERVED} LIMIT 1`,
    ),
    /** The next device after this one that has something to carry out. */
    nextDevice: sqlite.query<{ deviceId: number }, [number]>(
      `SELECT device_id AS deviceId FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id > ?1 AND status = 0 AND type = 'delete' AND hold_id IS NULL ORDER BY device_id LIMIT 1`,
    ),
    /** How many wait to be carried out, so many at most. */
    runnable: sqlite.query<{ count: number }, [number, number]>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id = ?1 AND status = 0 AND type = 'delete' AND hold_id IS NULL LIMIT ?2)`,
    ),
    /** Uploads that wait for this path. */
    waiting: sqlite.query<{ id: number }, [number, string]>(
      `SELECT id FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE account_id = ?1 AND remote_path = ?2 AND status = 0 AND type = 'upload'`,
    ),
    isAnyWaiting: sqlite.query<{ one: 1 }, [number]>(
      `SELECT 1 AS one FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE account_id = ?1 AND status = 0 AND type = 'upload' LIMIT 1`,
    ),
    /** Waiting uploads of everybody, in an order that a job can go on in. */
    waitingAfter: sqlite.query<OperationRow, [number, string, number, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE (account_id, remote_path, id) > (?1, ?2, ?3) AND status = 0 AND type = 'upload'
       ORDER BY account_id, remote_path, id LIMIT ?4`,
    ),
    finish: sqlite.query<void, [number, number, string | null, number]>(
      `UPDATE queue_operations SET status = ?2, attempts = attempts + 1, error = ?3, finished_at = ?4, hold_id = NULL
       WHERE id = ?1 AND status = 0`,
    ),
    /** Notes a try that came to nothing; the operation stays queued. */
    noteFault: sqlite.query<void, [number, string]>(
      "UPDATE queue_operations SET attempts = attempts + 1, error = ?2 WHERE id = ?1 AND status = 0",
    ),
    hold: sqlite.query<void, [number, string, string]>(
      "UPDATE queue_operations SET hold_id = ?2, error = ?3 WHERE id = ?1 AND status = 0",
    ),
    holds: sqlite.query<{ holdId: string; accountId: number }, []>(
      `SELECT hold_id AS holdId, min(account_id) AS accountId FROM queue_operations INDEXED BY queue_operations_held
       WHERE hold_id IS NOT NULL GROUP BY hold_id`,
    ),
    held: sqlite.query<OperationRow, [string, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_held WHERE hold_id = ?1 LIMIT ?2`,
    ),
    /** The error stays: it tells that the operation was confirmed. */
    release: sqlite.query<void, [number]>("UPDATE queue_operations SET hold_id = NULL WHERE id = ?1"),
    list: sqlite.query<OperationRow, [number, number, number, number, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_listed
       WHERE device_id = ?1 AND status BETWEEN ?2 AND ?3 ORDER BY status, ${SERVED} LIMIT ?4 OFFSET ?5`,
    ),
    count: sqlite.query<{ total: number }, [number, number, number]>(
      `SELECT count(*) AS total FROM queue_operations INDEXED BY queue_operations_listed
       WHERE device_id = ?1 AND status BETWEEN ?2 AND ?3`,
    ),
    dropQueued: sqlite.query<void, [number]>("DELETE FROM queue_operations WHERE device_id = ?1 AND status = 0"),
    expire: sqlite.query<void, [number, string, number, number]>(
      `UPDATE queue_operations SET status = 1, error = ifnull(error, ?2), finished_at = ?3, hold_id = NULL WHERE id IN
         (SELECT id FROM queue_operations INDEXED BY queue_operations_age WHERE status = 0 AND received_at <= ?1 LIMIT ?4)`,
    ),
    forget: sqlite.query<void, [number, number]>(
      `DELETE FROM queue_operations WHERE id IN
         (SELECT id FROM queue_operations INDEXED BY queue_operations_finished
          WHERE finished_at IS NOT NULL AND finished_at <= ?1 LIMIT ?2)`,
    ),
  };
}

/** The stored number of a priority: 0 is served first. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** A row as the rest of the program sees it. */
export function toOperation(row: OperationRow): Operation {
  return {
    id: row.operationId,
    type: row.type,
    priority: PRIORITIES[row.priority] ?? "normal",
    status: STATUS_OF[row.status] ?? "queued",
    attempts: row.attempts,
    error: row.error === null ? undefined : readError(row.error),
    createdAtMs: row.createdAt,
    finishedAtMs: row.finishedAt,
  };
}

/** An error as a row keeps it; {@link toOperation} reads it. */
export function writeError({ reason, message, details }: AppError): string {
  return JSON.stringify({ reason, message, details });
}

function readError(text: string): AppError {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `writeError` wrote
  const { reason, message, details } = JSON.parse(text) as { reason: Reason; message: string; details: ErrorDetails };
  return new AppError(reason, message, details);
}
