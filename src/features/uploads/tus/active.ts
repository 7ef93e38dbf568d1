/** State in memory of tus uploads in progress. */
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { TusUpload } from "./types.ts";

/** A request that is sending bytes. Its counterpart for chunks is `IncomingChunk`. */
export interface IncomingRequest {
  /** Why nothing more may be written: another request has taken over, the upload has ended, or the device failed. */
  rejection: Error | undefined;
}

/** One upload in progress. */
export interface ActiveTus {
  /** Bytes from the start that are durable, by a committed row. */
  durableBytes: number;
  /** Bytes in the file, which count once they are durable. */
  writtenBytes: number;
  /** Bytes from the start for which quota is reserved. */
  reservedBytes: number;
  incoming: IncomingRequest | undefined;
  /** The task that makes written bytes durable. */
  flushing: Promise<void> | undefined;
  /** The task that creates the file. */
  finishing: Promise<unknown> | undefined;
}

/** Uploads in progress by row id. Idle uploads are removed, because their rows have the same state. */
export class ActiveTusUploads {
  readonly #uploads = new Map<number, ActiveTus>();

  find(id: number): ActiveTus | undefined {
    return this.#uploads.get(id);
  }

  /** Finds or adds the state of an upload. Call {@link release} afterwards. */
  get({ upload, offsetBytes }: TusUpload): ActiveTus {
    const found = this.#uploads.get(upload.id);
    if (found !== undefined) return found;
    const active: ActiveTus = {
      durableBytes: offsetBytes,
      writtenBytes: offsetBytes,
      reservedBytes: upload.reservedBytes,
      incoming: undefined,
      flushing: undefined,
      finishing: undefined,
    };
    this.#uploads.set(upload.id, active);
    return active;
  }

  /** Removes the state of an upload, unless a request or task uses it. */
  release(id: number): void {
    const active = this.#uploads.get(id);
    if (active === undefined) return;
    const { incoming, flushing, finishing } = active;
    if (incoming === undefined && flushing === undefined && finishing === undefined) this.#uploads.delete(id);
  }

  /** Rejects bytes that still arrive for an upload that has ended. */
  drop(id: number): void {
    const active = this.#uploads.get(id);
    supersede(active?.incoming);
    this.#uploads.delete(id);
  }
}

/** Prevents further writes by a request, if there is one. */
export function supersede(incoming: IncomingRequest | undefined): void {
  if (incoming === undefined) return;
  incoming.rejection ??= new AppError(
    "upload_state",
    say`Another request resumed this upload, or it has ended. Send HEAD to get the current offset.`,
  );
}

/** @throws the rejection of the request */
export function checkNotRejected({ rejection }: IncomingRequest): void {
  if (rejection !== undefined) throw rejection;
}
