/**
 * Receives the chunks of sync clients. Sizes and order are unknown in advance. A chunk that follows the last one is
 * appended to the main file, which then needs no copy to become the complete file. Any other chunk (out of order,
 * parallel, repeated) gets a file of its own, so a chunk that counts is never overwritten.
 */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { fileTooLarge, quotaExceeded, type StorageLimits } from "../../library/files/storage-limits.ts";
import { type ReleaseRoom, SESSION_MS, type UploadStore } from "../../uploads/chunked/store.ts";
import type { Upload } from "../../uploads/chunked/types.ts";
import { WebDavError } from "../errors.ts";
import { type ActiveClientUpload, type IncomingChunk, beingFinished } from "./active.ts";
import { chunkNumber } from "./chunk-name.ts";
import type { ClientUploadRows, StoredChunks } from "./queries.ts";
import { type ClientChunk, type ClientChunkRequest, MAIN_FILE } from "./types.ts";

/** Dependencies of {@link ClientChunkReceiver}. */
export interface ClientChunkReceiverOptions {
  readonly store: UploadStore;
  readonly rows: ClientUploadRows;
  readonly tree: Pick<TreeReader, "usage">;
  readonly limitsOf: (user: Uploader["user"]) => StorageLimits;
  /** Reserves room on the disk. @throws AppError disk_full | store_missing */
  readonly reserveDisk: (bytes: number) => ReleaseRoom;
  /** Called when bytes begin to arrive. @returns a function to call when they stop */
  readonly noteReceiving: () => () => void;
}

/** A chunk that is being received. */
interface ChunkDraft {
  readonly upload: Upload;
  readonly number: number;
  readonly name: string;
  /** The end of the name of its file. */
  readonly file: string;
  readonly offsetBytes: number;
  /** The largest accepted size, and the error for more. */
  readonly limitBytes: number;
  readonly tooLarge: () => Error;
  readonly mine: IncomingChunk;
}

