import { randomBytes } from "node:crypto";
import type { Database } from "bun:sqlite";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import type { Idempotency, KeyedRequest } from "../../library/idempotency/service.ts";
import { UserTreeWriter } from "../../library/permissions/user-tree-writer.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { isOpen, type ReleaseRoom, SESSION_MS, type UploadStore } from "../chunked/store.ts";
import { NO_DEVICE, type Upload } from "../chunked/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { ActiveTusUploads, supersede } from "./active.ts";
import { TusCompleter } from "./finish.ts";
import { PartConcatenator } from "./concatenate-parts.ts";
import { readMetadata, type TusMetadata } from "./metadata.ts";
import { UploadSlots } from "./upload-slots.ts";
import type { Concatenation } from "./protocol.ts";
import { sendingKey, senderKey, TusRows } from "./queries.ts";
import { withExplainedQuota, outOfQuota } from "./quota.ts";
import { type BytesRequest, BytesReceiver, wrongOffset } from "./receive-bytes.ts";
import type { Destination, TusSender, TusUpload } from "./types.ts";

/** Dependencies of {@link TusService}. */
interface TusServiceOptions {
  readonly sqlite: Database;
  readonly store: UploadStore;
  readonly blobs: BlobStore;
  readonly tree: Pick<TreeReader, "usage" | "rejectNodes">;
  readonly idempotency: Pick<Idempotency, "find" | "finish">;
  /** The quota of an account; null for no limit. */
  readonly quotaOf: (owner: User) => number | null;
  readonly planOf: (owner: User) => string;
  /** Reserves room on the disk. @throws AppError disk_full | store_missing */
  readonly reserveDisk: (bytes: number) => ReleaseRoom;
  /** Reserves room that was promised before the last stop, even if it is not available. */
  readonly holdDisk: (bytes: number) => ReleaseRoom;
  readonly noteReceiving: () => () => void;
}

/** The headers of a request that begins an upload. */
export interface Creation {
  /** Undefined if the length comes later, and for a final upload. */
  readonly lengthBytes: number | undefined;
  readonly concatenation: Concatenation;
  /** Upload-Metadata as received. */
  readonly metadata: string;
  readonly keyed: KeyedRequest | undefined;
}

/** The state of an upload. */
export interface TusProgress {
  readonly tus: TusUpload;
  readonly offsetBytes: number;
  /** The created file, as its sender sees it. */
  readonly file: FileNode | undefined;
}

/** 192 bits: the address of a guest's upload is the permission to continue it. */
const ID_BITS = 192;

/**
 * Uploads by tus 1.0.0. Rows, staged files, reservations of quota and room, and the cleanup are those of chunked
 * uploads. Only receiving the bytes is different.
 */
export class TusService {
  readonly #options: TusServiceOptions;
  readonly #userTreeWriter: UserTreeWriter;
  readonly #rows: TusRows;
  readonly #active = new ActiveTusUploads();
  readonly #receiver: BytesReceiver;
  readonly #completer: TusCompleter;
  readonly #partConcatenator: PartConcatenator;
  readonly #slots: UploadSlots;

