import type { AppError } from "../../../errors.ts";

/** The kind of an operation. */
export type OperationType = "upload" | "delete";

/** The priority of an operation; `high` is executed first. */
export type Priority = "high" | "normal" | "low";

/** The status of an operation. Both types change from `queued` to finished in one transaction, so none is `running`. */
export type OperationStatus = "queued" | "running" | "completed" | "failed";

/** An operation as a device sends it. */
export interface NewOperation {
  /** The device's own name for it. */
  readonly id: string;
  readonly type: OperationType;
  readonly priority: Priority;
  /** By the device's clock. */
  readonly createdAtMs: number;
  /** The path of the expected file, not normalized; only of an upload. */
  readonly remotePath?: string | undefined;
  /** Only of a delete. */
  readonly fileId?: string | undefined;
}

/** A saved operation. */
export interface Operation {
  readonly id: string;
  readonly type: OperationType;
  readonly priority: Priority;
  readonly status: OperationStatus;
  /** How often the server tried to execute it. */
  readonly attempts: number;
  /** Why it failed, or what it waits for. */
  readonly error: AppError | undefined;
  /** The device's time, or the time of receipt if that is earlier. */
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
}

/** The result of adding an operation. A new operation with an error is not saved. */
export interface AddedOperation {
  readonly id: string;
  readonly status: OperationStatus;
  readonly error: AppError | undefined;
}
