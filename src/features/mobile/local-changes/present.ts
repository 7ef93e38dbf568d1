import { errorItem } from "../../../http/error-response.ts";
import type { ChangeOutcome } from "./types.ts";

/** One result of sync/files. */
export function presentOutcome({ localId, status, fileId, conflictId, error }: ChangeOutcome, request: Request) {
  return {
    localId,
    status,
    ...(fileId !== undefined && { fileId }),
    ...(conflictId !== undefined && { conflictId }),
    ...(error !== undefined && { error: errorItem(error, request) }),
  };
}
