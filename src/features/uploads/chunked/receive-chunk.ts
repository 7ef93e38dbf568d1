/**
 * Receives chunks. Each is written at its position in the one file of its upload. It counts once it is complete,
 * durable, and has its row.
 * A stored chunk is never at risk from a chunk that is being received: new bytes are compared with the stored ones.
 * Where they differ, they wait in a file of their own until they are complete.
 * `tus/receive-bytes.ts` is its counterpart for tus, where bytes have an offset instead of a chunk. `library/files`
 * receives uploads of one request. All three reach the disk through `Staging` or the blob store.
 */
import { type Digest, toChecksum, toDigest } from "../../../blobs/digest.ts";
import type { ReplacementFile, StagedFile } from "../../../blobs/staging.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { ActiveUpload, IncomingChunk } from "./active.ts";
import { type ChunkSpan, spanOf } from "./chunk-plan.ts";
import type { UploadScope } from "./signatures.ts";
import { SESSION_MS, type UploadStore } from "./store.ts";
import type { Upload } from "./types.ts";

/** Takes the next piece of a body. */
export type TakeBytes = (buffer: Uint8Array) => Promise<void> | void;

/** Hands on a body piece by piece, each after the last was taken. */
export type ReadBody = (take: TakeBytes) => Promise<void>;

/** A request that carries a chunk, or a whole file. */
export interface ChunkRequest {
  readonly scope: UploadScope;
  /** Content-Length, where there is one. */
  readonly declaredBytes: number | undefined;
  /** Expected digest of the body, if the request has one (RFC 9530). */
  readonly digest: Digest | undefined;
  readonly read: ReadBody;
  /** Called when the body has arrived, and again in the transaction that counts a chunk: see {@link Uploader}. */
  readonly confirm: Uploader["confirm"];
}

/** The state of an upload after a chunk. */
export interface ChunkReceipt {
  readonly completedChunks: readonly number[];
  readonly bytesUploaded: number;
}

/** Chunks of one whole-file request that are being made durable while the next is received. */
const SETTLING_MAX = 2;
const COPY_BYTES = 1024 * 1024;

/** Receives chunks. */
export class ChunkReceiver {
  readonly #store: UploadStore;
  readonly #noteReceiving: () => () => void;

  /**  @param noteReceiving called when bytes arrive; returns what to call at their end */
  constructor(store: UploadStore, noteReceiving: () => () => void) {
    this.#store = store;
    this.#noteReceiving = noteReceiving;
  }

  /**
   * Takes a chunk, or the whole file. Durable when this returns. Chunks of a whole file count one by one, so that what
   * is whole of a broken transfer is kept.
   * @throws AppError not_found for an index that the file does not have; upload_state | upload_expired; chunk_size for a
   *   wrong length; checksum_mismatch; disk_full | storage_error. Nothing of a rejected chunk counts.
   */
  async receive(uploadId: number, request: ChunkRequest): Promise<ChunkReceipt> {
    const store = this.#store;
    const upload = store.getOpen(uploadId);
    const { scope, declaredBytes } = request;
    const span: ChunkSpan | undefined =
      scope === "whole" ? { index: 0, offset: 0, lengthBytes: upload.sizeBytes } : spanOf(upload, scope);
    if (span === undefined) throw notFound("This chunk");
    if (declaredBytes !== undefined && declaredBytes !== span.lengthBytes)
      throw wrongLength(scope, span, declaredBytes);
    const active = await this.ready(upload);
    rejectCompleting(active);
    const stop = this.#noteReceiving();
    const file = store.staging.open(upload.publicId, upload.sizeBytes);
    try {
      if (scope === "whole") await this.#receiveWhole(upload, active, file, request);
      else await this.#receiveOne(upload, active, file, span, request);
    } finally {
      file.release();
      stop();
    }
    return { completedChunks: active.chunks.list(true), bytesUploaded: active.chunks.bytes };
  }

