import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import type { PendingUpload } from "../../library/files/service.ts";
import { fileTooLarge } from "../../library/files/storage-limits.ts";
import { emptyUpload, stagedUpload } from "../../uploads/chunked/staged-upload.ts";
import { isOpen, SESSION_MS } from "../../uploads/chunked/store.ts";
import { NO_DEVICE, type Upload } from "../../uploads/chunked/types.ts";
import type { CreationHooks } from "../../uploads/tus/types.ts";
import { WebDavError } from "../errors.ts";
import { ActiveClientUploads, beingFinished } from "./active.ts";
import { type AssembledFile, assemble, verifyStaged } from "./assemble.ts";
import { chunkNumber } from "./chunk-name.ts";
import { transferKey, ClientUploadRows } from "./queries.ts";
import { ClientChunkReceiver, type ClientChunkReceiverOptions, fileNameOf, renewReservation } from "./receive-chunk.ts";
import { type ClientChunk, type ClientChunkRequest, type ExpectedFile, MAIN_FILE } from "./types.ts";
import type { Database } from "bun:sqlite";
import { say } from "../../../translations/say.ts";

/** Dependencies of {@link ClientUploadService}. */
interface ClientUploadServiceOptions extends Omit<ClientChunkReceiverOptions, "rows"> {
  readonly sqlite: Database;
  readonly blobs: BlobStore;
}

const TRANSFERS_MAX = 1_000;
const TRANSFER_CHARACTERS_MAX = 255;
const ID_BITS = 128;

/**
 * Uploads in chunks of the ownCloud and Nextcloud clients. Rows, staged files, reservations and the cleanup are those of
 * other uploads. An upload belongs to an account: all its app passwords with the same access to folders find it, so that
 * a client that got a new one can continue.
 */
export class ClientUploadService {
  readonly #options: ClientUploadServiceOptions;
  readonly #rows: ClientUploadRows;
  readonly #receiver: ClientChunkReceiver;
  readonly #active = new ActiveClientUploads();

  constructor(options: ClientUploadServiceOptions) {
    this.#options = options;
    this.#rows = new ClientUploadRows(options.sqlite, options.store.rows);
    this.#receiver = new ClientChunkReceiver({ ...options, rows: this.#rows });
  }

  /**
   * Begins an upload under a name that the client chose.
   * @param totalBytes size of the complete file, if the client knows it: a file that does not fit is rejected before its
   *   bytes are sent
   * @throws WebDavError 405 if it exists, 507 for too many; AppError invalid_path; file_too_large | quota_exceeded |
   *   disk_full
   */
  async begin(user: User, transfer: string, totalBytes = 0): Promise<void> {
    const { store, limitsOf, reserveDisk } = this.#options;
    if (transfer.length > TRANSFER_CHARACTERS_MAX) {
      throw new AppError(
        "invalid_path",
        say`The name of an upload can have at most ${TRANSFER_CHARACTERS_MAX} characters.`,
      );
    }
    const limits = limitsOf(user);
    const { maxFileSizeBytes, quotaBytes } = limits;
    if (maxFileSizeBytes !== null && totalBytes > maxFileSizeBytes) throw fileTooLarge(limits, maxFileSizeBytes);
    const nowMs = store.clock.nowMs();
    await store.writer.run((tx) => {
      const current = this.#rows.findOpen(user.id, transfer);
      if (current !== undefined && !store.isExpired(current)) {
        throw new WebDavError(405, say`An upload with this name exists already. Continue it, or choose another name.`);
      }
      if (current !== undefined) this.#end(tx, current, "expired");
      if (this.#rows.countOpen(user.id) >= TRANSFERS_MAX) {
        throw new WebDavError(
          507,
          say`You can have at most ${TRANSFERS_MAX} unfinished uploads. Finish or delete some.`,
        );
      }
      // The chunks reserve room when they arrive.
      reserveDisk(totalBytes)();
      store.treeWriter.reserveBytes(tx, user.id, totalBytes, quotaBytes);
      store.treeWriter.reserveBytes(tx, user.id, -totalBytes, null);
      const session = { accountId: user.id, deviceId: NO_DEVICE, nowMs, expiresAtMs: nowMs + SESSION_MS, options: {} };
      const sessionId = store.rows.insertSession({ ...session, publicId: newId("ups", nowMs) });
      store.rows.insert(newUpload(user, transfer, sessionId), nowMs);
    });
  }

