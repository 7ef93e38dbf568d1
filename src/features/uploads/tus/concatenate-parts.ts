/** Joins parts into one file (tus, Concatenation). */
import { AppError, invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import { isOpen, type UploadStore } from "../chunked/store.ts";
import type { TusRows } from "./queries.ts";
import type { TusSender, TusUpload } from "./types.ts";

/** Dependencies of {@link PartConcatenator}. */
interface PartConcatenatorOptions {
  readonly store: UploadStore;
  readonly rows: TusRows;
  /** An upload of this sender. @throws AppError not_found | upload_expired */
  readonly find: (sender: TusSender, publicId: string) => TusUpload;
}

const COPY_BYTES = 1024 * 1024;
/** The stored bytes are hashed each time this many more are written. */
const HASH_STEP_BYTES = 16 * 1024 * 1024;

/** Joins parts. */
export class PartConcatenator {
  readonly #options: PartConcatenatorOptions;
  /** Joins in progress, by their parts. */
  readonly #inProgress = new Map<string, Promise<unknown>>();

  constructor(options: PartConcatenatorOptions) {
    this.#options = options;
  }

  /** Resolves when these parts are no longer being joined, successfully or not. */
  async waitForJoin(ids: readonly string[]): Promise<void> {
    await this.#inProgress.get(keyOf(ids))?.catch(() => undefined); // the rows show the result
  }

  /** Whether an upload is a part that is being joined now. */
  isJoining(publicId: string): boolean {
    return [...this.#inProgress.keys()].some((key) => key.split(" ").includes(publicId));
  }

  /**
   * The upload into which these parts were joined already, by a request whose response was lost.
   * @throws AppError not_found
   */
  findJoined(sender: TusSender, ids: readonly string[]): TusUpload | undefined {
    const { rows, find } = this.#options;
    const [finalId] = ids.slice(0, 1).flatMap((id) => {
      const part = rows.find(id);
      return part?.kind === "partial" ? part.parts : [];
    });
    if (finalId === undefined) return undefined;
    const found = find(sender, finalId);
    return keyOf(found.parts) === keyOf(ids) ? found : undefined;
  }

  /** The complete parts of a final upload. @throws AppError not_found | upload_expired; upload_state; invalid_field */
  wholeParts(sender: TusSender, ids: readonly string[]): TusUpload[] {
    return ids.map((id) => {
      const part = this.#options.find(sender, id);
      if (part.kind !== "partial") {
        throw invalidField("Upload-Concat", say`Only uploads created with Upload-Concat: partial can be joined.`);
      }
      if (!isOpen(part.upload) || part.offsetBytes !== part.lengthBytes) {
        throw new AppError(
          "upload_state",
          say`A part is incomplete or was already joined. Complete every part, then join them once.`,
          { part: id, offset: part.offsetBytes, length: part.lengthBytes ?? null },
        );
      }
      return part;
    });
  }

  /**
   * Joins complete parts. They stay unchanged until `finish` creates the file.
   * @throws AppError disk_full | storage_error | upload_state | upload_expired; what `finish` throws
   */
  async join<T>(tus: TusUpload, parts: readonly TusUpload[], finish: () => Promise<T>): Promise<T> {
    const key = keyOf(tus.parts);
    const work = this.#write(tus, parts).then(finish);
    this.#inProgress.set(key, work);
    try {
      return await work;
    } finally {
      if (this.#inProgress.get(key) === work) this.#inProgress.delete(key);
    }
  }

  async #write(tus: TusUpload, parts: readonly TusUpload[]): Promise<void> {
    const { store, rows } = this.#options;
    const { id, sizeBytes } = tus.upload;
    await writeParts(store, tus, parts);
    await store.writer.run((tx) => {
      store.getOpen(id);
      rows.setOffset(id, sizeBytes);
      tx.afterCommit(() => store.releaseRoom(id, sizeBytes));
    });
  }
}

function keyOf(parts: readonly string[]): string {
  return parts.join(" ");
}

/**
 * Writes the parts one after the other into the file of the joined upload, and yields between buffers. Durable when
 * this returns. The parts stay unchanged.
 * @throws AppError disk_full | storage_error; upload_state | upload_expired if a part has ended
 */
async function writeParts(store: UploadStore, { upload }: TusUpload, parts: readonly TusUpload[]): Promise<void> {
  if (upload.sizeBytes === 0) return;
  const { staging } = store;
  const target = staging.open(upload.publicId, upload.sizeBytes);
  let position = 0;
  let hashedBytes = 0;
  try {
    for (const buffer of buffersOf(store, parts)) {
      target.write(buffer, position);
      position += buffer.length;
      // Frees the memory now: megabytes would accumulate before the garbage collector runs.
      buffer.buffer.transfer(0);
      if (position - hashedBytes >= HASH_STEP_BYTES) {
        hashedBytes = position;
        staging.hashAhead(upload.publicId, hashedBytes);
      }
      await new Promise(setImmediate);
    }
    await target.sync();
  } finally {
    target.release();
  }
}

/** The bytes of the parts, one after the other. @throws AppError as {@link writeParts} */
function* buffersOf(store: UploadStore, parts: readonly TusUpload[]): Generator<Uint8Array<ArrayBuffer>> {
  for (const { upload: part } of parts) {
    if (part.sizeBytes === 0) continue;
    // Without this check, the file of an ended upload would be created again, empty.
    store.getOpen(part.id);
    const source = store.staging.open(part.publicId, part.sizeBytes);
    try {
      for (let at = 0; at < part.sizeBytes; at += COPY_BYTES) {
        yield source.read(Math.min(COPY_BYTES, part.sizeBytes - at), at);
      }
    } finally {
      source.release();
    }
  }
}
