// Records what the server acknowledged, and what was deleted on purpose. In the end, the server is compared with it.

/** File content that a phone or the browser created. */
interface PromisedContent {
  /** Who created it, in a few words. */
  origin: string;
  /** The ids of files for which the server acknowledged it. */
  fileIds: Set<string>;
  /** Why it need not exist in the end, if that is so. */
  abandoned?: string;
}

/** Records what all phones and the browser created, what was acknowledged, and what was deleted on purpose. */
export class Ledger {
  readonly contents = new Map<string, PromisedContent>();
  /** Checksums of contents that two files may have on purpose. */
  readonly intendedDuplicates = new Set<string>();
  /** Files that were to be deleted, with who requested it, whether or not it succeeded. */
  readonly deletedFiles = new Map<string, string>();
  /** Times (ms) during which folders were deleted with all that was in them. */
  readonly folderDeletions: { fromMs: number; toMs: number }[] = [];
  /** Acknowledged chunks by upload: none of them may be missing later. */
  readonly acknowledgedChunks = new Map<string, Set<number>>();
  /** A log for failed runs. */
  readonly lines: string[] = [];

  /** Records new content. */
  created(checksum: string, origin: string): void {
    if (!this.contents.has(checksum)) this.contents.set(checksum, { origin, fileIds: new Set() });
  }

  /** Records that the server acknowledged this content for this file. */
  stored(checksum: string, fileId: string): void {
    const content = this.contents.get(checksum) ?? { origin: "unknown", fileIds: new Set() };
    content.fileIds.add(fileId);
    this.contents.set(checksum, content);
  }

  /** Records that content was discarded before the server acknowledged it. Acknowledged content must still exist. */
  abandoned(checksum: string, why: string): void {
    const content = this.contents.get(checksum);
    if (content !== undefined) content.abandoned = why;
  }

  /** Records that discarded content is used again. */
  reclaim(checksum: string): void {
    const content = this.contents.get(checksum);
    if (content !== undefined) delete content.abandoned;
  }

  /** Records a deletion. Call it before the request, because the response may be lost. */
  willDelete(fileId: string, who: string): void {
    this.deletedFiles.set(fileId, who);
    this.note(`${who} deletes ${fileId}`);
  }

  acknowledgeChunk(uploadId: string, index: number): void {
    const chunks = this.acknowledgedChunks.get(uploadId) ?? new Set();
    this.acknowledgedChunks.set(uploadId, chunks.add(index));
  }

  note(line: string): void {
    this.lines.push(`${Date.now()} ${line}`);
  }

  /** Whether content must exist in the end. */
  mustExist(content: PromisedContent, wasDeletedWithFolder: (fileId: string) => boolean): boolean {
    if (content.fileIds.size === 0) return content.abandoned === undefined;
    return ![...content.fileIds].every((id) => this.deletedFiles.has(id) || wasDeletedWithFolder(id));
  }
}
