/** One extraction of an archive, which continues without the request that began it. */
import type { AppError } from "../../../errors.ts";
import type { FolderNode } from "../../../tree/model/types.ts";

/** How far an extraction is. `waiting`: others run first. */
export type ExtractionState = "waiting" | "running" | "done" | "failed" | "canceled";

/** The progress and the result of an extraction. */
export interface Extraction {
  readonly id: string;
  /** The account that began it: only it sees the extraction. */
  readonly userId: number;
  /** Public id and name of the archive. */
  readonly fileId: string;
  readonly fileName: string;
  readonly startedAtMs: number;
  state: ExtractionState;
  /** Zero until the archive has been checked. */
  files: number;
  filesDone: number;
  bytes: number;
  bytesDone: number;
  /** The new folder as its creator sees it, when it is done. */
  folder: FolderNode | undefined;
  error: AppError | undefined;
  endedAtMs: number | undefined;
}
