import type { AppError } from "../../../errors.ts";

/** The status of a change that a device reported. */
type ChangeStatus = "applied" | "upload_required" | "already_stored" | "conflict" | "rejected";

/** The result of one change. */
export interface ChangeOutcome {
  readonly localId: string;
  readonly status: ChangeStatus;
  /** The file that the change created or changed, or the file to send the content for. */
  readonly fileId?: string | undefined;
  readonly conflictId?: string | undefined;
  readonly error?: AppError | undefined;
}

/** The result of a call. */
export interface AppliedCall {
  /** One for each change, in order. */
  readonly outcomes: readonly ChangeOutcome[];
  /**
   * The device's position in the journal after the call. It skips the device's own changes if the device was at the
   * head when the call began and nobody else changed anything since. Otherwise it stays, so that the device misses
   * nothing: not even its own changes from before it was reset or restored from a backup.
   */
  readonly standSeq: number | undefined;
}
