import type { BlobLease, BlobStore } from "../../../blobs/blob-store.ts";
import { AppError, type Reason } from "../../../errors.ts";
import { detectMediaType } from "../../library/files/media-type.ts";
import { fileTooLarge, quotaExceeded, type StorageLimits } from "../../library/files/storage-limits.ts";
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

/** After so many bytes more than the source has said, the free space of the disk is checked again. */
const UNRESERVED_BYTES_MAX = 64 * 1024 * 1024;

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
    const { limitBytes, tooLarge } = sizeLimit(limits);
    const declaredBytes = file.sizeBytes ?? 0;
    if (declaredBytes > limitBytes) throw tooLarge();
    const release = reserveSpace(declaredBytes);
    const incoming = blobs.begin({ limitBytes, tooLarge });
    try {
      const given = file.details.capturedAt;
      const head = given !== undefined && isUtc(given) ? new PhotoHead() : undefined;
      let uncheckedBytes = -declaredBytes;
      for await (const bytes of await file.open(signal)) {
        signal.throwIfAborted();
        head?.add(bytes);
        await incoming.write(bytes);
        uncheckedBytes += bytes.length;
        if (uncheckedBytes > UNRESERVED_BYTES_MAX) {
          reserveSpace(0)();
          uncheckedBytes = 0;
        }
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

/**
 * The limit of one file. A server can send more than it has said, without end. Not the quota that is left: a file that
 * the account has already needs none.
 */
function sizeLimit(limits: StorageLimits): { readonly limitBytes: number; readonly tooLarge: () => AppError } {
  const [max, quota] = [limits.maxFileSizeBytes ?? Infinity, limits.quotaBytes ?? Infinity];
  return {
    limitBytes: Math.min(max, quota, Number.MAX_SAFE_INTEGER),
    tooLarge: () => (max <= quota ? fileTooLarge(limits, max) : quotaExceeded(limits)),
  };
}

const ABOUT_ONE_FILE: ReadonlySet<Reason> = new Set<Reason>([
  "file_too_large",
  // Larger than the quota.
  "quota_exceeded",
  "invalid_request",
  "content_damaged",
  "content_missing",
]);

/** Whether an error concerns only one file, so that the others can be imported. */
export function isAboutOneFile(error: unknown): error is AppError {
  return error instanceof AppError && ABOUT_ONE_FILE.has(error.reason);
}
