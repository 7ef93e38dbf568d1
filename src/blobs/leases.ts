import type { BlobLease, BlobRef } from "./blob-store.ts";
import type { Digest } from "./digest.ts";
import { translateDiskError } from "./disk.ts";

/** How a blob was made durable. */
export interface WrittenBlob {
  /** Whether its bytes were just written. */
  readonly isNew: boolean;
  /** Whether it was just sent to the remote store. */
  readonly isSent: boolean;
}

interface LeasedBlob {
  leases: number;
  isNamed: boolean;
  result: WrittenBlob;
  /** Resolves once the bytes are durable. */
  readonly written: Promise<WrittenBlob>;
}

/** How the last lease on a blob ended. */
export interface EndedLease extends WrittenBlob {
  /** Whether a committed row names the blob. */
  readonly isNamed: boolean;
}

/** The leases that uploads have on blobs. Concurrent uploads of equal bytes share one write. */
export class BlobLeases {
  readonly #leased = new Map<Digest, LeasedBlob>();
  readonly #onEnd: (digest: Digest, end: EndedLease) => void;

  /** @param onEnd called when the last lease on a blob has ended */
  constructor(onEnd: (digest: Digest, end: EndedLease) => void) {
    this.#onEnd = onEnd;
  }

  /** Whether any upload has a lease on the blob. */
  has(digest: Digest): boolean {
    return this.#leased.has(digest);
  }

  /**
   * Takes a lease on a blob, which is durable then. `write` is called unless another upload is writing the same blob.
   * @param write makes the blob durable
   */
  async take(blob: BlobRef, write: () => Promise<WrittenBlob>): Promise<BlobLease> {
    const { digest } = blob;
    let isReleased = false;
    const release = (isNamed: boolean) => {
      if (!isReleased) this.#release(digest, isNamed);
      isReleased = true;
    };
    let leased = this.#leased.get(digest);
    if (leased === undefined) {
      leased = { leases: 0, isNamed: false, result: { isNew: false, isSent: false }, written: write() };
      this.#leased.set(digest, leased);
    }
    leased.leases++;
    try {
      leased.result = await leased.written;
      return { ...blob, isNew: leased.result.isNew, release };
    } catch (error) {
      release(false);
      throw translateDiskError(error);
    }
  }

  #release(digest: Digest, isNamed: boolean): void {
    const leased = this.#leased.get(digest);
    if (leased === undefined) return;
    leased.isNamed ||= isNamed;
    if (--leased.leases > 0) return;
    this.#leased.delete(digest);
    this.#onEnd(digest, { isNamed: leased.isNamed, ...leased.result });
  }
}
