/**
 * Receives the bytes of tus uploads. They are appended, and count in steps: once a step is durable, its end is
 * committed as the offset. So a crash loses only the last step, and HEAD never reports more than is durable. A new
 * request takes over from an earlier one immediately, because there are no locks. `chunked/receive-chunk.ts` is its
 * counterpart for chunks.
 */
import type { StagedFile } from "../../../blobs/staging.ts";
import { AppError, notFound } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { UserTreeWriter } from "../../library/permissions/user-tree-writer.ts";
import type { ReadBody } from "../chunked/receive-chunk.ts";
import { isOpen, type ReleaseRoom, SESSION_MS, type UploadStore } from "../chunked/store.ts";
import { type ActiveTus, type ActiveTusUploads, type IncomingRequest, checkNotRejected, supersede } from "./active.ts";
import type { RequestChecksum } from "./protocol.ts";
import { senderKey, type TusRows } from "./queries.ts";
import { withExplainedQuota } from "./quota.ts";
import type { Destination, TusUpload } from "./types.ts";

/** A request that carries bytes of an upload. */
export interface BytesRequest {
  /** The offset of its bytes. */
  readonly offsetBytes: number;
  /** Content-Length, if present. */
  readonly declaredBytes: number | undefined;
  readonly checksum: RequestChecksum | undefined;
  readonly read: ReadBody;
}

/** Dependencies of {@link BytesReceiver}. */
interface BytesReceiverOptions {
  readonly store: UploadStore;
  readonly rows: TusRows;
  readonly active: ActiveTusUploads;
  /** Called when bytes begin to arrive. @returns a function to call when they stop */
  readonly noteReceiving: () => () => void;
  /** Reserves room on the disk. @throws AppError disk_full | store_missing */
  readonly reserveDisk: (bytes: number) => ReleaseRoom;
  readonly quotaOf: (owner: Destination["owner"]) => number | null;
  /** Removes what the sender must not see from quota errors. */
  readonly userTreeWriter: UserTreeWriter;
}

/** Bytes that are made durable and committed together. */
const STEP_BYTES = 16 * 1024 * 1024;

/** If a whole step is rejected for these reasons, the bytes that have arrived may still fit. */
const RETRIED_REJECTIONS: ReadonlySet<string> = new Set(["quota_exceeded", "file_too_large"]);

/** Receives the bytes of all tus uploads. */
export class BytesReceiver {
  readonly #options: BytesReceiverOptions;

  constructor(options: BytesReceiverOptions) {
    this.#options = options;
  }

  /** Syncs all bytes that have arrived. @returns the number of durable bytes */
  async offsetOf(tus: TusUpload): Promise<number> {
    const { active: all, rows } = this.#options;
    const current = rows.get(tus.upload.id) ?? tus;
    if (!isOpen(current.upload)) return current.offsetBytes;
    const active = all.get(current);
    try {
      await this.#flushAndCheck(current, active);
      return active.durableBytes;
    } finally {
      all.release(tus.upload.id);
    }
  }

  /**
   * Receives the bytes of a request. Bytes that arrived before the request ended, for any reason, are durable and
   * count. With a checksum, all of them count or none.
   * @param tus an open upload that lacks bytes, or whose length is not known
   * @returns the new offset
   * @throws AppError upload_offset for bytes at another offset; file_too_large for more than was declared or is
   *   allowed; chunk_checksum; upload_state if another request took over, or the upload has ended; upload_expired;
   *   quota_exceeded, disk_full, storage_error
   */
  async receive({ upload }: TusUpload, destination: Destination, request: BytesRequest): Promise<number> {
    const { limitBytes, tooLarge } = destination;
    const { active: all, rows, store, noteReceiving } = this.#options;
    // Reads it again, because other requests may have changed it.
    const tus = rows.get(upload.id);
    if (tus === undefined) throw notFound(say`This upload was not found.`);
    store.getOpen(upload.id);
    const active = all.get(tus);
    const mine: IncomingRequest = { rejection: undefined };
    supersede(active.incoming);
    active.incoming = mine;
    const stop = noteReceiving();
    try {
      await this.#flushAndCheck(tus, active, mine);
      checkNotRejected(mine);
      const { durableBytes } = active;
      if (request.offsetBytes !== durableBytes) throw wrongOffset(request.offsetBytes, durableBytes);
      const end = tus.lengthBytes ?? limitBytes ?? Number.MAX_SAFE_INTEGER;
      const rejection = tus.lengthBytes === undefined ? tooLarge : () => tooMany(end);
      if (durableBytes + (request.declaredBytes ?? 0) > end) throw rejection();
      const bounds = { destination, end, rejection };
      await this.#take(tus, { active, mine, bounds, request });
      return active.durableBytes;
    } finally {
      stop();
      if (active.incoming === mine) active.incoming = undefined;
      all.release(upload.id);
    }
  }

