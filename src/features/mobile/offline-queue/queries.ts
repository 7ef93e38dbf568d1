/** The rows of the offline queue. Each query that can return many rows names its index. */
import type { Database } from "bun:sqlite";
import { AppError, type ErrorDetails, type Reason } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import { sayStored, sayText, type StoredMessage } from "../../../translations/say.ts";
import type { Operation, OperationStatus, OperationType, Priority } from "./types.ts";

/** Stored statuses, in the order of lists. */
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

type NewRow = [
  accountId: number,
  deviceId: number,
  operationId: string,
  type: OperationType,
  priority: number,
  createdAt: number,
  receivedAt: number,
  remotePath: string | null,
  fileId: string | null,
  status: number,
  attempts: number,
  finishedAt: number | null,
];

const COLUMNS = `id, account_id AS accountId, device_id AS deviceId, operation_id AS operationId, type, priority,
  created_at AS createdAt, received_at AS receivedAt, remote_path AS remotePath, file_id AS fileId, status, attempts,
  error, hold_id AS holdId, finished_at AS finishedAt`;
const IN_ORDER = "priority, created_at, id";
/** Queued deletions that no hold blocks. */
const EXECUTABLE = "status = 0 AND type = 'delete' AND hold_id IS NULL";
const QUEUED_UPLOAD = "status = 0 AND type = 'upload'";

/** Prepares the statements of the queue on the writing connection. */
export function queueQueries(sqlite: Database) {
  return {
    ...operationQueries(sqlite),
    ...executableQueries(sqlite),
    ...uploadQueries(sqlite),
    ...holdQueries(sqlite),
  };
}

function operationQueries(sqlite: Database) {
  return {
    byId: sqlite.prepare<OperationRow, [number, string]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_named
       WHERE device_id = ?1 AND operation_id = ?2`,
    ),
    /** A device that was not removed. */
    device: sqlite.prepare<DeviceFacts, [number]>(
      "SELECT id, public_id AS publicId, name FROM devices WHERE id = ?1 AND removed_at IS NULL",
    ),
    insert: sqlite.prepare<void, NewRow>(
      `INSERT INTO queue_operations (account_id, device_id, operation_id, type, priority, created_at, received_at,
         remote_path, file_id, status, attempts, finished_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    ),
    finish: sqlite.prepare<void, [number, number, string | null, number]>(
      `UPDATE queue_operations SET status = ?2, attempts = attempts + 1, error = ?3, finished_at = ?4, hold_id = NULL
       WHERE id = ?1 AND status = 0`,
    ),
    list: sqlite.prepare<OperationRow, [number, number, number, number, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_listed
       WHERE device_id = ?1 AND status BETWEEN ?2 AND ?3 ORDER BY status, ${IN_ORDER} LIMIT ?4 OFFSET ?5`,
    ),
    count: sqlite.prepare<{ total: number }, [number, number, number]>(
      `SELECT count(*) AS total FROM queue_operations INDEXED BY queue_operations_listed
       WHERE device_id = ?1 AND status BETWEEN ?2 AND ?3`,
    ),
    dropQueued: sqlite.prepare<void, [number]>("DELETE FROM queue_operations WHERE device_id = ?1 AND status = 0"),
    expire: sqlite.prepare<void, [number, string, number, number]>(
      `UPDATE queue_operations SET status = 1, error = ifnull(error, ?2), finished_at = ?3, hold_id = NULL WHERE id IN
         (SELECT id FROM queue_operations INDEXED BY queue_operations_age WHERE status = 0 AND received_at <= ?1 LIMIT ?4)`,
    ),
    remove: sqlite.prepare<void, [number, number]>(
      `DELETE FROM queue_operations WHERE id IN
         (SELECT id FROM queue_operations INDEXED BY queue_operations_finished
          WHERE finished_at IS NOT NULL AND finished_at <= ?1 LIMIT ?2)`,
    ),
  };
}

function executableQueries(sqlite: Database) {
  return {
    next: sqlite.prepare<OperationRow, [number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id = ?1 AND ${EXECUTABLE} ORDER BY ${IN_ORDER} LIMIT 1`,
    ),
    /** The next device after this one that has an executable operation. */
    nextDevice: sqlite.prepare<{ deviceId: number }, [number]>(
      `SELECT device_id AS deviceId FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id > ?1 AND ${EXECUTABLE} ORDER BY device_id LIMIT 1`,
    ),
    /** Counts up to a maximum. */
    countExecutable: sqlite.prepare<{ count: number }, [number, number]>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM queue_operations INDEXED BY queue_operations_runnable
       WHERE device_id = ?1 AND ${EXECUTABLE} LIMIT ?2)`,
    ),
    /** Records a failed try; the operation stays queued. */
    recordFailure: sqlite.prepare<void, [number, string]>(
      "UPDATE queue_operations SET attempts = attempts + 1, error = ?2 WHERE id = ?1 AND status = 0",
    ),
  };
}

function uploadQueries(sqlite: Database) {
  return {
    uploadsForPath: sqlite.prepare<{ id: number }, [number, string]>(
      `SELECT id FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE account_id = ?1 AND remote_path = ?2 AND ${QUEUED_UPLOAD}`,
    ),
    anyUpload: sqlite.prepare<{ one: 1 }, [number]>(
      `SELECT 1 AS one FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE account_id = ?1 AND ${QUEUED_UPLOAD} LIMIT 1`,
    ),
    /** Queued uploads of all accounts, in an order in which a job can resume. */
    uploadsAfter: sqlite.prepare<OperationRow, [number, string, number, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_waiting
       WHERE (account_id, remote_path, id) > (?1, ?2, ?3) AND ${QUEUED_UPLOAD}
       ORDER BY account_id, remote_path, id LIMIT ?4`,
    ),
  };
}

function holdQueries(sqlite: Database) {
  return {
    hold: sqlite.prepare<void, [number, string, string]>(
      "UPDATE queue_operations SET hold_id = ?2, error = ?3 WHERE id = ?1 AND status = 0",
    ),
    holds: sqlite.prepare<{ holdId: string; accountId: number }, []>(
      `SELECT hold_id AS holdId, min(account_id) AS accountId FROM queue_operations INDEXED BY queue_operations_held
       WHERE hold_id IS NOT NULL GROUP BY hold_id`,
    ),
    ofHold: sqlite.prepare<OperationRow, [string, number]>(
      `SELECT ${COLUMNS} FROM queue_operations INDEXED BY queue_operations_held WHERE hold_id = ?1 LIMIT ?2`,
    ),
    /** The error stays: it shows that a person accepted the operation. */
    release: sqlite.prepare<void, [number]>("UPDATE queue_operations SET hold_id = NULL WHERE id = ?1"),
  };
}

/** The stored number of a priority: 0 is executed first. */
export function priorityNumber(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** Converts a row. */
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

interface StoredError {
  readonly reason: Reason;
  readonly message: string;
  readonly details: ErrorDetails;
  /** Undefined in rows of earlier versions. */
  readonly text?: StoredMessage;
}

/** Serializes an error for a row; {@link toOperation} parses it. */
export function writeError({ reason, message, details, text }: AppError): string {
  return JSON.stringify({ reason, message, details, text: text.stored() } satisfies StoredError);
}

function readError(json: string): AppError {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `writeError` wrote
  const { reason, message, details, text } = JSON.parse(json) as StoredError;
  return new AppError(reason, text === undefined ? sayText(message) : sayStored(text), details);
}
