// What the engine remembers beyond the page, for which account and tab.
import { KEPT_BYTES_MAX, KEPT_FILE_BYTES_MAX, type KeptUpload, type UploadKeeper } from "./keeper.ts";
import { UploadSources } from "./sources.ts";
import type { TabOwnership } from "./tabs.ts";
import type { Upload } from "./types.ts";

/** Writes uploads behind their changes, and brings back those of an earlier page or of a tab that is gone. */
export class UploadMemory {
  readonly sources: UploadSources;
  private readonly keeper: UploadKeeper;
  private readonly tab: Promise<TabOwnership>;
  private readonly sequences = new Map<string, number>();
  private userId: string | undefined;
  private sequence = Date.now();
  /** Sizes of the files whose bytes are kept by this page. */
  private readonly keptBytes = new Map<string, number>();
  private keeping = Promise.resolve();
  private writing = Promise.resolve();

  constructor(keeper: UploadKeeper, tab: Promise<TabOwnership>) {
    this.keeper = keeper;
    this.tab = tab;
    this.sources = new UploadSources(keeper);
  }

  /** Hands over what this tab had, and from then on what other tabs of the account leave behind when they go. */
  async begin(userId: string, adopt: (kept: readonly KeptUpload[]) => Promise<void>): Promise<void> {
    this.userId = userId;
    const tab = await this.tab;
    const adoptFrom = async (id: string): Promise<void> => {
      if (this.userId !== userId) return;
      const kept = await this.keeper.all();
      await adopt(kept.filter((one) => one.userId === userId && one.tab === id));
      // The next tab that waits for the same end must find them taken.
      await this.writing;
    };
    const awaited = new Set([tab.id]);
    const awaitEnd = (other: string): void => {
      if (awaited.has(other)) return;
      awaited.add(other);
      // A tab that was reloaded comes back under its name: its next end is waited for, too.
      void tab.whenGone(other, () => adoptFrom(other)).finally(() => awaited.delete(other));
    };
    for (const { tab: other } of await this.keeper.all()) awaitEnd(other);
    await adoptFrom(tab.id);
    tab.onArrival(awaitEnd);
  }

  /** Writes for nobody from now on. */
  end(): void {
    this.userId = undefined;
  }

  /** Notes uploads as they are now. Doesn't wait. */
  keep(uploads: readonly Upload[]): void {
    const { userId } = this;
    if (userId === undefined) return;
    this.write(async () => {
      const tab = await this.tab;
      const kept = uploads.map((upload) => ({
        upload,
        userId,
        tab: tab.id,
        sequence: this.sequenceOf(upload.id),
        handle: this.sources.findHandle(upload.id),
      }));
      await this.keeper.put(kept);
    });
  }

  /** Forgets uploads that ended, and their bytes. Doesn't wait. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.sources.forget(id);
      this.sequences.delete(id);
      this.keptBytes.delete(id);
    }
    this.write(() => this.keeper.remove(ids));
  }

  /** Keeps the bytes of small files that can't be read again otherwise, one after the other and behind everything else. */
  keepFiles(uploads: readonly Upload[], isOpen: (id: string) => boolean): void {
    this.keeping = this.keeping.then(async () => {
      for (const { id, size } of uploads) {
        const file = this.sources.findFile(id);
        if (file === undefined || this.sources.findHandle(id) !== undefined || !isOpen(id)) continue;
        if (size > KEPT_FILE_BYTES_MAX || size > this.roomLeft()) continue;
        this.keptBytes.set(id, size);
        await this.keeper.putBytes(id, file);
        if (!isOpen(id)) await this.keeper.remove([id]);
      }
    });
  }

  private roomLeft(): number {
    return [...this.keptBytes.values()].reduce((left, size) => left - size, KEPT_BYTES_MAX);
  }

  /** One write after the other: what was noted later must also be written later. */
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
