/**
 * Chunked uploads of devices: checks who sends, and delegates. `begin.ts` plans an upload, `receive-chunk.ts` receives
 * bytes, and `complete.ts` makes the file. Uploads in one request are in `library/files`.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import { checkWriter, type Uploader } from "../../accounts/auth/principal.ts";
import type { UploadHooks } from "../../library/files/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { type CountFiles, type Sender, SessionStarter, type SessionStarterOptions } from "./begin.ts";
import { spanOf } from "./chunk-plan.ts";
import { Completer, type Completion } from "./complete.ts";
import { type DeviceUpload, deviceUploadHooks } from "./device-upload-hooks.ts";
import type { KnownContents } from "./known-contents.ts";
import { ChunkReceiver, type ChunkReceipt, type ChunkRequest } from "./receive-chunk.ts";
import { type UploadScope, UploadSigner } from "./signatures.ts";
import { isOpen, type ReleaseRoom, SESSION_MS, type UploadStore } from "./store.ts";
import {
  type ClientStatus,
  NO_DEVICE,
  type PlannedSession,
  type Upload,
  type UploadStatus,
  type UploadEntry,
  type UploadOptions,
  type UploadProgress,
} from "./types.ts";

/** Dependencies of {@link UploadService}. */
export interface UploadServiceOptions {
  readonly store: UploadStore;
  readonly blobs: BlobStore;
  readonly tree: TreeReader;
  readonly transfers: TransferCounters;
  readonly thumbnails: Pick<ThumbnailService, "schedule">;
  readonly contents: KnownContents;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Reserves room on the disk. @throws AppError disk_full | store_missing */
  readonly reserveDisk: (bytes: number) => ReleaseRoom;
  /** Reserves room that was promised before the last stop, even if it is not available. */
  readonly holdDisk: (bytes: number) => ReleaseRoom;
  /** Called when bytes begin to arrive. @returns a function to call when they stop */
  readonly noteReceiving: () => () => void;
  /** @see SessionStarterOptions.admitReplacement */
  readonly admitReplacement: SessionStarterOptions["admitReplacement"];
  readonly findUser: (id: number) => User | undefined;
  /** Whether a device is registered and has not been signed out. Otherwise its addresses are invalid. */
  readonly isSignedIn: (deviceId: number) => boolean;
  /** Key of the signatures. */
  readonly secret: Uint8Array;
}

/** How long the result of an upload is available after the end of its session. */
const RETENTION_MS = 7 * SESSION_MS;
/** Sessions that one transaction of the sweep ends. */
const SWEEP_SESSIONS = 20;

/** Files that devices upload in chunks: sessions, chunks, progress, completion. */
export class UploadService {
  readonly #options: UploadServiceOptions;
  readonly #signer: UploadSigner;
  readonly #starter: SessionStarter;
  readonly #receiver: ChunkReceiver;
  readonly #completer: Completer;

  constructor(options: UploadServiceOptions) {
    this.#options = options;
    this.#signer = new UploadSigner(options.secret);
    this.#starter = new SessionStarter(options);
    this.#receiver = new ChunkReceiver(options.store, options.noteReceiving);
    this.#completer = new Completer({ ...options, receiver: this.#receiver });
  }

  /** @see SessionStarter.begin */
  begin(
    sender: Sender,
    entries: readonly UploadEntry[],
    options: UploadOptions,
    take: CountFiles,
  ): Promise<PlannedSession> {
    return this.#starter.begin(sender, entries, options, take);
  }

  /** The signature for an address of this upload. */
  sign(upload: Upload, scope: UploadScope): string {
    return this.#signer.sign(upload, scope);
  }

  /** An upload of this account. @throws AppError not_found */
  get(user: User, uploadId: string): Upload {
    const upload = this.#options.store.rows.find(uploadId);
    const isOwn = upload?.accountId === user.id && upload.deviceId !== NO_DEVICE;
    if (upload === undefined || !isOwn) throw notFound(say`This upload was not found.`);
    return upload;
  }

