/** Photos without location and camera data, made once per content and cached with the thumbnails. */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DerivedFile, DerivedStore } from "../../../blobs/derived.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { canStrip, stripMetadata } from "./strip-metadata.ts";

/** Dependencies of {@link StrippedPhotos}. */
export interface StrippedPhotosOptions {
  readonly blobs: Pick<BlobStore, "readRange" | "fetchLocal">;
  readonly derived: Pick<DerivedStore, "findOther" | "putOther" | "sweepOther">;
  readonly clock: Clock;
  readonly log: Log;
}

const KIND = "bare";
/** Maximum size: a photo is briefly in memory twice, one photo at a time. Larger ones are replaced by a preview. */
const PHOTO_BYTES_MAX = 32 * 1024 * 1024;
const BUFFER_BYTES = 1024 * 1024;
/** Stripped photos are deleted after this time, so that none outlives its deleted blob for long. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** Photos that can't be stripped, remembered until a restart, because each attempt reads the whole file. */
const UNSTRIPPABLE_MAX = 1_000;

export class StrippedPhotos {
  readonly #options: StrippedPhotosOptions;
  readonly #making = new Map<Digest, Promise<DerivedFile | undefined>>();
  readonly #unstrippable = new Set<Digest>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: StrippedPhotosOptions) {
    this.#options = options;
  }

  /**
   * The photo without its metadata; undefined if it can't be made from this file.
   * @throws AppError content_missing | disk_full
   */
  async get(file: FileNode): Promise<DerivedFile | undefined> {
    if (!canStrip(file.mediaType) || file.sizeBytes > PHOTO_BYTES_MAX) return undefined;
    if (this.#unstrippable.has(file.digest)) return undefined;
    const found = this.#options.derived.findOther(file.digest, KIND);
    if (found !== undefined) return found;
    const inProgress = this.#making.get(file.digest);
    if (inProgress !== undefined) return inProgress;
    const stripping = this.#afterOthers(() => this.#make(file)).finally(() => this.#making.delete(file.digest));
    this.#making.set(file.digest, stripping);
    return stripping;
  }

  /** Deletes photos that were stripped a week ago. @returns how many */
  sweep(): Promise<number> {
    return this.#options.derived.sweepOther(KIND, this.#options.clock.nowMs() - RETENTION_MS);
  }

  async #make(file: FileNode): Promise<DerivedFile | undefined> {
    const bytes = await this.#read(file);
    const parts = stripMetadata(bytes, file.mediaType);
    if (parts === undefined) {
      this.#options.log.debug("Cannot remove the metadata of a photo; the share does not send it.", {
        fileId: file.publicId,
      });
      if (this.#unstrippable.size >= UNSTRIPPABLE_MAX) this.#unstrippable.clear();
      this.#unstrippable.add(file.digest);
      return undefined;
    }
    return this.#options.derived.putOther(file.digest, KIND, Buffer.concat(parts));
  }

  async #read(file: FileNode): Promise<Uint8Array> {
    await this.#options.blobs.fetchLocal(file.digest);
    const bytes = new Uint8Array(file.sizeBytes);
    for (let offset = 0; offset < file.sizeBytes; offset += BUFFER_BYTES) {
      const length = Math.min(BUFFER_BYTES, file.sizeBytes - offset);
      bytes.set(this.#options.blobs.readRange(file.digest, offset, length), offset);
      // Yields to the event loop.
      await new Promise(setImmediate);
    }
    return bytes;
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
