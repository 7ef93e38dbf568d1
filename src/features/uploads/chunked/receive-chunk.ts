/**
 * Receives chunks, each alone or as part of a whole file; `chunk-writer.ts` writes them. A chunk counts once it is
 * complete, durable and recorded in the database. `tus/receive-bytes.ts` is its counterpart for tus, where bytes have an
 * offset instead of a chunk.
 */
import { type Digest, toChecksum, toDigest } from "../../../blobs/digest.ts";
import { AppError, notFound } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { ActiveUpload } from "./active.ts";
import { type ChunkSpan, spanOf } from "./chunk-plan.ts";
import { type ChunkTarget, ChunkWriter, replaceChunk } from "./chunk-writer.ts";
import type { UploadScope } from "./signatures.ts";
import type { UploadStore } from "./store.ts";
import type { Upload } from "./types.ts";

/** Receives the next buffer of a body. */
type TakeBytes = (buffer: Uint8Array) => Promise<void> | void;

/** Reads a body and passes on its buffers, one after the other. */
export type ReadBody = (take: TakeBytes) => Promise<void>;

/** A request that carries a chunk, or a whole file. */
export interface ChunkRequest {
  readonly scope: UploadScope;
  /** Content-Length, if present. */
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
const COMMITS_MAX = 2;

/** Receives the chunks of all uploads. */
export class ChunkReceiver {
  readonly #store: UploadStore;
  readonly #noteReceiving: () => () => void;

  /** @param noteReceiving called when bytes arrive; returns a function to call at their end */
  constructor(store: UploadStore, noteReceiving: () => () => void) {
    this.#store = store;
    this.#noteReceiving = noteReceiving;
  }

  /**
   * Receives a chunk, or the whole file. Durable when this returns. The chunks of a whole file count one by one, so that
   * the complete chunks of an interrupted transfer remain.
   * @throws AppError not_found for an index that the file does not have; upload_state | upload_expired; chunk_size for a
   *   wrong length; checksum_mismatch; disk_full | storage_error. Nothing of a rejected chunk counts.
   */
  async receive(uploadId: number, request: ChunkRequest): Promise<ChunkReceipt> {
    const store = this.#store;
    const upload = store.getOpen(uploadId);
    const { scope, declaredBytes } = request;
    const span: ChunkSpan | undefined =
      scope === "whole" ? { index: 0, offset: 0, lengthBytes: upload.sizeBytes } : spanOf(upload, scope);
    if (span === undefined) throw notFound(say`This chunk was not found.`);
    if (declaredBytes !== undefined && declaredBytes !== span.lengthBytes)
      throw wrongLength(scope, span, declaredBytes);
    const active = await this.ready(upload);
    rejectCompleting(active);
    const stop = this.#noteReceiving();
    const file = store.staging.open(upload.publicId, upload.sizeBytes);
    try {
      const target = { upload, active, file };
      if (scope === "whole") await this.#receiveWhole(target, request);
      else await this.#receiveOne(target, span, request);
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
    target: ChunkTarget,
    span: ChunkSpan,
    { scope, digest, read, confirm }: ChunkRequest,
  ): Promise<void> {
    const chunk = await this.#begin(target, span, confirm);
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
      await chunk.commit();
    } finally {
      chunk.end();
    }
  }

  async #receiveWhole(target: ChunkTarget, { scope, digest, read, confirm }: ChunkRequest): Promise<void> {
    const { upload, active } = target;
    const whole = { index: 0, offset: 0, lengthBytes: upload.sizeBytes };
    const hasher = digest && new Bun.CryptoHasher("sha256");
    const commits: Promise<void>[] = [];
    const added: number[] = [];
    let chunk: ChunkWriter | undefined;
    let receivedBytes = 0;
    const takeRest = async (buffer: Uint8Array) => {
      for (let rest = buffer; rest.length > 0; ) {
        const span = spanOf(upload, Math.floor(receivedBytes / upload.chunkSizeBytes));
        if (span === undefined) throw wrongLength(scope, whole, receivedBytes + rest.length);
        if (chunk === undefined) {
          if (!active.chunks.has(span.index)) added.push(span.index);
          chunk = await this.#begin(target, span, confirm);
        }
        const part = rest.subarray(0, chunk.missingBytes);
        await chunk.write(part);
        receivedBytes += part.length;
        rest = rest.subarray(part.length);
        if (chunk.missingBytes > 0) continue;
        const full = chunk;
        chunk = undefined;
        const commit = full.commit().finally(() => full.end());
        commit.catch(() => {}); // reported below
        commits.push(commit);
        if (commits.length >= COMMITS_MAX) await commits.shift();
      }
    };
    try {
      await read((buffer) => {
        hasher?.update(buffer);
        // The common case needs no promise: the buffer lies within the current chunk.
        if (chunk !== undefined && buffer.length < chunk.missingBytes) {
          receivedBytes += buffer.length;
          return chunk.write(buffer);
        }
        return takeRest(buffer);
      });
      await Promise.all(commits);
      confirm();
      if (receivedBytes < upload.sizeBytes) throw wrongLength(scope, whole, receivedBytes);
      if (digest === undefined || hasher === undefined) return;
      try {
        checkContentDigest(digest, hasher);
      } catch (error) {
        await this.#forget(target, added);
        throw error;
      }
    } finally {
      chunk?.end();
      await Promise.allSettled(commits);
    }
  }

  /** Begins a chunk. A request that is sending the same chunk is superseded immediately. */
  async #begin(target: ChunkTarget, span: ChunkSpan, confirm: Uploader["confirm"]): Promise<ChunkWriter> {
    const { active } = target;
    for (let other = active.incoming.get(span.index); other !== undefined; other = active.incoming.get(span.index)) {
      if (!other.isCommitting) {
        other.isSuperseded = true;
        break;
      }
      await other.ended;
    }
    rejectCompleting(active);
    return new ChunkWriter(this.#store, target, span, confirm);
  }

  /** Removes the chunks of a whole file with a wrong digest. */
  async #forget({ upload, active }: ChunkTarget, indexes: readonly number[]): Promise<void> {
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
        if (span !== undefined) await replaceChunk(this.#store, { upload, active, file }, span);
      }
      this.#store.hashAhead(upload, active);
    } finally {
      file.release();
    }
  }
}

function rejectCompleting({ completing }: ActiveUpload): void {
  if (completing === undefined) return;
  throw new AppError("upload_state", say`This upload is being completed. Check its status in a few seconds.`);
}

function checkContentDigest(expected: Digest, hasher: Bun.CryptoHasher): void {
  const actual = toDigest(hasher.digest("hex"));
  if (actual === expected) return;
  throw new AppError("checksum_mismatch", say`The received data does not match Content-Digest. Send it again.`, {
    field: "Content-Digest",
    expected: toChecksum(expected),
    actual: toChecksum(actual),
  });
}

function wrongLength(scope: UploadScope, { index, lengthBytes }: ChunkSpan, gotBytes: number): AppError {
  const message =
    scope === "whole"
      ? say`The file must have ${lengthBytes} bytes, but ${gotBytes} were received. Send it again.`
      : say`Chunk ${index} must have ${lengthBytes} bytes, but ${gotBytes} were received. Send it again.`;
  return new AppError("chunk_size", message, {
    expected: lengthBytes,
    actual: gotBytes,
    ...(scope !== "whole" && { index }),
  });
}
