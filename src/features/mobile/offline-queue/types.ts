import type { AppError } from "../../../errors.ts";

/** What a device may queue. */
export type OperationType = "upload" | "delete";

/** Which comes first. */
export type Priority = "high" | "normal" | "low";

/**
 * Where an operation stands. What the server does is done in one deed with its status, so that `running` is never seen
 * of the present types.
 */
export type OperationStatus = "queued" | "running" | "completed" | "failed";

/** An operation as a device tells it. */
export interface NewOperation {
  /** The device's own name for it. */
  readonly id: string;
  readonly type: OperationType;
  readonly priority: Priority;
  /** By the device's clock. */
  readonly createdAtMs: number;
  /** Of an upload: path of the expected file, not normalised yet. */
  readonly remotePath?: string | undefined;
  /** Of a delete. */
  readonly fileId?: string | undefined;
}

/** An operation as it stands. */
export interface Operation {
  readonly id: string;
  readonly type: OperationType;
  readonly priority: Priority;
  readonly status: OperationStatus;
  /** How often the server tried to carry it out. */
  readonly attempts: number;
  /** Why it failed, or what it waits for. */
  readonly error: AppError | undefined;
  /** As the device told it, but not later than its receipt. */
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
}

/** What became of one operation of a call. With an error for one that was not taken: nothing is kept of it. */
export interface AddedOperation {
  readonly id: string;
  readonly status: OperationStatus;
  readonly error: AppError | undefined;
}