  /** The state of an open upload, after finishing replacements that a crash interrupted. */
  async ready(upload: Upload): Promise<ActiveUpload> {
    const active = this.#store.activeOf(upload);
    if (active.unfinished.size > 0) {
      active.recovering ??= this.#recover(upload, active).finally(() => {
        active.recovering = undefined;
      });
      await active.recovering;
    }
    return active;
  }

  async #receiveOne(
    upload: Upload,
    active: ActiveUpload,
    file: StagedFile,
    span: ChunkSpan,
    { scope, digest, read, confirm }: ChunkRequest,
  ): Promise<void> {
    const chunk = await this.#begin(upload, active, file, span, confirm);
    const hasher = digest && new Bun.CryptoHasher("sha256");
    try {
      await read((buffer) => {
        if (buffer.length > chunk.missingBytes) {
          throw wrongLength(scope, span, span.lengthBytes - chunk.missingBytes + buffer.length);
        }
        hasher?.update(buffer);
        return chunk.write(buffer);
      });
      confirm();
      if (chunk.missingBytes > 0) throw wrongLength(scope, span, span.lengthBytes - chunk.missingBytes);
      if (digest !== undefined && hasher !== undefined) checkContentDigest(digest, hasher);
      await chunk.settle();
    } finally {
      chunk.end();
    }
  }

  async #receiveWhole(
    upload: Upload,
    active: ActiveUpload,
    file: StagedFile,
    { scope, digest, read, confirm }: ChunkRequest,
  ): Promise<void> {
    const whole = { index: 0, offset: 0, lengthBytes: upload.sizeBytes };
    const hasher = digest && new Bun.CryptoHasher("sha256");
    const settling: Promise<void>[] = [];
    const added: number[] = [];
    let chunk: ChunkWriter | undefined;
    let receivedBytes = 0;
    const takeRest = async (buffer: Uint8Array) => {
      for (let rest = buffer; rest.length > 0; ) {
        const span = spanOf(upload, Math.floor(receivedBytes / upload.chunkSizeBytes));
        if (span === undefined) throw wrongLength(scope, whole, receivedBytes + rest.length);
        if (chunk === undefined) {
          if (!active.chunks.has(span.index)) added.push(span.index);
          chunk = await this.#begin(upload, active, file, span, confirm);
        }
        const part = rest.subarray(0, chunk.missingBytes);
        await chunk.write(part);
        receivedBytes += part.length;
        rest = rest.subarray(part.length);
        if (chunk.missingBytes > 0) continue;
        const full = chunk;
        chunk = undefined;
        const settled = full.settle().finally(() => full.end());
        settled.catch(() => {}); // reported below
        settling.push(settled);
        if (settling.length >= SETTLING_MAX) await settling.shift();
      }
    };
    try {
      await read((buffer) => {
        hasher?.update(buffer);
        // The common case without a promise: the piece lies within the present chunk.
        if (chunk !== undefined && buffer.length < chunk.missingBytes) {
          receivedBytes += buffer.length;
          return chunk.write(buffer);
        }
        return takeRest(buffer);
      });
      await Promise.all(settling);
      confirm();
      if (receivedBytes < upload.sizeBytes) throw wrongLength(scope, whole, receivedBytes);
      if (digest === undefined || hasher === undefined) return;
      try {
        checkContentDigest(digest, hasher);
      } catch (error) {
        await this.#forget(upload, active, added);
        throw error;
      }
    } finally {
      chunk?.end();
      await Promise.allSettled(settling);
    }
  }

  /** Begins a chunk. A request that was sending the same chunk is superseded at once. */
  async #begin(
    upload: Upload,
    active: ActiveUpload,
    file: StagedFile,
    span: ChunkSpan,
    confirm: Uploader["confirm"],
  ): Promise<ChunkWriter> {
    for (let other = active.incoming.get(span.index); other !== undefined; other = active.incoming.get(span.index)) {
      if (!other.isSettling) {
        other.isSuperseded = true;
        break;
      }
      await other.ended;
    }
    rejectCompleting(active);
    return new ChunkWriter(this.#store, upload, active, file, span, confirm);
  }

  /** Removes chunks of a whole file whose digest turned out wrong. */
  async #forget(upload: Upload, active: ActiveUpload, indexes: readonly number[]): Promise<void> {
    const { writer, rows, staging } = this.#store;
    await writer.run((tx) => {
      this.#store.getOpen(upload.id);
      for (const index of indexes) rows.removeChunk(upload.id, index);
      tx.afterCommit(() => {
        for (const index of indexes) active.chunks.remove(index);
      });
    });
    staging.invalidate(upload.publicId);
  }

  async #recover(upload: Upload, active: ActiveUpload): Promise<void> {
    const { staging } = this.#store;
    const file = staging.open(upload.publicId, upload.sizeBytes);
    try {
      for (const index of active.unfinished) {
        const span = spanOf(upload, index);
        if (span !== undefined) await replaceChunk(this.#store, upload, active, file, span);
      }
      this.#store.hashAhead(upload, active);
    } finally {
      file.release();
    }
  }
}

/** Writes one chunk, from the network to its row. */
class ChunkWriter {
  readonly #store: UploadStore;
  readonly #upload: Upload;
  readonly #active: ActiveUpload;
  readonly #file: StagedFile;
  readonly #span: ChunkSpan;
  readonly #confirm: Uploader["confirm"];
  readonly #entry: IncomingChunk;
  readonly #markEnded: () => void;
  /** Whether the chunk is there already, so that its place must not be touched. */
  readonly #isRepeat: boolean;
  #side: ReplacementFile | undefined;
  #position: number;

