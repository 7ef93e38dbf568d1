import type { AppError } from "../../../errors.ts";

/** How a change that a device brought ended. */
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

/** What became of a call. */
export interface AppliedCall {
  /** Of each change, in their order. */
  readonly outcomes: readonly ChangeOutcome[];
  /**
   * Where the device stands in the journal now. It is moved on over what it did itself, where it stood at the head when
   * the call began and nobody else came between; in any other case it stays, so that the device misses nothing, not
   * even what it did before it was set up anew or restored from a backup.
   */
  readonly standSeq: number | undefined;
}
