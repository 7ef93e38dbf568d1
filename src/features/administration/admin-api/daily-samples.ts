/** The daily figures of the server. A job takes a sample several times a day, and the last one of a day is stored. */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { periodOf } from "../../accounts/plans/transfers.ts";
import type { Statistics } from "./statistics.ts";
import type { DailySample } from "./types.ts";

/** Dependencies of {@link DailySamples}. */
interface DailySamplesOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly statistics: Pick<Statistics, "count">;
  readonly disk: { readonly freeBytes: () => number; readonly totalBytes: () => number };
}

const DAY_MS = 86_400_000;

/** Columns of `daily_samples` by the field of {@link DailySample} that they store. */
const COLUMNS: Readonly<Record<keyof DailySample, string>> = {
  day: "day",
  sampledAtMs: "sampled_at",
  users: "users",
  activeUsers: "active_users",
  files: "files",
  folders: "folders",
  usedBytes: "used_bytes",
  versionsBytes: "versions_bytes",
  trashBytes: "trash_bytes",
  contents: "contents",
  storedBytes: "stored_bytes",
  diskFreeBytes: "disk_free_bytes",
  diskTotalBytes: "disk_total_bytes",
  uploads: "uploads",
  uploadedBytes: "uploaded_bytes",
  downloads: "downloads",
  downloadedBytes: "downloaded_bytes",
};

/** The transfers of a day; null if the day before was not sampled. */
export interface DailyTransfers {
  readonly uploads: number | null;
  readonly uploadedBytes: number | null;
  readonly downloads: number | null;
  readonly downloadedBytes: number | null;
}

export class DailySamples {
  readonly #options: DailySamplesOptions;
  readonly #keep;
  readonly #since;
  readonly #firstAccount;

  constructor(options: DailySamplesOptions) {
    this.#options = options;
    const { sqlite } = options;
    const names = Object.keys(COLUMNS);
    this.#keep = sqlite.prepare<void, number[]>(
      `INSERT OR REPLACE INTO daily_samples (${Object.values(COLUMNS).join(", ")})
       VALUES (${names.map(() => "?").join(", ")})`,
    );
    const selected = Object.entries(COLUMNS).map(([name, column]) => `${column} AS ${name}`);
    this.#firstAccount = sqlite.prepare<{ createdAtMs: number }, []>(
      "SELECT created_at AS createdAtMs FROM users ORDER BY id LIMIT 1",
    );
    this.#since = sqlite.prepare<DailySample, [number]>(
      `SELECT ${selected.join(", ")} FROM daily_samples WHERE day >= ?1 ORDER BY day`,
    );
  }

  /** The day on which the first account was created; undefined without accounts. */
  #firstDay(): number | undefined {
    const first = this.#firstAccount.get();
    return first === null ? undefined : Math.floor(first.createdAtMs / DAY_MS);
  }

  /** Takes today's sample and replaces an earlier one of today; durable when this returns. */
  async take(): Promise<DailySample> {
    const sample = await this.#now();
    // Samples of an idle server are not a reason for another copy of its database.
    await this.#options.writer.run(() => void this.#keep.run(...valuesOf(sample)), { isQuiet: true });
    return sample;
  }

  /** Each sampled day of the last `days`, including today so far, oldest first. */
  async history(days: number): Promise<readonly (DailySample & { readonly transfers: DailyTransfers })[]> {
    const today = await this.#now();
    const first = today.day - days + 1;
    // One more day, to calculate the transfers of the first.
    const known = this.#since.all(first - 1).filter(({ day }) => day < today.day);
    const firstDay = this.#firstDay();
    return [...known, today].flatMap((sample, index, all) => {
      const before = all[index - 1];
      // On its first day, all transfers of a server are of that day.
      const transfers = sample.day === firstDay ? transfersIn(sample) : transfersOf(sample, before);
      return sample.day < first ? [] : [{ ...sample, transfers }];
    });
  }

  async #now(): Promise<DailySample> {
    const { statistics, clock, disk } = this.#options;
    const { users, storage, transfers } = await statistics.count();
    const nowMs = clock.nowMs();
    return {
      day: Math.floor(nowMs / DAY_MS),
      sampledAtMs: nowMs,
      users: users.total,
      activeUsers: users.active,
      files: storage.files,
      folders: storage.folders,
      usedBytes: storage.usedBytes,
      versionsBytes: storage.versionsBytes,
      trashBytes: storage.trashBytes,
      contents: storage.blobs,
      storedBytes: storage.blobBytes,
      diskFreeBytes: disk.freeBytes(),
      diskTotalBytes: disk.totalBytes(),
      uploads: transfers.uploads,
      uploadedBytes: transfers.uploadedBytes,
      downloads: transfers.downloads,
      downloadedBytes: transfers.downloadedBytes,
    };
  }
}

const UNKNOWN_TRANSFERS: DailyTransfers = {
  uploads: null,
  uploadedBytes: null,
  downloads: null,
  downloadedBytes: null,
};

function transfersIn({ uploads, uploadedBytes, downloads, downloadedBytes }: DailySample): DailyTransfers {
  return { uploads, uploadedBytes, downloads, downloadedBytes };
}

/** Transfers of a day: the growth since the sample of the day before. Counts restart each month. */
function transfersOf(sample: DailySample, before: DailySample | undefined): DailyTransfers {
  if (before?.day !== sample.day - 1) return UNKNOWN_TRANSFERS;
  const isNewMonth = periodOf(before.day * DAY_MS) !== periodOf(sample.day * DAY_MS);
  // The counts of a deleted account are deleted with it.
  const since = (name: keyof DailyTransfers) => Math.max(0, sample[name] - (isNewMonth ? 0 : before[name]));
  return {
    uploads: since("uploads"),
    uploadedBytes: since("uploadedBytes"),
    downloads: since("downloads"),
    downloadedBytes: since("downloadedBytes"),
  };
}

/** In the order of {@link COLUMNS}. */
function valuesOf(sample: DailySample): number[] {
  const values: Readonly<Record<string, number>> = { ...sample };
  return Object.keys(COLUMNS).map((name) => values[name] ?? 0);
}
