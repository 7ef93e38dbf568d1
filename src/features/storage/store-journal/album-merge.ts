/**
 * Merges recorded albums. Those created after the restored state are created. One that was not changed since the restore
 * gets its recorded state; one that was changed gets the files that it lacks. Deleted albums are deleted only in a copy
 * that was just opened.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AlbumRows } from "./album-rows.ts";
import type { AlbumRecord } from "./album-records.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link AlbumMerge}. */
interface AlbumMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly staged: StagedRecords;
  readonly accountId: number;
  /** Albums changed after this time were changed since the restore. */
  readonly unchangedSinceMs: number;
  readonly isDryRun: boolean;
  /** For a copy that was just opened; `isFull` if the records are the whole account. */
  readonly later?: { readonly isFull: boolean } | undefined;
}

/** Merges the albums of one account. */
export class AlbumMerge {
  readonly #options: AlbumMergeOptions;
  readonly #rows: AlbumRows;
  readonly #batches: ChangeBatches;
  #merged = 0;

  constructor(options: AlbumMergeOptions) {
    this.#options = options;
    this.#rows = new AlbumRows(options.sqlite);
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
  }

  /** Merges the records. Call when all files exist. @returns how many albums were created or changed */
  async apply(): Promise<number> {
    for (const record of this.#options.staged.albums()) {
      this.#merge(record);
      // Each can have ten thousand files.
      await this.#batches.run();
    }
    if (this.#options.later !== undefined) await this.#deleteGone(this.#options.later.isFull);
    return this.#merged;
  }

  #merge(record: AlbumRecord): void {
    const { accountId, unchangedSinceMs } = this.#options;
    const existing = this.#rows.find(record.gone, accountId);
    if (existing === undefined) {
      this.#merged++;
      this.#batches.add(() => void this.#rows.insert(accountId, record));
    } else if (existing.modifiedAt > unchangedSinceMs) {
      this.#batches.add(() => this.#rows.addMissing(accountId, existing.id, record));
    } else if (record.album.modified > existing.modifiedAt) {
      this.#merged++;
      this.#batches.add(() => this.#rows.replace(accountId, existing.id, record));
    }
  }

  async #deleteGone(isFull: boolean): Promise<void> {
    const { sqlite, staged, accountId } = this.#options;
    const ids = sqlite
      .query<{ id: number; publicId: string }, [number]>(
        "SELECT id, public_id AS publicId FROM albums WHERE account_id = ?1",
      )
      .all(accountId);
    const gone = new Set(staged.gone());
    const recorded = new Set([...staged.albums()].map((record) => record.gone));
    const deleted = ids.filter(({ publicId }) => gone.has(publicId) || (isFull && !recorded.has(publicId)));
    await this.#batches.each(deleted, (_tx, { id }) => this.#rows.delete(id));
  }
}
