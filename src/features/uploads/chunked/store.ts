/** Shared by chunked uploads and tus: the rows, the staged files, their state in memory, and how an upload ends. */
import type { Staging } from "../../../blobs/staging.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import { type ActiveUpload, ActiveUploads } from "./active.ts";
import { ChunkSet } from "./chunk-plan.ts";
import type { UploadRows } from "./queries.ts";
import { NO_DEVICE, type Upload } from "./types.ts";

/** Releases reserved room on the disk: a number of bytes as they reach the disk, or all that is left. */
export type ReleaseRoom = (bytes?: number) => void;

/** Dependencies of {@link UploadStore}. */
interface UploadStoreOptions {
  readonly rows: UploadRows;
  readonly staging: Staging;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly treeWriter: TreeWriter;
}

/** How long an upload stays open after its last chunk. */
export const SESSION_MS = 24 * 60 * 60 * 1000;

export class UploadStore {
  readonly rows: UploadRows;
  readonly staging: Staging;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly treeWriter: TreeWriter;
  readonly #active = new ActiveUploads();
  /** Room on the disk reserved for each open upload, by row id. */
  readonly #rooms = new Map<number, ReleaseRoom>();

  constructor(options: UploadStoreOptions) {
    this.rows = options.rows;
    this.staging = options.staging;
    this.writer = options.writer;
    this.clock = options.clock;
    this.log = options.log;
    this.events = options.events;
    this.treeWriter = options.treeWriter;
  }

  /** Whether it has expired, marked or not. */
  isExpired(upload: Upload): boolean {
    return upload.status === "expired" || (isOpen(upload) && upload.expiresAtMs <= this.clock.nowMs());
  }

  /** The current upload, if it can continue. @throws AppError upload_expired | upload_state | not_found */
  getOpen(id: number): Upload {
    const upload = this.rows.get(id);
    if (upload === undefined) throw new AppError("not_found", say`This upload was not found. Start a new upload.`);
    if (this.isExpired(upload)) {
      throw new AppError("upload_expired", say`This upload has expired. Start a new upload.`, {
        expiresAt: new Date(upload.expiresAtMs).toISOString(),
      });
    }
    if (!isOpen(upload)) {
      const { status } = upload;
      const message =
        status === "completed"
          ? say`This upload is completed and can't be changed. Start a new upload.`
          : say`This upload is cancelled and can't be changed. Start a new upload.`;
      throw new AppError("upload_state", message, { status });
    }
    return upload;
  }

  /** The state in memory of an open upload. */
  activeOf(upload: Upload): ActiveUpload {
    return this.#active.get(upload.id, () => {
      const rows = this.rows.chunks(upload.id);
      const active: ActiveUpload = {
        chunks: new ChunkSet(
          upload,
          rows.map((row) => row.idx),
        ),
        incoming: new Map(),
        unfinished: new Set(rows.filter((row) => row.is_replacing === 1).map((row) => row.idx)),
        recovering: undefined,
        completing: undefined,
      };
      // After a restart, hashing starts over while the rest of the file arrives.
      if (active.unfinished.size === 0) this.hashAhead(upload, active);
      return active;
    });
  }

  /** Hashes the bytes that arrived without a gap, in the background. */
  hashAhead(upload: Upload, { chunks }: ActiveUpload): void {
    if (chunks.prefixBytes > 0) this.staging.hashAhead(upload.publicId, chunks.prefixBytes);
  }

  /** Records the room that was reserved on the disk for an upload. */
  holdRoom(uploadId: number, release: ReleaseRoom): void {
    this.#rooms.set(uploadId, release);
  }

  /**
   * Releases reserved room: for bytes that have reached the disk, or without a number all of it, because the upload has
   * ended.
   */
  releaseRoom(uploadId: number, bytes?: number): void {
    this.#rooms.get(uploadId)?.(bytes);
    if (bytes === undefined) this.#rooms.delete(uploadId);
  }

  /**
   * Ends an upload, in the caller's transaction: frees its quota and invalidates its addresses. Its bytes are deleted
   * once that is durable.
   * @param fileId the file that it became
   */
  end(
    tx: Transaction,
    upload: Upload,
    status: "completed" | "cancelled" | "expired",
    fileId: string | null = null,
  ): void {
    this.treeWriter.reserveBytes(tx, upload.accountId, -upload.reservedBytes, null);
    this.rows.end(upload.id, status, this.clock.nowMs(), fileId);
    tx.afterCommit(() => {
      this.#active.drop(upload.id);
      this.releaseRoom(upload.id);
      this.staging.remove(upload.publicId);
    });
  }

  /** Emits once that a device's upload has failed, in the caller's transaction. */
  emitFailure(tx: Transaction, upload: Upload, reason: string): void {
    if (upload.deviceId === NO_DEVICE) return;
    if (!this.rows.noteFailure(upload.id, this.clock.nowMs())) return;
    const { accountId, deviceId, name, publicId: uploadId } = upload;
    this.events.emit(tx, "upload.failed", { accountId, deviceId, name, uploadId, reason });
  }
}

/** Whether an upload is open, regardless of its expiry. */
export function isOpen({ status }: Upload): boolean {
  return status !== "completed" && status !== "cancelled" && status !== "expired";
}
