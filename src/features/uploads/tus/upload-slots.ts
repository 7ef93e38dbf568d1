/** How many uploads may be in progress, and which gives way for another where there are that many. */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { UPLOADS_OF_DROP_BOX } from "../../sharing/shares/types.ts";
import { SESSION_MS, type UploadStore } from "../chunked/store.ts";
import type { ActiveTusUploads } from "./active.ts";
import type { PartConcatenator } from "./concatenate-parts.ts";
import { sendingKey, senderKey, type TusRows } from "./queries.ts";
import type { TusSender, TusUpload } from "./types.ts";

const OF_ACCOUNT_MAX = 10_000;

/** An upload gives way only so long after it was announced: by then its first bytes are on their way. */
const ANNOUNCED_MS_MIN = 60 * 1000;
/** A guest's upload with bytes gives way only after so long without more: a lost connection is back by then. */
const IDLE_MS_MIN = 5 * 60 * 1000;

/** Dependencies of {@link UploadSlots}. */
export interface UploadSlotsOptions {
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
   * Sees to it that there is a place for one more upload, in the transaction that begins it: two at once can't take the
   * same one. One that was only announced gives way, so that nobody can fill a drop box with announcements; among
   * guests, where there is none, the one that has been without bytes longest.
   * @throws AppError overloaded where none may give way
   */
  take(tx: Transaction, sender: TusSender): void {
    const isGuest = sender.shareId !== undefined;
    // First those of the address: one that gives way among them is a place for all.
    if (sender.uploadsMax !== undefined) this.#makeRoom(tx, sendingKey(sender), sender.uploadsMax, IDLE_MS_MIN);
    this.#makeRoom(
      tx,
      senderKey(sender),
      isGuest ? UPLOADS_OF_DROP_BOX : OF_ACCOUNT_MAX,
      isGuest ? IDLE_MS_MIN : Number.POSITIVE_INFINITY,
    );
  }

  #makeRoom(tx: Transaction, key: string, max: number, idleMsMin: number): void {
    const { store, rows, active, partConcatenator, end } = this.#options;
    const count = rows.countOpenOf(key);
    if (count < max) return;
    const nowMs = store.clock.nowMs();
    const idle = rows.listOpenOf(key, count).filter(({ kind, upload }) => {
      return kind !== "final" && active.find(upload.id) === undefined && !partConcatenator.isJoining(upload.publicId);
    });
    const one = pickEvictable(idle, nowMs, idleMsMin);
    if (one === undefined) {
      throw new AppError("overloaded", "Too many uploads in progress. Finish or cancel some before starting new ones.");
    }
    end(tx, one);
  }
}

/**
 * The first of these uploads to give way: of those that were only announced, else of those with bytes, the one that has
 * been without longest, and for long enough.
 * @param idle uploads that nobody works on just now
 * @param idleMsMin how long is long enough for one with bytes
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
