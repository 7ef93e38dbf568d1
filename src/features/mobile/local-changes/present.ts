import { errorItem } from "../../../http/error-response.ts";
import type { ChangeOutcome } from "./types.ts";

/** One result of sync/files; what does not apply is left out. */
export function presentOutcome({ localId, status, fileId, conflictId, error }: ChangeOutcome) {
  return {
    localId,
    status,
    ...(fileId !== undefined && { fileId }),
    ...(conflictId !== undefined && { conflictId }),
    ...(error !== undefined && { error: errorItem(error) }),
  };
}