  /**
   * The upload of a signed address, and its owner. An unknown upload looks like a wrong signature.
   * @throws AppError invalid_token; role if the account may no longer write
   */
  openSigned(uploadId: string, scope: UploadScope, signature: string): { upload: Upload; user: User } {
    const found = this.findSigned(uploadId, scope, signature);
    if (found === undefined) {
      throw new AppError("invalid_token", say`This upload URL is not valid or has expired. Start a new upload.`);
    }
    checkWriter(found.user);
    return found;
  }

  /** Like {@link openSigned}; undefined for an invalid signature. */
  findSigned(uploadId: string, scope: UploadScope, signature: string): { upload: Upload; user: User } | undefined {
    const { store, findUser, isSignedIn } = this.#options;
    const upload = store.rows.find(uploadId);
    if (upload === undefined || !this.#signer.isValid(upload, scope, signature)) return undefined;
    if (upload.status === "cancelled" || !isSignedIn(upload.deviceId)) return undefined;
    const user = findUser(upload.accountId);
    return user === undefined || user.disabledAtMs !== null ? undefined : { upload, user };
  }

  /** @see ChunkReceiver.receive */
  receive(upload: Upload, request: ChunkRequest): Promise<ChunkReceipt> {
    return this.#receiver.receive(upload.id, request);
  }

  /** The progress of an upload, according to the stored chunks. */
  progress(upload: Upload): UploadProgress {
    const { store } = this.#options;
    const status = store.isExpired(upload) ? "expired" : upload.status;
    if (status === "completed") {
      const all = Array.from({ length: upload.totalChunks }, (_, index) => index);
      return { upload, status, completedChunks: all, missingChunks: [], bytesUploaded: upload.sizeBytes };
    }
    const hasNoChunks = status === "cancelled" || status === "expired";
    const chunks = hasNoChunks ? undefined : store.activeOf(upload).chunks;
    return {
      upload,
      status,
      completedChunks: chunks?.list(true) ?? [],
      missingChunks: chunks?.list(false) ?? [],
      bytesUploaded: chunks?.bytes ?? 0,
    };
  }

  /**
   * Sets the status that a client reports. "uploading" does not change an upload that has ended.
   * @returns the current upload
   * @throws AppError upload_state for another status of an upload that has ended
   */
  async setStatus(upload: Upload, status: ClientStatus): Promise<Upload> {
    const { store } = this.#options;
    if (status === "cancelled") return this.cancel(upload);
    await store.writer.run((tx) => {
      const current = store.rows.get(upload.id);
      if (current === undefined || current.status === status) return;
      if (!isOpen(current) || store.isExpired(current)) {
        if (status !== "uploading") throw hasEnded(current);
        return;
      }
      store.rows.setStatus(upload.id, status);
      if (status === "failed") store.emitFailure(tx, current, "reported by the device");
    });
    return this.#reload(upload);
  }

  /**
   * Ends an upload and releases all that it reserves. One that was cancelled or has expired stays unchanged.
   * @throws AppError upload_state if it has become a file
   */
  async cancel(upload: Upload): Promise<Upload> {
    const { store } = this.#options;
    await store.writer.run((tx) => {
      const current = store.rows.get(upload.id);
      if (current?.status === "completed") throw hasEnded(current);
      if (current !== undefined && isOpen(current)) store.end(tx, current, "cancelled");
    });
    return this.#reload(upload);
  }

  /**
   * Prepares the sign-in of a device, in the caller's transaction. Addresses that ended with an earlier sign-out stay
   * invalid; those of a signed-in device remain valid.
   */
  onSignIn(_tx: Transaction, deviceId: number): void {
    const { store, isSignedIn } = this.#options;
    if (!isSignedIn(deviceId)) store.rows.renewNonces(deviceId);
  }

  /** Ends all open uploads of a device, in the caller's transaction. */
  cancelOfDevice(tx: Transaction, deviceId: number): void {
    const { store } = this.#options;
    for (const upload of store.rows.listOpen({ deviceId })) store.end(tx, upload, "cancelled");
  }

  /** Hooks for a device's upload in one request. */
  hooksFor(upload: DeviceUpload): UploadHooks {
    const { store, blobs, contents, tree } = this.#options;
    return deviceUploadHooks({ blobs, contents, tree, events: store.events }, upload);
  }

  /** @see Completer.complete */
  complete(uploader: Uploader, upload: Upload, completion: Completion): Promise<FileNode> {
    return this.#completer.complete(uploader, upload.id, completion);
  }

  /**
   * Recovers after a stop or a crash: reserves the room of open uploads again, and forgets chunks whose bytes are
   * missing, for example after a backup was restored. Called once, before the first request, by the server only.
   */
  async recover(): Promise<void> {
    const { store, holdDisk } = this.#options;
    const { staging, rows, writer, log } = store;
    for (const name of staging.list()) {
      if (name.endsWith(".part") || !rows.isOpen(uploadOf(name)) || !this.#isReferenced(name)) staging.remove(name);
    }
    for (const upload of rows.listOpen("all")) {
      // tus recovers its own uploads.
      if (upload.deviceId === NO_DEVICE) continue;
      const sizeBytes = staging.sizeOf(upload.publicId) ?? 0;
      const chunks = rows.chunks(upload.id);
      const lost = chunks.filter(({ idx }) => {
        const span = spanOf(upload, idx);
        return span === undefined || span.offset + span.lengthBytes > sizeBytes;
      });
      if (lost.length > 0) {
        log.warn("Chunks of an upload are missing; the client must send them again.", {
          upload: upload.publicId,
          chunks: lost.length,
        });
        await writer.run(() => {
          for (const { idx } of lost) rows.removeChunk(upload.id, idx);
        });
      }
      const storedBytes = (chunks.length - lost.length) * upload.chunkSizeBytes;
      store.holdRoom(upload.id, holdDisk(Math.max(0, upload.sizeBytes - storedBytes)));
    }
  }

  /** Ends expired uploads, and removes staged files without an upload. A job. @returns how many uploads it ended */
  async sweep(signal: AbortSignal): Promise<number> {
    const { store } = this.#options;
    const { rows, writer, clock, staging } = store;
    let ended = 0;
    for (let more = true; more && !signal.aborted; ) {
      more = await writer.run((tx) => {
        const sessions = rows.listExpiredSessions(clock.nowMs(), SWEEP_SESSIONS);
        for (const upload of sessions.flatMap((sessionId) => rows.listOpen({ sessionId }))) {
          // An upload that never began is not reported as failed.
          if (upload.status !== "pending" || rows.hasChunks(upload.id)) store.emitFailure(tx, upload, "expired");
          store.end(tx, upload, "expired");
          ended++;
        }
        return sessions.length > 0;
      });
    }
    for (const name of staging.list()) {
      if (!name.endsWith(".part") && !rows.isOpen(uploadOf(name))) staging.remove(name);
    }
    await writer.run(() => rows.removeOld(clock.nowMs() - RETENTION_MS, 1_000));
    return ended;
  }

  /**
   * Whether a row refers to these replacement bytes. If none does, the server crashed before they counted.
   */
  #isReferenced(fileName: string): boolean {
    const [publicId = "", index, kind] = fileName.split(".");
    if (kind !== "next") return true;
    const { rows } = this.#options.store;
    const upload = rows.find(publicId);
    const chunks = upload === undefined ? [] : rows.chunks(upload.id);
    return chunks.some((chunk) => String(chunk.idx) === index && chunk.is_replacing === 1);
  }

  #reload(upload: Upload): Upload {
    return this.#options.store.rows.get(upload.id) ?? upload;
  }
}

function hasEnded({ status, fileId }: Upload): AppError {
  return new AppError("upload_state", endedText(status), { status, ...(fileId !== undefined && { fileId }) });
}

function endedText(status: UploadStatus): Message {
  switch (status) {
    case "completed":
      return say`This upload is already completed. Delete the file if you don't want it.`;
    case "cancelled":
      return say`This upload is already cancelled. Start a new upload.`;
    default:
      return say`This upload is already expired. Start a new upload.`;
  }
}

/** The upload that a staged file belongs to: `upl_…` itself, and `upl_….7.next` next to it. */
function uploadOf(fileName: string): string {
  return fileName.split(".", 1)[0] ?? fileName;
}
