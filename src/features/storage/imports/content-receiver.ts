import type { BlobLease, BlobStore } from "../../../blobs/blob-store.ts";
import { AppError } from "../../../errors.ts";
import { detectMediaType } from "../../library/files/media-type.ts";
import { fileTooLarge, type StorageLimits } from "../../library/files/storage-limits.ts";
import { isUtc, refineCapturedAt } from "./captured-at.ts";
import { PhotoHead } from "./photo-head.ts";
import type { SourceFile } from "./source.ts";

/** The content of a file, durable in the store. */
export interface ReceivedContent {
  readonly lease: BlobLease;
  readonly mediaType: string;
  readonly capturedAt: string | undefined;
}

/** Dependencies of {@link ContentReceiver}. */
interface ContentReceiverOptions {
  readonly blobs: Pick<BlobStore, "begin">;
  /** Reserves disk space. @returns a function that releases it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
  readonly limits: StorageLimits;
  /** Called after each chunk. */
  readonly rest: () => Promise<void>;
}

/** A file without end ends here, if the plan has no limit. */
const UNLIMITED_BYTES_MAX = Number.MAX_SAFE_INTEGER;

/** Reads files of a source into the store. */
export class ContentReceiver {
  readonly #options: ContentReceiverOptions;

  constructor(options: ContentReceiverOptions) {
    this.#options = options;
  }

  /**
   * Reads a file. After an error nothing of it remains.
   * @param onRead called when its last byte was read
   * @throws SourceError; AppError file_too_large | disk_full | storage_error | store_missing
   */
  async receive(file: SourceFile, name: string, signal: AbortSignal, onRead: () => void): Promise<ReceivedContent> {
    const { blobs, reserveSpace, limits, rest } = this.#options;
    const limitBytes = limits.maxFileSizeBytes ?? UNLIMITED_BYTES_MAX;
    const tooLarge = () => fileTooLarge(limits, limitBytes);
    if ((file.sizeBytes ?? 0) > limitBytes) throw tooLarge();
    const release = reserveSpace(file.sizeBytes ?? 0);
    const incoming = blobs.begin({ limitBytes, tooLarge });
    try {
      const given = file.details.capturedAt;
      const head = given !== undefined && isUtc(given) ? new PhotoHead() : undefined;
      for await (const bytes of await file.open(signal)) {
        signal.throwIfAborted();
        head?.add(bytes);
        await incoming.write(bytes);
        await rest();
      }
      onRead();
      const mediaType = await detectMediaType(incoming.head, undefined, name);
      const capturedAt =
        head === undefined || given === undefined ? given : await refineCapturedAt(given, head.join(), mediaType);
      return { lease: await incoming.commit(), mediaType, capturedAt };
    } finally {
      incoming.abort();
      release();
    }
  }
}

/** Whether an error concerns only one file, so that the others can be imported. */
export function isAboutOneFile(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    ["file_too_large", "invalid_request", "content_damaged", "content_missing"].includes(error.reason)
  );
}