const CHUNKS_MAX = 10_000;
/** Without a declared length, the room on the disk is checked each time this many more bytes have arrived. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;
const FILE_BITS = 64;

export class ClientChunkReceiver {
  readonly #options: ClientChunkReceiverOptions;

  constructor(options: ClientChunkReceiverOptions) {
    this.#options = options;
  }

  /**
   * Receives a chunk. Durable when this returns. Nothing of a rejected chunk counts.
   * @returns whether there was no chunk with its number
   * @throws AppError invalid_field | invalid_request; file_too_large | quota_exceeded | disk_full |
   *   storage_error; upload_state | upload_expired; WebDavError 507 for too many chunks
   */
  async receive(
    upload: Upload,
    active: ActiveClientUpload,
    { user, confirm }: Uploader,
    name: string,
    request: ClientChunkRequest,
  ): Promise<boolean> {
    const { rows, reserveDisk, noteReceiving } = this.#options;
    if (active.isFinishing) throw beingFinished();
    const number = chunkNumber(name);
    const replaced = rows.findChunk(upload.id, number);
    const stored = rows.stored(upload.id);
    const limit = this.#limitOf(user, upload, { stored, replaced });
    if ((request.declaredBytes ?? 0) > limit.limitBytes) throw limit.tooLarge();
    const mine: IncomingChunk = { rejection: undefined };
    const draft = {
      upload,
      number,
      name,
      mine,
      ...limit,
      ...this.#locationOf(upload, active, number, { stored, replaced }),
    };
    active.incoming.add(mine);
    if (draft.file === MAIN_FILE) active.appending = mine;
    const stop = noteReceiving();
    let releaseRoom: ReleaseRoom | undefined;
    try {
      releaseRoom = reserveDisk(request.declaredBytes ?? 0);
      return await this.#write(draft, request, confirm, user);
    } finally {
      stop();
      releaseRoom?.();
      active.incoming.delete(mine);
      if (active.appending === mine) active.appending = undefined;
    }
  }

  /** Where the bytes of a chunk are written. */
  #locationOf(
    { publicId }: Upload,
    { appending }: ActiveClientUpload,
    number: number,
    { stored, replaced }: { readonly stored: StoredChunks; readonly replaced: ClientChunk | undefined },
  ): Pick<ClientChunk, "file" | "offsetBytes"> {
    const { store } = this.#options;
    const { lastNumber, mainBytes } = stored;
    const isNext = replaced === undefined && number > (lastNumber ?? -1);
    // The store may have taken over the bytes for a file that was then rejected.
    const isAppended = isNext && appending === undefined && !store.staging.isTaken(publicId);
    return isAppended
      ? { file: MAIN_FILE, offsetBytes: mainBytes }
      : { file: newSecretToken(FILE_BITS), offsetBytes: 0 };
  }

  /** The largest size that a chunk may have by the plan and the quota of the account. The transaction checks both again. */
  #limitOf(
    user: Uploader["user"],
    { reservedBytes }: Upload,
    { stored, replaced }: { readonly stored: StoredChunks; readonly replaced: ClientChunk | undefined },
  ) {
    const { tree, limitsOf } = this.#options;
    const limits = limitsOf(user);
    const { maxFileSizeBytes, quotaBytes } = limits;
    const otherBytes = stored.sizeBytes - (replaced?.sizeBytes ?? 0);
    const inPlanBytes = maxFileSizeBytes ?? Number.MAX_SAFE_INTEGER;
    const inQuotaBytes = quotaBytes === null ? inPlanBytes : quotaBytes - tree.usage(user.id).usedBytes + reservedBytes;
    return {
      limitBytes: Math.max(0, Math.min(inPlanBytes, inQuotaBytes) - otherBytes),
      tooLarge: () => (inQuotaBytes < inPlanBytes ? quotaExceeded(limits) : fileTooLarge(limits, inPlanBytes)),
    };
  }

  async #write(
    draft: ChunkDraft,
    { declaredBytes, read }: ClientChunkRequest,
    confirm: Uploader["confirm"],
    user: Uploader["user"],
  ): Promise<boolean> {
    const { store, reserveDisk } = this.#options;
    const { upload, file, offsetBytes, mine, limitBytes, tooLarge } = draft;
    const fileName = fileNameOf(upload, file);
    // Without this check, the file of an ended upload would be created again.
    store.getOpen(upload.id);
    const finalBytes = file === MAIN_FILE ? undefined : declaredBytes;
    const staged = store.staging.open(fileName, finalBytes ?? Number.MAX_SAFE_INTEGER);
    let sizeBytes = 0;
    let isCounted = false;
    try {
      await read((buffer) => {
        if (mine.rejection !== undefined) throw mine.rejection;
        const end = sizeBytes + buffer.length;
        if (end > limitBytes) throw tooLarge();
        const isStep = Math.floor(end / ROOM_STEP_BYTES) > Math.floor(sizeBytes / ROOM_STEP_BYTES);
        if (declaredBytes === undefined && isStep) reserveDisk(ROOM_STEP_BYTES)();
        staged.write(buffer, offsetBytes + sizeBytes);
        sizeBytes = end;
      });
      confirm();
      if (declaredBytes !== undefined && sizeBytes !== declaredBytes) {
        throw new AppError(
          "invalid_request",
          say`The chunk has ${sizeBytes} of ${declaredBytes} bytes. Send it again.`,
        );
      }
      if (mine.rejection !== undefined) throw mine.rejection;
      await staged.sync();
      const isNew = await this.#count(draft, sizeBytes, confirm, user);
      isCounted = true;
      return isNew;
    } finally {
      staged.release();
      if (!isCounted) await this.#discard(draft);
    }
  }

  /** Deletes the bytes of a rejected chunk: they count in no quota. */
  async #discard({ upload, file, offsetBytes }: ChunkDraft): Promise<void> {
    const { staging, log } = this.#options.store;
    const fileName = fileNameOf(upload, file);
    if (file !== MAIN_FILE) {
      staging.remove(fileName);
      return;
    }
    // The store may have taken over the file while the upload was completed. Its bytes must not change then.
    if (staging.isTaken(fileName)) return;
    try {
      await staging.truncate(fileName, offsetBytes);
    } catch (error) {
      log.warn("Could not delete the bytes of a rejected chunk. They are deleted when the upload ends.", {
        upload: upload.publicId,
        error,
      });
    }
  }

  /** Records a durable chunk, which counts from then on. @returns whether its number is new */
  async #count(
    { upload, number, name, file, offsetBytes, mine }: ChunkDraft,
    sizeBytes: number,
    confirm: Uploader["confirm"],
    user: Uploader["user"],
  ): Promise<boolean> {
    const { store, rows, limitsOf } = this.#options;
    const { writer, staging, clock } = store;
    const mainFileBytes = staging.sizeOf(upload.publicId) ?? 0;
    return writer.run((tx) => {
      confirm();
      const current = store.getOpen(upload.id);
      if (mine.rejection !== undefined) throw mine.rejection;
      const replaced = rows.findChunk(upload.id, number);
      rows.put(upload.id, { number, name, file, offsetBytes, sizeBytes });
      const stored = rows.stored(upload.id);
      if (stored.count > CHUNKS_MAX) throw tooManyChunks();
      const limits = limitsOf(user);
      const { maxFileSizeBytes, quotaBytes } = limits;
      // Other chunks may have arrived at the same time.
      const isTooLarge = maxFileSizeBytes !== null && stored.sizeBytes > maxFileSizeBytes;
      if (isTooLarge) throw fileTooLarge(limits, maxFileSizeBytes);
      renewReservation({ store, rows }, tx, { upload: current, stored, mainFileBytes, quotaBytes });
      store.rows.extend(current.sessionId, clock.nowMs() + SESSION_MS);
      tx.afterCommit(() => {
        if (file === MAIN_FILE) staging.hashAhead(upload.publicId, offsetBytes + sizeBytes);
        if (replaced === undefined) return;
        if (replaced.file === MAIN_FILE) staging.invalidate(upload.publicId);
        else staging.remove(fileNameOf(upload, replaced.file));
      });
      return replaced === undefined;
    });
  }
}

