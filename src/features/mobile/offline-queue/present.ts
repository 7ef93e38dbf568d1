import { errorItem } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { AddedOperation, Operation } from "./types.ts";

/** The result of adding an operation. */
export function presentAdded({ id, status, error }: AddedOperation, request: Request) {
  return { id, status, ...(error !== undefined && { error: errorItem(error, request) }) };
}

/** An operation in the list of a device's queue. */
export function presentOperation(operation: Operation, request: Request) {
  const { id, type, priority, status, attempts, error, createdAtMs, finishedAtMs } = operation;
  return {
    id,
    type,
    priority,
    status,
    attempts,
    ...(error !== undefined && { error: errorItem(error, request) }),
    createdAt: toTimestamp(createdAtMs),
    finishedAt: finishedAtMs === null ? null : toTimestamp(finishedAtMs),
  };
}