  /** The stored chunks of an upload, in their order. @throws AppError not_found */
  list(user: User, transfer: string): ClientChunk[] {
    return this.#rows.chunks(this.#find(user, transfer).id);
  }

  /** @see ClientChunkReceiver.receive @throws also AppError not_found */
  async receive(uploader: Uploader, transfer: string, name: string, request: ClientChunkRequest): Promise<boolean> {
    const upload = this.#find(uploader.user, transfer);
    return this.#active.use(upload.id, (active) => this.#receiver.receive(upload, active, uploader, name, request));
  }

  /** Deletes a chunk. @throws AppError not_found | upload_state */
  async removeChunk(user: User, transfer: string, name: string): Promise<void> {
    const { store } = this.#options;
    const { id, publicId } = this.#find(user, transfer);
    const number = chunkNumber(name);
    const mainFileBytes = store.staging.sizeOf(publicId) ?? 0;
    await this.#active.use(id, async (active) => {
      await store.writer.run((tx) => {
        if (active.isFinishing) throw beingFinished();
        const upload = store.getOpen(id);
        const chunk = this.#rows.findChunk(id, number);
        if (chunk === undefined) throw notFound(say`This chunk was not found.`);
        this.#rows.removeChunk(id, number);
        const stored = this.#rows.stored(id);
        renewReservation({ store, rows: this.#rows }, tx, { upload, stored, mainFileBytes, quotaBytes: null });
        tx.afterCommit(() => {
          if (chunk.file === MAIN_FILE) store.staging.invalidate(upload.publicId);
          else store.staging.remove(fileNameOf(upload, chunk.file));
        });
      });
    });
  }

