/** Tells when the stored bytes of an account cross a mark of its quota, once per crossing. */
import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf } from "../../../events/catalogue.ts";
import type { Events } from "../../../events/events.ts";

/** Shares of the quota that are told when they are crossed, in percent, highest first. */
const STORAGE_MARKS = [100, 95, 80] as const;

/** Dependencies of {@link StorageMarks}. */
export interface StorageMarksOptions {
  readonly events: Events;
  /** Bytes that an account may hold; null for no limit. */
  readonly quotaOf: (accountId: number) => number | null;
}

/** See the head of the file. */
export class StorageMarks {
  readonly #options: StorageMarksOptions;
  /** Known in the transaction that goes on: one may bring in a thousand files. */
  #inTransaction:
    | { readonly tx: Transaction; readonly accountId: number; readonly quotaBytes: number | null }
    | undefined;

  constructor(options: StorageMarksOptions) {
    this.#options = options;
  }

  /**
   * The highest mark that this growth crossed; a mark is crossed anew after less was stored. Inside the transaction.
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
