/**
 * Sends blobs to the bucket while their uploads wait, so that no committed row names a blob that the bucket lacks. Large
 * and small blobs have their own slots: the memory is bounded, and a large upload delays no small one.
 */
import { S3Error } from "../../../blobs/s3/error.ts";
import { AppError } from "../../../errors.ts";
import { FairQueue } from "../../../lib/fair-queue.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import type { BlobMover } from "./mover.ts";
import type { RemoteRows } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import { DamagedCopyError } from "./send-content.ts";
import type { BlobSender } from "./sender.ts";
import type { SentBlob, SizedBlob } from "./types.ts";

/** Dependencies of {@link ImmediateSender}. */
interface ImmediateSenderOptions {
  readonly sender: Pick<BlobSender, "sendLeased" | "sendUnrecorded">;
  readonly mover: Pick<BlobMover, "mustBeUsable">;
  readonly rows: Pick<RemoteRows, "find">;
  readonly remote: Pick<RemoteContents, "isDown">;
  readonly log: Log;
}

/** A small blob is in memory as a whole while it is sent; of a large one, two parts of at least 8 MiB are. */
const SMALL_BYTES_MAX = 1024 * 1024;
const SMALL_TRANSFERS = 16;
const LARGE_TRANSFERS = 4;
const WAITING_MAX = 100_000;
/** Retry-After of uploads that could not be sent. */
const RETRY_AFTER_S = 10;

/** Sends blobs before their rows are written. */
export class ImmediateSender {
  readonly #options: ImmediateSenderOptions;
  readonly #small = new FairQueue({ runningMax: SMALL_TRANSFERS, waitingMax: WAITING_MAX });
  readonly #large = new FairQueue({ runningMax: LARGE_TRANSFERS, waitingMax: WAITING_MAX });
  readonly #stop = new AbortController();

  constructor(options: ImmediateSenderOptions) {
    this.#options = options;
  }

  /**
   * Sends a leased blob of this disk. Returns undefined if the bucket is known to have it.
   * @throws AppError provider_unavailable | storage_error | overloaded
   */
  send(blob: SizedBlob): Promise<void> | undefined {
    return this.#sendUnlessThere(blob, () => this.#options.sender.sendLeased(blob, this.#stop.signal));
  }

  /** Like {@link send}, for a command, which has no leases: the caller records the object once a row names the blob. */
  sendUnrecorded(blob: SizedBlob): Promise<SentBlob> | undefined {
    return this.#sendUnlessThere(blob, () => this.#options.sender.sendUnrecorded(blob, this.#stop.signal));
  }

  /** Ends large transfers in progress. */
  close(): void {
    this.#stop.abort();
  }

  #sendUnlessThere<T>({ digest, sizeBytes }: SizedBlob, send: () => Promise<T>): Promise<T> | undefined {
    const row = this.#options.rows.find(digest);
    if (row !== undefined && row.damagedAtMs === null) return undefined;
    const slots = sizeBytes > SMALL_BYTES_MAX ? this.#large : this.#small;
    return slots.run("", () => this.#send(send), tooMany);
  }

  async #send<T>(send: () => Promise<T>): Promise<T> {
    const { mover, remote, log } = this.#options;
    // While the service is down, nobody waits for its timeout.
    if (remote.isDown) throw unavailable();
    try {
      await mover.mustBeUsable();
      return await send();
    } catch (error) {
      if (error instanceof S3Error) throw unavailable(error);
      if (!(error instanceof DamagedCopyError)) throw error;
      log.error("A new blob could not be read back when it was sent to the bucket.", { error });
      throw new AppError(
        "storage_error",
        say`The server could not store the file correctly. Try again, or ask your administrator to check the disk.`,
      );
    }
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    "provider_unavailable",
    say`The server cannot store files safely right now. Try again in a minute.`,
    { retryAfter: RETRY_AFTER_S },
    cause,
  );
}

function tooMany(): AppError {
  return new AppError("overloaded", say`Too many files are waiting to be stored. Try again in a few seconds.`);
}
