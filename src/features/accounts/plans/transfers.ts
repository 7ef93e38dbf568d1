import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";

/** The transfers of an account in one calendar month. */
export interface Transfers {
  /** `YYYY-MM`, in UTC. */
  readonly period: string;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly downloads: number;
  readonly downloadedBytes: number;
}

/** Dependencies of {@link TransferCounters}. */
interface TransferCountersOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
}

type Counts = { -readonly [Key in Exclude<keyof Transfers, "period">]: number };

interface PendingCounts extends Counts {
  readonly accountId: number;
  readonly period: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The latest day that was asked for, counted from 1970, and its month. */
let lastDay = Number.NaN;
let lastPeriod = "";

/** The month of an instant, `YYYY-MM` in UTC. */
export function periodOf(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  // Each download asks, and writing the date would cost more than the count.
  if (day !== lastDay) {
    lastPeriod = new Date(ms).toISOString().slice(0, 7);
    lastDay = day;
  }
  return lastPeriod;
}

/**
 * Uploads and downloads by account and month, with deferred writes. Reading them here is exact at any time; the
 * database follows within a second. Memory holds only accounts active within that second.
 */
export class TransferCounters {
  /** Totals of all accounts since the start. */
  readonly sinceStart: Counts = { uploads: 0, uploadedBytes: 0, downloads: 0, downloadedBytes: 0 };
  readonly #options: TransferCountersOptions;
  readonly #writeBehind: WriteBehind<Map<string, PendingCounts>>;
  readonly #select;
  #pending = new Map<string, PendingCounts>();

  constructor(options: TransferCountersOptions) {
    this.#options = options;
    const { sqlite } = options.db;
    this.#select = sqlite.prepare<Counts, [number, string]>(
      `SELECT uploads, uploaded_bytes AS uploadedBytes, downloads, downloaded_bytes AS downloadedBytes
       FROM transfers WHERE account_id = ?1 AND period = ?2`,
    );
    // An account that was deleted since then gets no row.
    const add = sqlite.prepare(
      `INSERT INTO transfers (account_id, period, uploads, uploaded_bytes, downloads, downloaded_bytes)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM accounts WHERE id = ?1)
       ON CONFLICT DO UPDATE SET uploads = uploads + excluded.uploads,
         uploaded_bytes = uploaded_bytes + excluded.uploaded_bytes, downloads = downloads + excluded.downloads,
         downloaded_bytes = downloaded_bytes + excluded.downloaded_bytes`,
    );
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "transfer counts",
      take: () => {
        const taken = this.#pending;
        this.#pending = new Map();
        return taken;
      },
      isWaiting: () => this.#pending.size > 0,
      write: (taken) => {
        for (const { accountId, period, uploads, uploadedBytes, downloads, downloadedBytes } of taken.values()) {
          add.run(accountId, period, uploads, uploadedBytes, downloads, downloadedBytes);
        }
      },
      giveBack: (taken) => {
        for (const { accountId, period, ...counts } of taken.values()) this.#add(accountId, period, counts);
      },
    });
  }

  /** Counts an upload that was acknowledged. */
  noteUpload(accountId: number, bytes: number): void {
    this.#note(accountId, { uploads: 1, uploadedBytes: bytes, downloads: 0, downloadedBytes: 0 });
  }

  /** Counts a download, or with `downloads` 0 further bytes of a counted one. */
  noteDownload(accountId: number, bytes: number, downloads: 0 | 1 = 1): void {
    this.#note(accountId, { uploads: 0, uploadedBytes: 0, downloads, downloadedBytes: bytes });
  }

  /** The current month of an account, including unwritten counts. */
  read(accountId: number): Transfers {
    const period = periodOf(this.#options.clock.nowMs());
    const stored = this.#select.get(accountId, period);
    const pending = this.#pending.get(keyOf(accountId, period));
    return {
      period,
      uploads: (stored?.uploads ?? 0) + (pending?.uploads ?? 0),
      uploadedBytes: (stored?.uploadedBytes ?? 0) + (pending?.uploadedBytes ?? 0),
      downloads: (stored?.downloads ?? 0) + (pending?.downloads ?? 0),
      downloadedBytes: (stored?.downloadedBytes ?? 0) + (pending?.downloadedBytes ?? 0),
    };
  }

  /** Drops the unwritten counts of an account that is being deleted, because its row id may be reused. */
  forget(accountId: number): void {
    for (const [key, counts] of this.#pending) if (counts.accountId === accountId) this.#pending.delete(key);
  }

  /** Writes the counts that are not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  #note(accountId: number, counts: Counts): void {
    addTo(this.sinceStart, counts);
    this.#add(accountId, periodOf(this.#options.clock.nowMs()), counts);
    this.#writeBehind.note();
  }

  #add(accountId: number, period: string, counts: Counts): void {
    const key = keyOf(accountId, period);
    const waiting = this.#pending.get(key);
    if (waiting === undefined) {
      this.#pending.set(key, { accountId, period, ...counts });
      return;
    }
    addTo(waiting, counts);
  }
}

function addTo(total: Counts, counts: Counts): void {
  total.uploads += counts.uploads;
  total.uploadedBytes += counts.uploadedBytes;
  total.downloads += counts.downloads;
  total.downloadedBytes += counts.downloadedBytes;
}

function keyOf(accountId: number, period: string): string {
  return `${period} ${accountId}`;
}