  async #take(
    tus: TusUpload,
    {
      active,
      mine,
      bounds: { destination, end, rejection },
      request: { read, checksum },
    }: {
      active: ActiveTus;
      mine: IncomingRequest;
      bounds: { destination: Destination; end: number; rejection: () => Error };
      request: BytesRequest;
    },
  ): Promise<void> {
    const { store } = this.#options;
    const { publicId, sizeBytes } = tus.upload;
    const file = store.staging.open(publicId, tus.lengthBytes === undefined ? Number.MAX_SAFE_INTEGER : sizeBytes);
    const hasher = checksum && new Bun.CryptoHasher(checksum.algorithm);
    let position = active.durableBytes;
    const write = (buffer: Uint8Array) => {
      checkNotRejected(mine);
      file.write(buffer, position);
      position += buffer.length;
      // Bytes with a checksum count only once it is verified.
      if (hasher === undefined) active.writtenBytes = position;
      else hasher.update(buffer);
    };
    const writeWithRoom = async (buffer: Uint8Array) => {
      await this.#reserve(tus, active, destination, position + buffer.length);
      write(buffer);
    };
    try {
      await read((buffer) => {
        checkNotRejected(mine);
        if (position + buffer.length > end) throw rejection();
        if (position + buffer.length > active.reservedBytes) return writeWithRoom(buffer);
        write(buffer);
        const unflushedBytes = active.writtenBytes - active.durableBytes;
        if (unflushedBytes < STEP_BYTES) return;
        const flushed = this.#flush(tus, active);
        // One step is made durable while the next arrives; a further one must wait.
        if (unflushedBytes >= 2 * STEP_BYTES) return flushed;
        flushed.catch(() => {}); // rejects the next buffer
      });
      if (checksum !== undefined && hasher !== undefined) {
        checkNotRejected(mine);
        if (hasher.digest("hex") !== checksum.digest) throw wrongChecksum(checksum);
        active.writtenBytes = position;
      }
      await this.#flush(tus, active);
      // If an earlier step failed, all later bytes are rejected too.
      if (active.durableBytes < position) checkNotRejected(mine);
    } catch (error) {
      // Bytes of an aborted request are stored, unless another request took over and handles them.
      if (mine.rejection === undefined) await this.#flush(tus, active).catch(() => {});
      throw error;
    } finally {
      file.release();
    }
  }

  /** Reserves quota for the bytes about to be written, and for a step more if there is room. */
  async #reserve(tus: TusUpload, active: ActiveTus, destination: Destination, neededBytes: number): Promise<void> {
    const end = tus.lengthBytes ?? Number.MAX_SAFE_INTEGER;
    try {
      await this.#reserveUpTo(
        tus,
        active,
        destination,
        Math.min(end, Math.max(neededBytes, active.reservedBytes + STEP_BYTES)),
      );
    } catch (error) {
      if (!(error instanceof AppError) || !RETRIED_REJECTIONS.has(error.reason)) throw error;
      await this.#reserveUpTo(tus, active, destination, neededBytes);
    }
  }

  async #reserveUpTo(tus: TusUpload, active: ActiveTus, destination: Destination, toBytes: number): Promise<void> {
    const { store, rows, reserveDisk, quotaOf, userTreeWriter } = this.#options;
    const { owner, leftBytes, tooLarge } = destination;
    const { id } = tus.upload;
    // Only checks the room: the bytes are written immediately, and the next step checks again.
    reserveDisk(toBytes - active.reservedBytes)();
    const reservation = store.writer.run((tx) => {
      const { accountId, reservedBytes } = store.getOpen(id);
      // All uploads of a drop box count together. Otherwise each could send as much as the drop box accepts in total.
      const left = leftBytes();
      const others = left === null ? 0 : rows.sumReservedBytes(senderKey(tus)) - reservedBytes;
      if (left !== null && others + toBytes > left) throw tooLarge();
      store.treeWriter.reserveBytes(tx, accountId, Math.max(0, toBytes - reservedBytes), quotaOf(owner));
      rows.setReserved(id, Math.max(toBytes, reservedBytes));
      tx.afterCommit(() => {
        active.reservedBytes = Math.max(toBytes, reservedBytes);
      });
    });
    await withExplainedQuota(userTreeWriter, destination, reservation);
  }

  /**
   * Makes the bytes that have arrived durable. If the staged file was removed or truncated from outside, the offset
   * becomes 0. Bytes appended after the gap would give a file of full length that contains zeros.
   * @param mine the request that waits for this; any other is rejected then
   */
  async #flushAndCheck(tus: TusUpload, active: ActiveTus, mine?: IncomingRequest): Promise<void> {
    await this.#flush(tus, active);
    const { store, rows } = this.#options;
    const { id, publicId } = tus.upload;
    const isThere = () => {
      const current = store.rows.get(id);
      const isLost =
        current !== undefined && isOpen(current) && (store.staging.sizeOf(publicId) ?? 0) < active.durableBytes;
      return !isLost;
    };
    if (isThere()) return;
    await store.writer.run((tx) => {
      if (isThere()) return;
      store.log.warn("Received bytes of an upload are missing; the client must send them again.", {
        bytes: active.durableBytes,
      });
      if (active.incoming !== mine) supersede(active.incoming);
      store.staging.remove(publicId);
      rows.setOffset(id, 0);
      tx.afterCommit(() => {
        active.durableBytes = 0;
        active.writtenBytes = 0;
      });
    });
  }

  /**
   * Makes the written bytes durable and commits their end as the offset. A call during a sync waits for the next one.
   */
  async #flush(tus: TusUpload, active: ActiveTus): Promise<void> {
    const target = active.writtenBytes;
    while (active.flushing !== undefined) await active.flushing;
    if (active.durableBytes >= target) return;
    const flushing = this.#syncAndCommit(tus, active).finally(() => {
      if (active.flushing === flushing) active.flushing = undefined;
      this.#options.active.release(tus.upload.id);
    });
    active.flushing = flushing;
    await flushing;
  }

  async #syncAndCommit({ upload, kind, lengthBytes }: TusUpload, active: ActiveTus): Promise<void> {
    const { store, rows } = this.#options;
    const { id, publicId } = upload;
    const target = active.writtenBytes;
    let file: StagedFile | undefined;
    try {
      // Without this check, the file of an ended upload would be created again.
      store.getOpen(id);
      file = store.staging.open(publicId, lengthBytes ?? Number.MAX_SAFE_INTEGER);
      await file.sync();
      await store.writer.run((tx) => {
        const { status, sessionId } = store.getOpen(id);
        rows.setOffset(id, target);
        if (status !== "uploading") store.rows.setStatus(id, "uploading");
        store.rows.extend(sessionId, store.clock.nowMs() + SESSION_MS);
        tx.afterCommit(() => {
          store.releaseRoom(id, target - active.durableBytes);
          active.durableBytes = target;
        });
      });
      if (kind === "whole") store.staging.hashAhead(publicId, target);
    } catch (error) {
      // It is unknown which bytes are durable: those since the last step must be sent again.
      active.writtenBytes = active.durableBytes;
      if (active.incoming !== undefined) {
        active.incoming.rejection ??= error instanceof Error ? error : new Error(String(error));
      }
      throw error;
    } finally {
      file?.release();
    }
  }
}

/** The rejection of bytes at a wrong offset. */
export function wrongOffset(given: number, actual: number): AppError {
  return new AppError(
    "upload_offset",
    say`This upload is at offset ${actual}, not ${given}. Send HEAD to get the offset, then send the rest.`,
    {
      field: "Upload-Offset",
      expected: actual,
      actual: given,
    },
  );
}

function tooMany(lengthBytes: number): AppError {
  return new AppError(
    "file_too_large",
    say`This data exceeds the upload length of ${lengthBytes} bytes. Send only the remaining bytes.`,
    {
      limit: lengthBytes,
    },
  );
}

function wrongChecksum({ algorithm }: RequestChecksum): AppError {
  return new AppError(
    "chunk_checksum",
    say`The received data does not match the ${algorithm} in Upload-Checksum. Send the same bytes again.`,
    {
      field: "Upload-Checksum",
    },
  );
}