  constructor(options: TusServiceOptions) {
    this.#options = options;
    const { sqlite, store, planOf } = options;
    this.#userTreeWriter = new UserTreeWriter(store.treeWriter, planOf);
    this.#rows = new TusRows(sqlite, store.rows);
    const parts = { ...options, userTreeWriter: this.#userTreeWriter, rows: this.#rows, active: this.#active };
    this.#receiver = new BytesReceiver(parts);
    this.#completer = new TusCompleter(parts);
    const find = (sender: TusSender, id: string) => this.get(sender, id);
    this.#partConcatenator = new PartConcatenator({ store, rows: this.#rows, find });
    this.#slots = new UploadSlots({
      ...parts,
      partConcatenator: this.#partConcatenator,
      end: (tx, { upload }) => this.#end(tx, upload),
    });
  }

  /**
   * Begins an upload, or finds the one that the same request began earlier. It reserves quota and room. A final upload
   * is joined from its parts and becomes a file immediately; if that fails, it is deleted.
   * @throws AppError invalid_field | invalid_path | file_too_large | quota_exceeded | disk_full | name_taken;
   *   upload_state for incomplete parts; overloaded for too many uploads; as the sender's destination
   */
  async create(sender: TusSender, creation: Creation): Promise<TusProgress> {
    const { kind, parts: partIds } = creation.concatenation;
    if (kind === "final") await this.#partConcatenator.waitForJoin(partIds);
    // First, because the name may be taken by the file that the upload became.
    const known = this.#findKeyed(creation.keyed);
    if (known !== undefined) return this.#progressOfKnown(sender, known);
    const joined = kind === "final" ? this.#partConcatenator.findJoined(sender, partIds) : undefined;
    if (joined !== undefined) return { tus: joined, offsetBytes: joined.offsetBytes, file: undefined };
    const metadata = readMetadata(creation.metadata);
    const parts = kind === "final" ? this.#partConcatenator.wholeParts(sender, partIds) : [];
    const lengthBytes =
      kind === "final" ? parts.reduce((sum, { upload }) => sum + upload.sizeBytes, 0) : creation.lengthBytes;
    const destination = sender.destination(metadata);
    sender.admit(metadata, destination);
    if (sender.makesFile(kind, metadata, destination)) this.#checkNodes(destination);
    const { limitBytes, tooLarge } = destination;
    if (limitBytes !== null && (lengthBytes ?? 0) > limitBytes) throw tooLarge();
    const { tus, isNew } = await this.#begin(sender, { ...creation, lengthBytes }, metadata, destination);
    if (!isNew) return this.#progressOfKnown(sender, tus);
    if (kind === "partial") return { tus, offsetBytes: tus.offsetBytes, file: undefined };
    try {
      if (kind === "final") return await this.#partConcatenator.join(tus, parts, () => this.progress(sender, tus));
      return await this.progress(sender, tus);
    } catch (error) {
      // No client knows its address.
      await this.terminate(tus);
      throw error;
    }
  }

  /**
   * An upload that this sender began.
   * @throws AppError not_found; upload_expired
   */
  get(sender: TusSender, publicId: string): TusUpload {
    const tus = this.#rows.find(publicId);
    const isTheirs = tus !== undefined && tus.senderId === sender.senderId && tus.shareId === sender.shareId;
    if (!isTheirs || tus.upload.status === "cancelled") throw notFound(say`This upload was not found.`);
    if (this.#options.store.isExpired(tus.upload)) this.#options.store.getOpen(tus.upload.id);
    return tus;
  }

  /** The open uploads of a sender, newest first. */
  list(sender: TusSender, limit: number): TusUpload[] {
    return this.#rows
      .listOpenOf(senderKey(sender), limit)
      .filter(({ upload }) => !this.#options.store.isExpired(upload));
  }

  /**
   * The state of an upload: all received bytes are durable when this returns. A complete upload becomes a file, if a
   * crash or a rejection prevented that before.
   * @throws as {@link TusCompleter.finish}
   */
  async progress(sender: TusSender, tus: TusUpload): Promise<TusProgress> {
    const offsetBytes = await this.#receiver.offsetOf(tus);
    const current = this.#rows.get(tus.upload.id) ?? tus;
    if (current.upload.status === "completed")
      return { tus: current, offsetBytes: current.offsetBytes, file: undefined };
    if (current.kind === "partial" || offsetBytes !== current.lengthBytes) {
      return { tus: current, offsetBytes, file: undefined };
    }
    const file = await this.#completer.finish(sender, current);
    return { tus: this.#rows.get(tus.upload.id) ?? current, offsetBytes, file };
  }

  /**
   * Receives the bytes of a request, and creates the file after the last ones.
   * @param lengthBytes the deferred length, once known
   * @throws AppError as {@link BytesReceiver.receive} and {@link TusCompleter.finish}; invalid_field for another
   *   length; final_upload for a joined upload
   */
  async receive(
    sender: TusSender,
    tus: TusUpload,
    request: BytesRequest,
    lengthBytes: number | undefined,
  ): Promise<TusProgress> {
    if (tus.kind === "final")
      throw new AppError("final_upload", say`This upload is joined from parts, so you can't send data to it.`);
    if (tus.upload.status === "completed") return this.#repeatResponse(tus, request);
    const destination = sender.destination(readMetadata(tus.metadata));
    const current = lengthBytes === undefined ? tus : await this.#setLength(sender, tus, destination, lengthBytes);
    await this.#receiver.receive(current, destination, request);
    return this.progress(sender, current);
  }

  /** Ends an upload: deletes its bytes and frees its reservations. An upload that has ended stays unchanged. */
  async terminate({ upload }: TusUpload): Promise<void> {
    const { store } = this.#options;
    await store.writer.run((tx) => {
      const current = store.rows.get(upload.id);
      if (current === undefined || !isOpen(current)) return;
      this.#end(tx, current);
    });
  }

  #end(tx: Transaction, upload: Upload): void {
    this.#options.store.end(tx, upload, "cancelled");
    tx.afterCommit(() => this.#active.drop(upload.id));
  }

  /**
   * Recovers after a stop or a crash: ends interrupted joins, reserves room again, and forgets bytes that are missing,
   * for example after a backup was restored. Called once, before the first request, by the server only.
   */
  async recover(): Promise<void> {
    const { store, holdDisk } = this.#options;
    for (const tus of this.#rows.listOpen()) {
      const { upload, offsetBytes } = tus;
      if (tus.kind === "final") {
        await this.terminate(tus);
        continue;
      }
      const isLost = offsetBytes > (store.staging.sizeOf(upload.publicId) ?? 0);
      if (isLost) {
        store.log.warn("Received bytes of an upload are missing; the client must send them again.", {
          bytes: offsetBytes,
        });
        await store.writer.run(() => this.#rows.setOffset(upload.id, 0));
      }
      // Never overwrite it: in a copied data directory, a blob may be the same file.
      if (isLost || offsetBytes === 0) store.staging.remove(upload.publicId);
      if (tus.senderId === undefined) continue;
      store.holdRoom(upload.id, holdDisk(Math.max(0, upload.sizeBytes - (isLost ? 0 : offsetBytes))));
    }
  }

  /**
   * The upload that a request with this key began. Undefined if that was rejected or has ended, so that a new one
   * begins.
   * @throws AppError idempotency_key
   */
  #findKeyed(keyed: KeyedRequest | undefined): TusUpload | undefined {
    const { store, idempotency } = this.#options;
    const publicId = keyed && idempotency.find(keyed);
    const tus = typeof publicId === "string" ? this.#rows.find(publicId) : undefined;
    return tus === undefined || tus.upload.status === "cancelled" || store.isExpired(tus.upload) ? undefined : tus;
  }

  /**
   * The state of an upload that another request with the same key began.
   * @throws AppError upload_state while parts are being joined
   */
  async #progressOfKnown(sender: TusSender, tus: TusUpload): Promise<TusProgress> {
    if (tus.kind === "final" && isOpen(tus.upload)) {
      throw new AppError("upload_state", say`The parts are being joined. Try again in a few seconds.`);
    }
    return this.progress(sender, tus);
  }

  /** The transaction that makes the file checks this again. @throws AppError quota_exceeded */
  #checkNodes(destination: Destination): void {
    this.#userTreeWriter.explainErrors(destination, () => this.#options.tree.rejectNodes(destination.owner.id, 1));
  }

  /**
   * Reserves room on the disk for an upload, and decides what it reserves of the quota. An account reserves its
   * declared length. A guest's upload only has to fit: otherwise strangers could fill the owner's quota with
   * announcements. A final upload reserves the room of a copy on the disk, but no quota: its parts reserve it until the
   * transaction that creates the file.
   * @returns `isRoomReserved`: the room stays reserved while the upload is open
   * @throws AppError quota_exceeded | disk_full | store_missing
   */
  #reserveForUpload(
    sender: TusSender,
    kind: Concatenation["kind"],
    owner: User,
    lengthBytes = 0,
  ): { release: ReleaseRoom; isRoomReserved: boolean; reservedBytes: number; quotaBytes: number | null } {
    const { reserveDisk, quotaOf, planOf, tree } = this.#options;
    const quotaBytes = quotaOf(owner);
    if (!sender.isTrusted && kind !== "final" && quotaBytes !== null) {
      const { usedBytes } = tree.usage(owner.id);
      if (usedBytes + lengthBytes > quotaBytes) throw outOfQuota(quotaBytes, planOf(owner));
    }
    const isRoomReserved = sender.isTrusted || kind === "final";
    const reservedBytes = sender.isTrusted && kind !== "final" ? lengthBytes : 0;
    return { release: reserveDisk(isRoomReserved ? lengthBytes : 0), isRoomReserved, reservedBytes, quotaBytes };
  }

  /** @returns the upload, and whether it is new: another request with the same key may have created it first */
  async #begin(
    sender: TusSender,
    { lengthBytes, concatenation, metadata: header, keyed }: Creation,
    metadata: TusMetadata,
    destination: Destination,
  ): Promise<{ tus: TusUpload; isNew: boolean }> {
    const { owner, folderPath } = destination;
    const { store, idempotency } = this.#options;
    const { kind, parts } = concatenation;
    const { release, isRoomReserved, reservedBytes, quotaBytes } = this.#reserveForUpload(
      sender,
      kind,
      owner,
      lengthBytes,
    );
    const nowMs = store.clock.nowMs();
    const draft: Omit<Upload, "id" | "status" | "expiresAtMs" | "fileId" | "sessionId"> = {
      publicId: `tus_${newSecretToken(ID_BITS)}`,
      accountId: owner.id,
      deviceId: NO_DEVICE,
      localId: sendingKey(sender),
      name: metadata.name,
      folderPath,
      mediaType: metadata.mediaType,
      digest: metadata.fields.checksum,
      sizeBytes: lengthBytes ?? 0,
      // Its bytes come in requests of any length.
      chunkSizeBytes: 0,
      totalChunks: 0,
      reservedBytes,
      onConflict: metadata.fields.onConflict,
      targetId: undefined,
      baseDigest: undefined,
      nonce: randomBytes(16),
      isAutomatic: false,
    };
    const begin = () => {
      const expiresAtMs = nowMs + SESSION_MS;
      const publicId = newId("ups", nowMs);
      const session = { publicId, accountId: owner.id, deviceId: NO_DEVICE, nowMs, expiresAtMs, options: {} };
      const sessionId = store.rows.insertSession(session);
      const id = store.rows.insert({ ...draft, sessionId }, nowMs);
      const upload: Upload = { ...draft, id, sessionId, status: "pending", expiresAtMs, fileId: undefined };
      const { senderId, shareId } = sender;
      this.#rows.insert({ upload, senderId, shareId, kind, parts, offsetBytes: 0, lengthBytes, metadata: header });
      return draft.publicId;
    };
    let uploadId: string | undefined;
    try {
      const begun = store.writer.run((tx) => {
        const before = this.#findKeyed(keyed);
        if (before !== undefined) return before.upload.publicId;
        // A final upload ends with its request, and its parts have slots already.
        if (kind !== "final") this.#slots.take(tx, sender);
        store.treeWriter.reserveBytes(tx, owner.id, reservedBytes, quotaBytes);
        const made = begin();
        if (keyed !== undefined) idempotency.finish(keyed, made);
        return made;
      });
      uploadId = await withExplainedQuota(this.#userTreeWriter, destination, begun);
    } finally {
      if (uploadId !== draft.publicId || !isRoomReserved) release();
    }
    const tus = this.#rows.find(uploadId);
    if (tus === undefined) throw notFound(say`This upload was not found.`);
    const isNew = uploadId === draft.publicId;
    if (isNew && isRoomReserved) store.holdRoom(tus.upload.id, release);
    return { tus, isNew };
  }

  /** @throws AppError invalid_field | file_too_large | quota_exceeded | disk_full | upload_state | upload_expired */
  async #setLength(
    sender: TusSender,
    tus: TusUpload,
    destination: Destination,
    lengthBytes: number,
  ): Promise<TusUpload> {
    const { store, quotaOf, reserveDisk } = this.#options;
    const { owner, limitBytes, tooLarge } = destination;
    const { id } = tus.upload;
    if (tus.lengthBytes === lengthBytes) return tus;
    if (limitBytes !== null && lengthBytes > limitBytes) throw tooLarge();
    // Only checks the room: the rest is usually sent now.
    reserveDisk(Math.max(0, lengthBytes - tus.offsetBytes))();
    const lengthSet = store.writer.run((tx) => {
      const { accountId, reservedBytes } = store.getOpen(id);
      const current = this.#rows.get(id) ?? tus;
      const active = this.#active.find(id);
      const writtenBytes = Math.max(current.offsetBytes, active?.writtenBytes ?? 0);
      if (current.lengthBytes === lengthBytes) return;
      if (current.lengthBytes !== undefined || lengthBytes < writtenBytes) {
        throw invalidField(
          "Upload-Length",
          say`Upload-Length can be set only once and must be at least ${current.lengthBytes ?? writtenBytes} bytes.`,
        );
      }
      // The request began when the length was not known.
      supersede(active?.incoming);
      const newReservedBytes = sender.isTrusted ? lengthBytes : Math.min(reservedBytes, lengthBytes);
      store.treeWriter.reserveBytes(tx, accountId, newReservedBytes - reservedBytes, quotaOf(owner));
      this.#rows.setLength(id, lengthBytes);
      this.#rows.setReserved(id, newReservedBytes);
      tx.afterCommit(() => {
        if (active !== undefined) active.reservedBytes = newReservedBytes;
      });
    });
    await withExplainedQuota(this.#userTreeWriter, destination, lengthSet);
    return this.#rows.get(id) ?? tus;
  }

  /** The response to a repeated last request, whose first response was lost. */
  #repeatResponse(tus: TusUpload, { offsetBytes, declaredBytes }: BytesRequest): TusProgress {
    if (offsetBytes !== tus.offsetBytes || (declaredBytes ?? 0) > 0) throw wrongOffset(offsetBytes, tus.offsetBytes);
    return { tus, offsetBytes, file: undefined };
  }
}
