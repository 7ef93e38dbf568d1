/** Emits an event when the stored bytes of an account cross a mark of its quota, once per crossing. */
import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf } from "../../../events/catalogue.ts";
import type { Events } from "../../../events/events.ts";

/** Percentages of the quota that cause an event when crossed, highest first. */
const STORAGE_MARKS = [100, 95, 80] as const;

/** Dependencies of {@link StorageMarks}. */
interface StorageMarksOptions {
  readonly events: Events;
  /** Bytes that an account may store; null for no limit. */
  readonly quotaOf: (accountId: number) => number | null;
}

/** Emits `storage.warning`. */
export class StorageMarks {
  readonly #options: StorageMarksOptions;
  /** State of the current transaction: one import can add a thousand files. */
  #inTransaction:
    | { readonly tx: Transaction; readonly accountId: number; readonly quotaBytes: number | null }
    | undefined;

  constructor(options: StorageMarksOptions) {
    this.#options = options;
  }

  /**
   * Finds the highest mark that this growth crossed, inside the transaction. A mark can be crossed again after less was
   * stored.
   */
  storageGrown(tx: Transaction, { accountId, usedBeforeBytes, usedAfterBytes }: EventOf<"storage.grown">): void {
    const { events } = this.#options;
    const quotaBytes = this.#quotaIn(tx, accountId);
    if (quotaBytes === null) return;
    const percentage = STORAGE_MARKS.find((percent) => {
      const markBytes = (quotaBytes * percent) / 100;
      return usedBeforeBytes < markBytes && usedAfterBytes >= markBytes;
    });
    if (percentage === undefined) return;
    events.emit(tx, "storage.warning", { accountId, percentage, usedBytes: usedAfterBytes, quotaBytes });
  }

  #quotaIn(tx: Transaction, accountId: number): number | null {
    if (this.#inTransaction?.tx !== tx || this.#inTransaction.accountId !== accountId) {
      this.#inTransaction = { tx, accountId, quotaBytes: this.#options.quotaOf(accountId) };
    }
    return this.#inTransaction.quotaBytes;
  }
}
