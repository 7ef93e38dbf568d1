// Saves the engine's uploads across page loads, by account and tab.
import { SAVED_BYTES_MAX, SAVED_FILE_BYTES_MAX, type SavedUpload, type UploadDatabase } from "./upload-db.ts";
import { UploadSources } from "./sources.ts";
import type { TabOwnership } from "./tabs.ts";
import type { Upload } from "./types.ts";

/** Saves uploads after their changes, and restores those of an earlier page or a closed tab. */
export class UploadPersistence {
  readonly sources: UploadSources;
  private readonly database: UploadDatabase;
  private readonly tab: Promise<TabOwnership>;
  private readonly sequences = new Map<string, number>();
  private userId: string | undefined;
  private sequence = Date.now();
  /** Sizes of the files whose bytes this page has saved. */
  private readonly savedBytes = new Map<string, number>();
  private savingFiles = Promise.resolve();
  private writing = Promise.resolve();

  constructor(database: UploadDatabase, tab: Promise<TabOwnership>) {
    this.database = database;
    this.tab = tab;
    this.sources = new UploadSources(database);
  }

  /** Restores this tab's uploads, and later those of other tabs of the account when they are closed. */
  async start(userId: string, adopt: (saved: readonly SavedUpload[]) => Promise<void>): Promise<void> {
    this.userId = userId;
    const tab = await this.tab;
    const adoptFrom = async (id: string): Promise<void> => {
      if (this.userId !== userId) return;
      const saved = await this.database.all();
      await adopt(saved.filter((one) => one.userId === userId && one.tab === id));
      // The next tab that waits for the same lock must see that these uploads are taken.
      await this.writing;
    };
    const watchedTabs = new Set([tab.id]);
    const watchTab = (other: string): void => {
      if (watchedTabs.has(other)) return;
      watchedTabs.add(other);
      // A reloaded tab returns with the same name, so its next end is watched too.
      void tab.whenClosed(other, () => adoptFrom(other)).finally(() => watchedTabs.delete(other));
    };
    for (const { tab: other } of await this.database.all()) watchTab(other);
    await adoptFrom(tab.id);
    tab.onOtherTab(watchTab);
  }

  /** Saves nothing from now on. */
  end(): void {
    this.userId = undefined;
  }

  /** Saves uploads as they are now. Does not wait. */
  save(uploads: readonly Upload[]): void {
    const { userId } = this;
    if (userId === undefined) return;
    this.write(async () => {
      const tab = await this.tab;
      const saved = uploads.map((upload) => ({
        upload,
        userId,
        tab: tab.id,
        sequence: this.sequenceOf(upload.id),
        handle: this.sources.findHandle(upload.id),
      }));
      await this.database.put(saved);
    });
  }

  /** Deletes finished uploads and their bytes. Does not wait. */
  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.sources.forget(id);
      this.sequences.delete(id);
      this.savedBytes.delete(id);
    }
    this.write(() => this.database.remove(ids));
  }

  /** Saves the bytes of small files that could not be read again, one after the other, after everything else. */
  saveFiles(uploads: readonly Upload[], isOpen: (id: string) => boolean): void {
    this.savingFiles = this.savingFiles.then(async () => {
      for (const { id, size } of uploads) {
        const file = this.sources.findFile(id);
        if (file === undefined || this.sources.findHandle(id) !== undefined || !isOpen(id)) continue;
        if (size > SAVED_FILE_BYTES_MAX || size > this.bytesFree()) continue;
        this.savedBytes.set(id, size);
        await this.database.putBytes(id, file);
        if (!isOpen(id)) await this.database.remove([id]);
      }
    });
  }

  private bytesFree(): number {
    return [...this.savedBytes.values()].reduce((left, size) => left - size, SAVED_BYTES_MAX);
  }

  /** One write after the other, so that later states are written later. */
  private write(work: () => Promise<void>): void {
    this.writing = this.writing.then(work);
  }

  private sequenceOf(id: string): number {
    const known = this.sequences.get(id);
    if (known !== undefined) return known;
    this.sequence += 1;
    this.sequences.set(id, this.sequence);
    return this.sequence;
  }
}
