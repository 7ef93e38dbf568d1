/** Makes one staged file of the chunks of an upload. */
import { newSecretToken } from "../../../lib/id.ts";
import type { StagedFile } from "../../../blobs/staging.ts";
import type { UploadStore } from "../../uploads/chunked/store.ts";
import type { Upload } from "../../uploads/chunked/types.ts";
import type { ChecksumVerifier } from "../checksums.ts";
import { fileNameOf } from "./receive-chunk.ts";
import { type ClientChunk, MAIN_FILE } from "./types.ts";

/** The complete, durable bytes. */
export interface AssembledFile {
  readonly name: string;
  readonly sizeBytes: number;
  /** Deletes the file, unless it is the main file of the upload. */
  readonly discard: () => void;
}

/** The staged files. `getOpen` throws if an upload has ended. */
interface ChunkFiles extends Pick<UploadStore, "staging"> {
  getOpen(uploadId: number): unknown;
}

const COPY_BYTES = 1024 * 1024;
/** The copied bytes are hashed each time this many more are written. */
const HASH_STEP_BYTES = 16 * 1024 * 1024;
const FILE_BITS = 64;

/**
 * Puts the chunks one after the other. If they are in the main file in order and without a gap, that file is the
 * result. Otherwise they are copied into a new file, durably. They stay unchanged.
 * @param reserveDisk reserves room for a copy, and returns a function that releases it
 * @throws AppError disk_full | storage_error; upload_state | upload_expired if the upload ends before that
 */
export async function assemble(
  store: ChunkFiles,
  upload: Pick<Upload, "id" | "publicId">,
  chunks: readonly ClientChunk[],
  reserveDisk: (bytes: number) => () => void,
): Promise<AssembledFile> {
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
  const main = fileNameOf(upload, MAIN_FILE);
  const { staging } = store;
  // A crash or a rejection may have come after the store took over the file. Its bytes must not change then.
  const hasToBeCut = (staging.sizeOf(main) ?? 0) > sizeBytes;
  if (isInOrder(chunks) && !(hasToBeCut && staging.isTaken(main))) {
    // Bytes after the last chunk are those of a chunk that was not complete, or was deleted.
    if (hasToBeCut) await staging.truncate(main, sizeBytes);
    return { name: main, sizeBytes, discard: () => undefined };
  }
  const name = fileNameOf(upload, newSecretToken(FILE_BITS));
  const releaseRoom = reserveDisk(sizeBytes);
  const discard = () => staging.remove(name);
  try {
    await copyChunks(store, upload, chunks, name);
    return { name, sizeBytes, discard };
  } catch (error) {
    discard();
    throw error;
  } finally {
    releaseRoom();
  }
}

/** Whether the main file consists of exactly these chunks. */
function isInOrder(chunks: readonly ClientChunk[]): boolean {
  let end = 0;
  return chunks.every(({ file, offsetBytes, sizeBytes }) => {
    const isNext = file === MAIN_FILE && offsetBytes === end;
    end += sizeBytes;
    return isNext;
  });
}

async function copyChunks(
  store: ChunkFiles,
  upload: Pick<Upload, "id" | "publicId">,
  chunks: readonly ClientChunk[],
  name: string,
): Promise<void> {
  const { staging } = store;
  const target = staging.open(name, Number.MAX_SAFE_INTEGER);
  let end = 0;
  let hashedBytes = 0;
  try {
    for (const chunk of chunks) {
      // Without this check, the files of an ended upload would be created again, empty.
      store.getOpen(upload.id);
      const source = staging.open(fileNameOf(upload, chunk.file), chunk.sizeBytes);
      try {
        await forEachPart(source, chunk.offsetBytes, chunk.sizeBytes, (part) => {
          target.write(part, end);
          end += part.length;
        });
      } finally {
        source.release();
      }
      if (end - hashedBytes < HASH_STEP_BYTES) continue;
      hashedBytes = end;
      staging.hashAhead(name, end);
    }
    await target.sync();
  } finally {
    target.release();
  }
}

/** Compares a staged file with the checksum that the client sent. @throws AppError checksum_mismatch | storage_error */
export async function verifyStaged(
  { staging }: UploadStore,
  { name, sizeBytes }: AssembledFile,
  checksum: ChecksumVerifier,
): Promise<void> {
  const source = staging.open(name, sizeBytes);
  try {
    await forEachPart(source, 0, sizeBytes, (part) => checksum.update(part));
  } finally {
    source.release();
  }
}

/** Reads a range a buffer at a time, and yields to the event loop after each. */
async function forEachPart(
  source: StagedFile,
  offsetBytes: number,
  lengthBytes: number,
  take: (part: Uint8Array) => void,
): Promise<void> {
  for (let at = 0; at < lengthBytes; at += COPY_BYTES) {
    const part = source.read(Math.min(COPY_BYTES, lengthBytes - at), offsetBytes + at);
    take(part);
    // Frees the memory now: megabytes would accumulate before the garbage collector runs.
    part.buffer.transfer(0);
    await new Promise(setImmediate);
  }
}
