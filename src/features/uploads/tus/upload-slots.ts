/** Limits how many tus uploads may be in progress, and picks one to evict when there are too many. */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import { UPLOADS_OF_DROP_BOX } from "../../sharing/shares/types.ts";
import { SESSION_MS, type UploadStore } from "../chunked/store.ts";
import type { ActiveTusUploads } from "./active.ts";
import type { PartConcatenator } from "./concatenate-parts.ts";
import { sendingKey, senderKey, type TusRows } from "./queries.ts";
import type { TusSender, TusUpload } from "./types.ts";

const OF_ACCOUNT_MAX = 10_000;

/** An upload whose first bytes have not arrived after this time can be evicted. */
const ANNOUNCED_MS_MIN = 60 * 1000;
/**
 * A guest's upload with bytes can be evicted after this time without more; a lost connection has recovered by then.
 */
const IDLE_MS_MIN = 5 * 60 * 1000;

/** Dependencies of {@link UploadSlots}. */
interface UploadSlotsOptions {
  readonly store: Pick<UploadStore, "clock">;
  readonly rows: Pick<TusRows, "countOpenOf" | "listOpenOf">;
  readonly active: Pick<ActiveTusUploads, "find">;
  readonly partConcatenator: Pick<PartConcatenator, "isJoining">;
  /** Ends an upload, in the caller's transaction. */
  readonly end: (tx: Transaction, tus: TusUpload) => void;
}

export class UploadSlots {
  readonly #options: UploadSlotsOptions;

  constructor(options: UploadSlotsOptions) {
    this.#options = options;
  }

  /**
   * Makes room for one more upload, in the transaction that begins it, so that two requests can't take the same slot.
   * It evicts an upload without bytes first, so that announcements alone can't fill a drop box. Otherwise, for guests
   * only, it evicts the upload that has been idle longest.
   * @throws AppError overloaded if none can be evicted
   */
  take(tx: Transaction, sender: TusSender): void {
    const isGuest = sender.shareId !== undefined;
    // The uploads of the address first: a slot that is freed there counts for both limits.
    if (sender.uploadsMax !== undefined) this.#freeSlot(tx, sendingKey(sender), sender.uploadsMax, IDLE_MS_MIN);
    this.#freeSlot(
      tx,
      senderKey(sender),
      isGuest ? UPLOADS_OF_DROP_BOX : OF_ACCOUNT_MAX,
      isGuest ? IDLE_MS_MIN : Number.POSITIVE_INFINITY,
    );
  }

  #freeSlot(tx: Transaction, key: string, max: number, idleMsMin: number): void {
    const { store, rows, active, partConcatenator, end } = this.#options;
    const count = rows.countOpenOf(key);
    if (count < max) return;
    const nowMs = store.clock.nowMs();
    const idle = rows.listOpenOf(key, count).filter(({ kind, upload }) => {
      return kind !== "final" && active.find(upload.id) === undefined && !partConcatenator.isJoining(upload.publicId);
    });
    const evicted = pickEvictable(idle, nowMs, idleMsMin);
    if (evicted === undefined) {
      throw new AppError(
        "overloaded",
        say`Too many uploads in progress. Finish or cancel some before starting new ones.`,
      );
    }
    end(tx, evicted);
  }
}

/**
 * Picks the upload to evict: the oldest without bytes, otherwise the one with bytes that has been idle longest, for at
 * least `idleMsMin`.
 * @param idle uploads that no request uses now
 */
export function pickEvictable(idle: readonly TusUpload[], nowMs: number, idleMsMin: number): TusUpload | undefined {
  const byIdleness = idle.toSorted((a, b) => lastBytesMs(a) - lastBytesMs(b));
  const announced = byIdleness.find(({ offsetBytes }) => offsetBytes === 0);
  if (announced !== undefined && nowMs - lastBytesMs(announced) >= ANNOUNCED_MS_MIN) return announced;
  return byIdleness.find((one) => one.offsetBytes > 0 && nowMs - lastBytesMs(one) >= idleMsMin);
}

/** When an upload last got bytes, or was begun: its time is counted from then. */
function lastBytesMs({ upload }: TusUpload): number {
  return upload.expiresAtMs - SESSION_MS;
}
