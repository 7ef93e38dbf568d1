/** In-memory state of the uploads that sync clients have in progress. */
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/** A request that is sending a chunk. */
export interface IncomingChunk {
  /** Set when nothing more of it may be written: the error to send. */
  rejection: AppError | undefined;
}

/** One upload in progress. */
export interface ActiveClientUpload {
  /** Requests that use the upload now. */
  users: number;
  /** The chunks that are being received. */
  readonly incoming: Set<IncomingChunk>;
  /** The one of them that is appended to the main file. */
  appending: IncomingChunk | undefined;
  /** Whether the complete file is being made. No chunk may change then. */
  isFinishing: boolean;
}

/** Uploads in progress by row id. What must survive a restart is in their rows. */
export class ActiveClientUploads {
  readonly #uploads = new Map<number, ActiveClientUpload>();

  /** Runs `action` with the state of an upload. */
  async use<T>(id: number, action: (active: ActiveClientUpload) => Promise<T>): Promise<T> {
    const active = this.#uploads.get(id) ?? { users: 0, incoming: new Set(), appending: undefined, isFinishing: false };
    this.#uploads.set(id, active);
    active.users++;
    try {
      return await action(active);
    } finally {
      if (--active.users === 0) this.#uploads.delete(id);
    }
  }
}

/** The error for chunks that arrive while their file is being made. */
export function beingFinished(): AppError {
  return new AppError("upload_state", say`This upload is being completed, so it accepts no more chunks.`);
}