/** What {@link renewReservation} reserves quota for. */
interface Reservation {
  readonly upload: Upload;
  /** Sums over its chunks after the change. */
  readonly stored: StoredChunks;
  readonly mainFileBytes: number;
  /** The quota of its account; null for none. */
  readonly quotaBytes: number | null;
}

/**
 * Reserves quota for the chunks of an upload, in the transaction that changes them. Replaced chunks leave unused bytes
 * in the main file, which count only above the size of all chunks. So a client that repeats chunks does not run out of
 * quota by them.
 * @throws AppError quota_exceeded
 */
export function renewReservation(
  { store, rows }: { readonly store: UploadStore; readonly rows: ClientUploadRows },
  tx: Transaction,
  { upload, stored, mainFileBytes, quotaBytes }: Reservation,
): void {
  const { sizeBytes, usedMainBytes } = stored;
  const unusedBytes = Math.max(0, mainFileBytes - usedMainBytes);
  const reservedBytes = sizeBytes + Math.max(0, unusedBytes - sizeBytes);
  const addedBytes = reservedBytes - upload.reservedBytes;
  store.treeWriter.reserveBytes(tx, upload.accountId, addedBytes, addedBytes > 0 ? quotaBytes : null);
  rows.setReserved(upload.id, reservedBytes);
}

/** The name of a staged file. The cleanup reads the upload from the part before the dot. */
export function fileNameOf({ publicId }: Pick<Upload, "publicId">, file: string): string {
  return file === MAIN_FILE ? publicId : `${publicId}.${file}`;
}

function tooManyChunks(): WebDavError {
  return new WebDavError(507, say`An upload can have at most ${CHUNKS_MAX} chunks. Send larger chunks.`);
}