  constructor(
    store: UploadStore,
    upload: Upload,
    active: ActiveUpload,
    file: StagedFile,
    span: ChunkSpan,
    confirm: Uploader["confirm"],
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#store = store;
    this.#upload = upload;
    this.#active = active;
    this.#file = file;
    this.#span = span;
    this.#confirm = confirm;
    this.#isRepeat = active.chunks.has(span.index);
    this.#position = span.offset;
    this.#entry = { isSuperseded: false, isSettling: false, ended: promise };
    this.#markEnded = resolve;
    active.incoming.set(span.index, this.#entry);
  }

  /** Bytes that are still to come. */
  get missingBytes(): number {
    return this.#span.offset + this.#span.lengthBytes - this.#position;
  }

  write(buffer: Uint8Array): Promise<void> | void {
    this.#rejectSuperseded();
    const at = this.#position;
    this.#position += buffer.length;
    if (!this.#isRepeat) {
      this.#file.write(buffer, at);
      return;
    }
    if (this.#side !== undefined) {
      this.#side.append(buffer);
      return;
    }
    if (this.#file.contains(buffer, at)) return;
    return this.#stepAside(buffer, at);
  }

  /** Makes it durable and counts it. */
  async settle(): Promise<void> {
    this.#rejectSuperseded();
    this.#entry.isSettling = true;
    const replacement = `${this.#upload.publicId}.${this.#span.index}.next`;
    if (this.#side === undefined) await this.#file.sync();
    else await this.#side.commit(replacement);
    await this.#count(replacement);
    if (this.#side !== undefined) await replaceChunk(this.#store, this.#upload, this.#active, this.#file, this.#span);
    if (!this.#isRepeat) this.#store.hashAhead(this.#upload, this.#active);
  }

  /** Commits its row. @param replacement what waits beside the file: nobody's where it may not count */
  async #count(replacement: string): Promise<void> {
    const { writer, rows, clock, staging } = this.#store;
    const { id } = this.#upload;
    const { index, lengthBytes } = this.#span;
    const count = (tx: Transaction) => {
      this.#confirm();
      const { status, sessionId } = this.#store.getOpen(id);
      rows.addChunk(id, index);
      if (this.#side !== undefined) rows.setReplacing(id, index, true);
      if (status !== "uploading") rows.setStatus(id, "uploading");
      rows.extend(sessionId, clock.nowMs() + SESSION_MS);
      tx.afterCommit(() => {
        if (this.#side !== undefined) this.#active.unfinished.add(index);
        if (this.#active.chunks.has(index)) return;
        this.#active.chunks.add(index);
        this.#store.releaseRoom(id, lengthBytes);
      });
    };
    try {
      await writer.run(count);
    } catch (error) {
      // Without its mark in the row it would stay as long as the upload.
      if (this.#side !== undefined && !this.#active.unfinished.has(index)) staging.remove(replacement);
      throw error;
    }
  }

  /** Call it once, in every case. */
  end(): void {
    this.#side?.abort();
    if (this.#active.incoming.get(this.#span.index) === this.#entry) this.#active.incoming.delete(this.#span.index);
    this.#markEnded();
  }

  /** Continues in a separate file, because the bytes differ from the stored chunk. Copies the equal beginning. */
  async #stepAside(buffer: Uint8Array, position: number): Promise<void> {
    this.#side = this.#store.staging.beginReplacement();
    for (let at = this.#span.offset; at < position; at += COPY_BYTES) {
      this.#side.append(this.#file.read(Math.min(COPY_BYTES, position - at), at));
      await new Promise(setImmediate);
    }
    this.#side.append(buffer);
  }

  #rejectSuperseded(): void {
    if (!this.#entry.isSuperseded) return;
    throw new AppError(
      "upload_state",
      "Another request is sending this chunk, or the upload has ended. Check the upload's status.",
    );
  }
}

/** Replaces a chunk with the complete, durable bytes next to it. Safe to repeat after a crash. */
async function replaceChunk(
  { staging, writer, rows }: UploadStore,
  upload: Upload,
  active: ActiveUpload,
  file: StagedFile,
  span: ChunkSpan,
): Promise<void> {
  const { index, offset } = span;
  const replacement = `${upload.publicId}.${index}.next`;
  const isThere = await staging.copyInto(replacement, file, offset);
  // The hash of this file is no longer valid.
  staging.invalidate(upload.publicId);
  await writer.run((tx) => {
    // Without the bytes nobody knows how far an earlier try came: the chunk must be sent again.
    if (isThere) rows.setReplacing(upload.id, index, false);
    else rows.removeChunk(upload.id, index);
    tx.afterCommit(() => {
      active.unfinished.delete(index);
      if (!isThere) active.chunks.remove(index);
    });
  });
  staging.remove(replacement);
}

function rejectCompleting({ completing }: ActiveUpload): void {
  if (completing === undefined) return;
  throw new AppError("upload_state", "This upload is being completed. Check its status in a few seconds.");
}

function checkContentDigest(expected: Digest, hasher: Bun.CryptoHasher): void {
  const actual = toDigest(hasher.digest("hex"));
  if (actual === expected) return;
  throw new AppError("checksum_mismatch", "The received data does not match Content-Digest. Send it again.", {
    field: "Content-Digest",
    expected: toChecksum(expected),
    actual: toChecksum(actual),
  });
}

function wrongLength(scope: UploadScope, { index, lengthBytes }: ChunkSpan, gotBytes: number): AppError {
  const what = scope === "whole" ? "The file" : `Chunk ${index}`;
  return new AppError(
    "chunk_size",
    `${what} must have ${lengthBytes} bytes, but ${gotBytes} were received. Send it again.`,
    {
      expected: lengthBytes,
      actual: gotBytes,
      ...(scope !== "whole" && { index }),
    },
  );
}