  /** Ends an upload: deletes its bytes and frees its reservations. @throws AppError not_found | upload_state */
  async cancel(user: User, transfer: string): Promise<void> {
    const { store } = this.#options;
    const { id } = this.#find(user, transfer);
    await this.#active.use(id, (active) =>
      store.writer.run((tx) => {
        if (active.isFinishing) throw beingFinished();
        const upload = store.rows.get(id);
        if (upload !== undefined && isOpen(upload)) this.#end(tx, upload, "cancelled");
      }),
    );
  }

  /**
   * Makes a file of the chunks, and ends the upload in the transaction that stores it. After an error the upload is
   * unchanged, so that the client can send chunks again and repeat this.
   * @param storeFile stores the bytes, and calls the hooks in its transaction
   * @throws AppError not_found; invalid_field for another total length; checksum_mismatch; disk_full | storage_error;
   *   upload_state if another request completes it; what `storeFile` throws
   */
  async finish<T>(
    user: User,
    transfer: string,
    expected: ExpectedFile,
    storeFile: (pendingUpload: PendingUpload, hooks: CreationHooks) => Promise<T>,
  ): Promise<T> {
    const upload = this.#find(user, transfer);
    return this.#active.use(upload.id, async (active) => {
      if (active.isFinishing) throw beingFinished();
      active.isFinishing = true;
      for (const incoming of active.incoming) incoming.rejection = beingFinished();
      try {
        return await this.#finish(upload, expected, storeFile);
      } finally {
        active.isFinishing = false;
      }
    });
  }

  async #finish<T>(
    upload: Upload,
    { totalBytes, checksum }: ExpectedFile,
    storeFile: (pendingUpload: PendingUpload, hooks: CreationHooks) => Promise<T>,
  ): Promise<T> {
    const { store, blobs, reserveDisk } = this.#options;
    const chunks = this.#rows.chunks(upload.id);
    const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
    if (totalBytes !== undefined && totalBytes !== sizeBytes) {
      throw new AppError(
        "chunk_size",
        say`The chunks have ${sizeBytes} bytes in total, not ${totalBytes}. Send the missing chunks, or the whole file again.`,
        {
          field: "OC-Total-Length",
          expected: totalBytes,
          actual: sizeBytes,
        },
      );
    }
    // A client that ignores errors would replace its file with an empty one.
    if (chunks.length === 0 && totalBytes === undefined && checksum === undefined) {
      throw new AppError("chunk_size", say`No chunk has arrived. Send the chunks of the file first.`, { actual: 0 });
    }
    const hooks = this.#hooksOf(upload);
    if (sizeBytes === 0) {
      const empty = emptyUpload(blobs);
      try {
        checksum?.verify(empty.incoming.digest());
      } catch (error) {
        empty.discard();
        throw error;
      }
      return storeFile(empty, hooks);
    }
    const assembled = await assemble(store, upload, chunks, (bytes) => reserveDisk(bytes));
    try {
      return await storeFile(await this.#pendingUploadOf(upload, assembled, checksum), hooks);
    } finally {
      assembled.discard();
    }
  }

  async #pendingUploadOf(
    { id }: Upload,
    assembled: AssembledFile,
    checksum: ExpectedFile["checksum"],
  ): Promise<PendingUpload> {
    const { store, blobs } = this.#options;
    const { name, sizeBytes } = assembled;
    const hashes = await store.staging.hashWhole(name, sizeBytes);
    if (checksum !== undefined) {
      if (checksum.isComputed) await verifyStaged(store, assembled, checksum);
      checksum.verify(hashes.digest);
    }
    // Without this check, the file of an ended upload would be created again.
    store.getOpen(id);
    return stagedUpload(store, blobs, { name, sizeBytes, hashes });
  }

  /** In the transaction that stores the file: ends the upload, and releases its reservation for the file. */
  #hooksOf({ id }: Upload): CreationHooks {
    const { store } = this.#options;
    return {
      before: (tx) => {
        const { accountId, reservedBytes } = store.getOpen(id);
        store.treeWriter.reserveBytes(tx, accountId, -reservedBytes, null);
      },
      onDone: (tx, file) => this.#end(tx, { ...store.getOpen(id), reservedBytes: 0 }, "completed", file.publicId),
    };
  }

  /**
   * Recovers after a stop or a crash: forgets chunks whose bytes are missing, for example after a backup was restored,
   * and all chunks after them: clients add up the sizes of the listed chunks, and continue at that byte. Deletes files
   * without a chunk. Called once, before the first request, by the server only.
   */
  async recover(): Promise<void> {
    const { store } = this.#options;
    const { staging, log, writer } = store;
    const files = staging.list();
    for (const upload of this.#rows.listOpen()) {
      const chunks = this.#rows.chunks(upload.id);
      const isLost = ({ file, offsetBytes, sizeBytes }: ClientChunk) =>
        offsetBytes + sizeBytes > (staging.sizeOf(fileNameOf(upload, file)) ?? 0);
      const firstLost = chunks.findIndex(isLost);
      const lost = firstLost < 0 ? [] : chunks.slice(firstLost);
      if (lost.length > 0) {
        log.warn("Chunks of an upload are missing; the client must send them again.", {
          upload: upload.publicId,
          chunks: lost.length,
        });
        await writer.run(() => {
          for (const { number } of lost) this.#rows.removeChunk(upload.id, number);
        });
      }
      const referenced = new Set(
        chunks.slice(0, chunks.length - lost.length).map(({ file }) => fileNameOf(upload, file)),
      );
      for (const name of files) {
        if (name.startsWith(`${upload.publicId}.`) && !referenced.has(name)) staging.remove(name);
      }
    }
  }

  /** @throws AppError not_found, also for an upload that has expired */
  #find(user: User, transfer: string): Upload {
    const upload = this.#rows.findOpen(user.id, transfer);
    if (upload === undefined || this.#options.store.isExpired(upload)) throw notFound(say`This upload was not found.`);
    return upload;
  }

  #end(
    tx: Transaction,
    upload: Upload,
    status: "completed" | "cancelled" | "expired",
    fileId: string | null = null,
  ): void {
    const { store } = this.#options;
    const names = this.#rows.chunks(upload.id).map(({ file }) => fileNameOf(upload, file));
    this.#rows.removeChunks(upload.id);
    store.end(tx, upload, status, fileId);
    tx.afterCommit(() => {
      for (const name of new Set(names)) store.staging.remove(name);
    });
  }
}

function newUpload(user: User, transfer: string, sessionId: number) {
  return {
    publicId: `cup_${newSecretToken(ID_BITS)}`,
    sessionId,
    accountId: user.id,
    deviceId: NO_DEVICE,
    localId: transferKey(user.id, transfer),
    // The name, the folder and the size come with the last request.
    name: "",
    folderPath: "/",
    mediaType: undefined,
    digest: undefined,
    sizeBytes: 0,
    chunkSizeBytes: 0,
    totalChunks: 0,
    reservedBytes: 0,
    onConflict: "version",
    targetId: undefined,
    baseDigest: undefined,
    nonce: randomBytes(16),
    isAutomatic: false,
  } as const;
}
