import type { AppError } from "../../errors.ts";

/** How a change that a device brought ended (contract §7, `POST sync/files`). */
export type ChangeStatus = "applied" | "upload_required" | "already_stored" | "conflict" | "rejected";

/** What a device is told of one change. */
export interface ChangeOutcome {
  readonly localId: string;
  readonly status: ChangeStatus;
  /** The file that it made or changed, or that the content is to be sent for. */
  readonly fileId?: string | undefined;
  readonly conflictId?: string | undefined;
  readonly error?: AppError | undefined;
}
