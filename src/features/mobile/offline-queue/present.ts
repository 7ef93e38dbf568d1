import { errorItem } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { AddedOperation, Operation } from "./types.ts";

/** What became of an operation of a call. */
export function presentAdded({ id, status, error }: AddedOperation) {
  return { id, status, ...(error !== undefined && { error: errorItem(error) }) };
}

/** An operation as the list of a device's queue shows it. */
export function presentOperation(operation: Operation) {
  const { id, type, priority, status, attempts, error, createdAtMs, finishedAtMs } = operation;
  return {
    id,
    type,
    priority,
    status,
    attempts,
    ...(error !== undefined && { error: errorItem(error) }),
    createdAt: toTimestamp(createdAtMs),
    finishedAt: finishedAtMs === null ? null : toTimestamp(finishedAtMs),
  };
}
