/**
 * Counts views and downloads of shares. The counts are written in the background, so that no download waits, and a
 * crash may lose the last second. Shares with a maximum are the exception: each download is taken in its own
 * transaction before its first byte, even under concurrent requests.
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { FileSummary } from "../../../events/catalogue.ts";
import type { Events } from "../../../events/events.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import type { ShareRows } from "./queries.ts";
import type { Share } from "./types.ts";

/** Dependencies of {@link ShareStatistics}. */
interface ShareStatisticsOptions {
  readonly rows: ShareRows;
  readonly writer: Writer;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
}

/** The current counts of a share. */
export interface ShareCounts {
  readonly downloads: number;
  readonly views: number;
  readonly lastAccessedAtMs: number | null;
}

interface PendingCounts {
  views: number;
  downloads: number;
  lastAtMs: number;
  /** One entry per download, unless there are too many. */
  readonly files: FileSummary[];
}

/** Most shares with unwritten counts. Counts of further ones are dropped, so that memory is bounded. */
const PENDING_MAX = 20_000;
/** Downloads of one share within a second that emit an event each. */
const REPORTED_MAX = 100;

export class ShareStatistics {
  readonly #options: ShareStatisticsOptions;
  readonly #writeBehind: WriteBehind<Map<string, PendingCounts>>;
  /** By public id, because row ids are reused after a share ends. */
  #pending = new Map<string, PendingCounts>();

  constructor(options: ShareStatisticsOptions) {
    this.#options = options;
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "share counts",
      take: () => {
        const taken = this.#pending;
        this.#pending = new Map();
        return taken;
      },
      isWaiting: () => this.#pending.size > 0,
      write: (taken, tx) => this.#write(tx, taken),
      giveBack: (taken) => {
        for (const [id, counts] of taken) this.#add(id, counts);
      },
    });
  }

  /** Counts a view of a share. */
  noteView(share: Share): void {
    this.#add(share.publicId, { views: 1, downloads: 0, lastAtMs: this.#options.clock.nowMs(), files: [] });
    this.#writeBehind.note();
  }

  /**
   * Counts a download. It reads the share again, because it may have changed since it was opened.
   * @returns a promise if the share has a maximum: a download must be taken before the first byte is sent
   * @throws AppError share_used_up | not_found
   */
  count(share: Share, file: FileSummary): Promise<void> | undefined {
    if (this.#current(share).maxDownloads !== null) return this.takeDownload(share, file);
    this.noteDownload(share, file);
    return undefined;
  }

  /** Counts a download through a share without a maximum. */
  noteDownload(share: Share, file: FileSummary): void {
    this.#add(share.publicId, { views: 0, downloads: 1, lastAtMs: this.#options.clock.nowMs(), files: [file] });
    this.#writeBehind.note();
  }

  /**
   * Takes one download of a share with a maximum. Durable when this returns.
   * @throws AppError share_used_up if none is left; not_found if the share has ended
   */
  async takeDownload(share: Share, file: FileSummary): Promise<void> {
    const { rows, writer, clock } = this.#options;
    await writer.run((tx) => {
      const current = this.#current(share);
      // Unwritten downloads from before it had a maximum count too.
      const waiting = this.#pending.get(share.publicId)?.downloads ?? 0;
      if (!rows.takeDownload(share.id, clock.nowMs(), waiting)) throw usedUp();
      this.#emit(tx, current, file, current.downloadedAtMs === null);
    });
  }

  /** The counts of a share that was just read, plus those that are not written yet. */
  countsOf(share: Share): ShareCounts {
    const waiting = this.#pending.get(share.publicId);
    const { downloads, views, lastAccessedAtMs } = share;
    if (waiting === undefined) return { downloads, views, lastAccessedAtMs };
    return {
      downloads: downloads + waiting.downloads,
      views: views + waiting.views,
      lastAccessedAtMs: Math.max(lastAccessedAtMs ?? 0, waiting.lastAtMs),
    };
  }

  /** Writes the counts that are not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  #current(share: Share): Share {
    const current = this.#options.rows.findById(share.id);
    if (current?.publicId !== share.publicId) throw new AppError("not_found", say`This link no longer exists.`);
    return current;
  }

  #write(tx: Transaction, taken: Map<string, PendingCounts>): void {
    const { rows } = this.#options;
    for (const [id, counts] of taken) {
      const share = rows.find(id);
      // The share has ended.
      if (share === undefined) continue;
      rows.addCounts(share.id, counts);
      for (const [index, file] of counts.files.entries()) {
        this.#emit(tx, share, file, index === 0 && share.downloadedAtMs === null);
      }
    }
  }

  #emit(tx: Transaction, share: Share, file: FileSummary, isFirst: boolean): void {
    this.#options.events.emit(tx, "share.downloaded", {
      accountId: share.accountId,
      file,
      isFirst,
      shareId: share.publicId,
    });
  }

  #add(id: string, counts: PendingCounts): void {
    const waiting = this.#pending.get(id);
    if (waiting === undefined) {
      if (this.#pending.size < PENDING_MAX) this.#pending.set(id, { ...counts, files: [...counts.files] });
      return;
    }
    waiting.views += counts.views;
    waiting.downloads += counts.downloads;
    waiting.lastAtMs = Math.max(waiting.lastAtMs, counts.lastAtMs);
    waiting.files.push(...counts.files.slice(0, REPORTED_MAX - waiting.files.length));
  }
}

/** The error when all allowed downloads are taken. */
export function usedUp(): AppError {
  return new AppError("share_used_up", say`This link has reached its download limit. Ask the sender for a new link.`);
}
