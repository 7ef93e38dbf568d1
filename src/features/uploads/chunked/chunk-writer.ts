/**
 * Writes chunks, each at its position in the one file of its upload. A chunk that is being received never damages a
 * stored one: new bytes are compared with the stored ones. If they differ, they are written to a separate file until they
 * are complete.
 */
import type { ReplacementFile, StagedFile } from "../../../blobs/staging.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { ActiveUpload, IncomingChunk } from "./active.ts";
import type { ChunkSpan } from "./chunk-plan.ts";
import { SESSION_MS, type UploadStore } from "./store.ts";
import type { Upload } from "./types.ts";

/** An open upload: its row, its state in memory, and its file. */
export interface ChunkTarget {
  readonly upload: Upload;
  readonly active: ActiveUpload;
  readonly file: StagedFile;
}

const COPY_BYTES = 1024 * 1024;

/** Writes one chunk, from the network to its row. */
export class ChunkWriter {
  readonly #store: UploadStore;
  readonly #target: ChunkTarget;
  readonly #span: ChunkSpan;
  readonly #confirm: Uploader["confirm"];
  readonly #entry: IncomingChunk;
  readonly #markEnded: () => void;
  /** Whether the chunk is stored already, so that its stored bytes must not be overwritten. */
  readonly #isRepeat: boolean;
  #replacementFile: ReplacementFile | undefined;
  #position: number;

  constructor(store: UploadStore, target: ChunkTarget, span: ChunkSpan, confirm: Uploader["confirm"]) {
    const { active } = target;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#store = store;
    this.#target = target;
    this.#span = span;
    this.#confirm = confirm;
    this.#isRepeat = active.chunks.has(span.index);
    this.#position = span.offset;
    this.#entry = { isSuperseded: false, isCommitting: false, ended: promise };
    this.#markEnded = resolve;
    active.incoming.set(span.index, this.#entry);
  }

  /** The number of bytes that have not arrived yet. */
  get missingBytes(): number {
    return this.#span.offset + this.#span.lengthBytes - this.#position;
  }

  write(buffer: Uint8Array): Promise<void> | void {
    this.#rejectSuperseded();
    const { file } = this.#target;
    const at = this.#position;
    this.#position += buffer.length;
    if (!this.#isRepeat) {
      file.write(buffer, at);
      return;
    }
    if (this.#replacementFile !== undefined) {
      this.#replacementFile.append(buffer);
      return;
    }
    if (file.contains(buffer, at)) return;
    return this.#beginReplacement(buffer, at);
  }

  /** Makes the chunk durable and records it in the database. */
  async commit(): Promise<void> {
    this.#rejectSuperseded();
    this.#entry.isCommitting = true;
    const { upload, active, file } = this.#target;
    const replacement = replacementName(upload, this.#span);
    if (this.#replacementFile === undefined) await file.sync();
    else await this.#replacementFile.commit(replacement);
    await this.#record(replacement);
    if (this.#replacementFile !== undefined) await replaceChunk(this.#store, this.#target, this.#span);
    if (!this.#isRepeat) this.#store.hashAhead(upload, active);
  }

  /** @param replacement name of the separate file, which is removed if this fails */
  async #record(replacement: string): Promise<void> {
    const { writer, rows, clock, staging } = this.#store;
    const { active } = this.#target;
    const { id } = this.#target.upload;
    const { index, lengthBytes } = this.#span;
    const record = (tx: Transaction) => {
      this.#confirm();
      const { status, sessionId } = this.#store.getOpen(id);
      rows.addChunk(id, index);
      if (this.#replacementFile !== undefined) rows.setReplacing(id, index, true);
      if (status !== "uploading") rows.setStatus(id, "uploading");
      rows.extend(sessionId, clock.nowMs() + SESSION_MS);
      tx.afterCommit(() => {
        if (this.#replacementFile !== undefined) active.unfinished.add(index);
        if (active.chunks.has(index)) return;
        active.chunks.add(index);
        this.#store.releaseRoom(id, lengthBytes);
      });
    };
    try {
      await writer.run(record);
    } catch (error) {
      // No row refers to the separate file, so it would remain as long as the upload.
      if (this.#replacementFile !== undefined && !active.unfinished.has(index)) staging.remove(replacement);
      throw error;
    }
  }

  /** Call it once, in every case. */
  end(): void {
    const { active } = this.#target;
    this.#replacementFile?.abort();
    if (active.incoming.get(this.#span.index) === this.#entry) active.incoming.delete(this.#span.index);
    this.#markEnded();
  }

  /** Continues in a separate file, because the bytes differ from the stored chunk. Copies the equal beginning. */
  async #beginReplacement(buffer: Uint8Array, position: number): Promise<void> {
    this.#replacementFile = this.#store.staging.beginReplacement();
    for (let at = this.#span.offset; at < position; at += COPY_BYTES) {
      this.#replacementFile.append(this.#target.file.read(Math.min(COPY_BYTES, position - at), at));
      await new Promise(setImmediate);
    }
    this.#replacementFile.append(buffer);
  }

  #rejectSuperseded(): void {
    if (!this.#entry.isSuperseded) return;
    throw new AppError(
      "upload_state",
      say`Another request is sending this chunk, or the upload has ended. Check the upload's status.`,
    );
  }
}

/** Replaces a chunk with the durable bytes of its separate file. Safe to repeat after a crash. */
export async function replaceChunk(
  { staging, writer, rows }: UploadStore,
  { upload, active, file }: ChunkTarget,
  span: ChunkSpan,
): Promise<void> {
  const { index, offset } = span;
  const replacement = replacementName(upload, span);
  const fileExists = await staging.copyInto(replacement, file, offset);
  // The hash of this file is no longer valid.
  staging.invalidate(upload.publicId);
  await writer.run((tx) => {
    // Without the bytes, it is unknown how far an earlier attempt came: the chunk must be sent again.
    if (fileExists) rows.setReplacing(upload.id, index, false);
    else rows.removeChunk(upload.id, index);
    tx.afterCommit(() => {
      active.unfinished.delete(index);
      if (!fileExists) active.chunks.remove(index);
    });
  });
  staging.remove(replacement);
}

/** The name of the separate file with new bytes of a stored chunk. */
function replacementName({ publicId }: Upload, { index }: ChunkSpan): string {
  return `${publicId}.${index}.next`;
}
